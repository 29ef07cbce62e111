#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what deploy/ has for systemd, Kubernetes and Agones is what those read, and says nothing that the programs do not know.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name"; fi
}
for file in deploy/*.sh; do ok "$file is shell" sh -n "$file"; done
ok "deploy/slurm/verify.sbatch is bash" bash -n deploy/slurm/verify.sbatch

if command -v systemd-analyze >/dev/null; then
    level=$(systemd-analyze security --offline=true --no-pager deploy/systemd/foliot-server@.service 2>/dev/null |
        sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
    ok "the unit's exposure is at most 2.5 (${level:-?})" awk -v l="${level:-10}" 'BEGIN { exit l > 2.5 }'
else
    echo "skip: no systemd-analyze here"
fi
ok "the unit is started again for as long as a disk is full" grep -q '^StartLimitIntervalSec=0$' <(sed -n '/^\[Unit\]/,/^\[Service\]/p' deploy/systemd/foliot-server@.service)
# Every option that a unit, a manifest or a container gives is one of foliot-server's.
"$build/foliot-server" --help >/tmp/help.$$ 2>&1
for option in $(grep -hE "^ExecStart|OPTIONS=|- --" deploy/systemd/* deploy/agones/*.yaml | grep -oE -- "--[a-z][a-z-]+" | sort -u); do
    ok "$option is an option of foliot-server" grep -q -- "$option" /tmp/help.$$
done
for option in $(sed -n '/^CMD/p' deploy/container/Containerfile | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
    ok "$option is an option of foliot-server" grep -q -- "$option" /tmp/help.$$
done
rm -f /tmp/help.$$
# And they go together: the server takes them as they stand, but for its key and its port.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
takes() { # ARGUMENT...: of a container
    local given=() argument
    for argument; do
        case $argument in
        --key=*) "$build/foliotctl" key "$work/key" >/dev/null && argument=--key=$work/key ;;
        --recordings=* | --resume-all=*) argument=${argument%%=*}=$work ;;
        /usr/share/foliot/* | --scenes=/usr/share/foliot/*) argument=${argument/\/usr\/share\/foliot/.} ;;
        esac
        given+=("$argument")
    done
    AGONES_SDK_HTTP_PORT=1 "$build/foliot-server" "${given[@]}" --port=0 --print-config >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
}
mapfile -t arguments < <(sed -n 's/^CMD \[\(.*\)\]$/\1/p' deploy/container/Containerfile | tr -d '" ' | tr , '\n')
ok "foliot-server takes the container's arguments (${#arguments[@]})" takes "${arguments[@]}"
mapfile -t arguments < <(sed -n '/^ *args:/,/^ *resources:/s/^ *- \(.*\)$/\1/p' deploy/agones/fleet.yaml)
ok "and the fleet's (${#arguments[@]})" takes "${arguments[@]}"

python3 -c 'import yaml' 2>/dev/null || { echo "skip: no python3-yaml to read manifests"; exit 0; }
python3 - <<'E2'
import glob, yaml

def say(name, fine):
    print(("ok - " if fine else "not ok - ") + name)

kinds = {"Job": "batch/v1", "Fleet": "agones.dev/v1", "FleetAutoscaler": "autoscaling.agones.dev/v1",
         "GameServerAllocation": "allocation.agones.dev/v1"}
for path in sorted(glob.glob("deploy/kubernetes/*.yaml") + glob.glob("deploy/agones/*.yaml")):
    for m in yaml.safe_load_all(open(path)):
        say(path + " is a " + m["kind"] + " of its API", kinds.get(m["kind"]) == m["apiVersion"])

def pod_is_safe(path, pod):
    c = pod["containers"][0]
    s = c["securityContext"]
    say(path + ": no root, no rights, a root file system that is read-only",
        pod["securityContext"]["runAsNonRoot"] and not s["allowPrivilegeEscalation"] and s["readOnlyRootFilesystem"] and
        s["capabilities"]["drop"] == ["ALL"])
    names = {v["name"] for v in pod["volumes"]}
    say(path + ": every mount has its volume", all(v["name"] in names for v in c["volumeMounts"]))

job = yaml.safe_load(open("deploy/kubernetes/verify-job.yaml"))
spec, pod = job["spec"], job["spec"]["template"]["spec"]
pod_is_safe("the job", pod)
env = {e["name"]: e["value"] for e in pod["containers"][0]["env"]}
say("as many shards as completions", spec["completionMode"] == "Indexed" and env["SHARDS"] == str(spec["completions"]))
say("exit status 1 fails its index for good, a lost node does not",
    {"action": "FailIndex", "onExitCodes": {"containerName": "verify", "operator": "In", "values": [1]}} in spec["podFailurePolicy"]["rules"] and
    spec["podFailurePolicy"]["rules"][0]["action"] == "Ignore")
say("a failure policy needs pods that are not restarted", pod["restartPolicy"] == "Never" and "backoffLimitPerIndex" in spec)
fleet = yaml.safe_load(open("deploy/agones/fleet.yaml"))
server = fleet["spec"]["template"]["spec"]
pod_is_safe("the fleet", server["template"]["spec"])
drain = [a for a in server["template"]["spec"]["containers"][0]["args"] if a.startswith("--drain-seconds=")][0]
say("pods are given longer than the drain", server["template"]["spec"]["terminationGracePeriodSeconds"] > int(drain.split("=")[1]))
E2
