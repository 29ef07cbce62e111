#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slurm.sh: of `make nightly`. Slurm's real daemons on the loopback, one node, run deploy/slurm/verify.sbatch as an array over
# RECORDINGS (1,000) recordings. In the middle the node is killed with all that runs on it: nothing is lost, and only shards
# that had no result are run again. Counts as tests/run.sh does: "ok - " and "not ok - " lines.
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
build=$(cd "${BUILD:-build}" && pwd)
recordings=${RECORDINGS:-1000} shards=${SHARDS:-40}
for program in slurmctld slurmd munged sbatch; do
    command -v $program >/dev/null || { echo "skip: no $program here"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skip: slurmd wants to be root"; exit 0; }
work=$(mktemp -d)
pids=
cleanup() {
    for p in $pids $(cat "$work"/*.pid 2>/dev/null); do kill "$p" 2>/dev/null; done
    wait
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1
chmod 755 "$work"
ok() { # NAME CONDITION...
    local name=$1
    shift
    if "$@"; then echo "ok - $name"; else echo "not ok - $name"; tail -n 5 ./*.log out 2>/dev/null | cut -c 1-200; fi
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# -- a cluster of one node
head -c 1024 /dev/urandom >munge.key
chmod 400 munge.key
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munge.seed" --foreground >munged.out 2>&1 &
pids="$pids $!"
mkdir state spool
cat >slurm.conf <<E2
ClusterName=foliot
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmdTimeout=4
SlurmctldTimeout=10
BatchStartTimeout=5
KillWait=2
MessageTimeout=5
ReturnToService=2
SchedulerParameters=sched_interval=2
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
E2
export SLURM_CONF=$work/slurm.conf
for _ in $(seq 50); do [ -S munge.socket ] && break; sleep 0.1; done
slurmctld -D -c >slurmctld.out 2>&1 &
pids="$pids $!"
node() {
    slurmd -D -N "$(hostname)" >>slurmd.out 2>&1 &
    node_pid=$!
    pids="$pids $node_pid"
}
node
for _ in $(seq 100); do sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 0.2; done
ok "a node is idle" test "$(sinfo -h -o %T)" = idle

# -- the recordings, one of them damaged
mkdir recordings
for i in $(seq "$recordings"); do ln "$root/tests/golden/kepler.foliot" recordings/$i.foliot 2>/dev/null ||
    cp "$root/tests/golden/kepler.foliot" recordings/$i.foliot; done
cp --remove-destination "$root/tests/golden/kepler.foliot" recordings/7.foliot
printf '\377' | dd of=recordings/7.foliot bs=1 seek=1500 conv=notrunc 2>/dev/null
ls -d "$work"/recordings/* >list.txt
# Every run of a shard is noted. While there is a file "hold" none ends, so that the node dies in the middle of some.
cat >replay <<E2
#!/bin/sh
echo run >>"$work/runs.\$SLURM_ARRAY_TASK_ID"
while [ -e "$work/hold" ]; do echo held >"$work/held.\$SLURM_ARRAY_TASK_ID"; sleep 0.1; done
exec "$build/foliot-replay" "\$@"
E2
chmod +x replay
submit() {
    LIST=$work/list.txt RESULTS=$work/results FOLIOT_REPLAY=$work/replay VERIFY_SHARD=$root/deploy/verify-shard.sh \
        sbatch --parsable --array=1-"$shards" --mem=0 --output="$work/job-%a.out" "$root/deploy/slurm/verify.sbatch" 2>>sbatch.log
}
results() { find results -name '*.ndjson' 2>/dev/null | wc -l; }
job=$(submit)
ok "the array is taken" test -n "$job"
for _ in $(seq 400); do [ "$(results)" -ge 8 ] && break; sleep 0.1; done
touch hold
before=$(results) # at least: some may be about to end
ok "some shards are done ($before)" test "$before" -ge 8 -a "$before" -lt "$shards"
find results -name '*.ndjson' | sort >done.before
# The node goes: its daemon, and all that runs on it.
below() { # PID: it and all below it
    local child
    echo "$1"
    for child in $(pgrep -P "$1"); do below "$child"; done
}
all_of_node() {
    local p
    for p in $(pgrep slurmstepd); do
        tr "\\0" "\\n" 2>/dev/null <"/proc/$p/environ" | grep -qx "SLURM_CONF=$work/slurm.conf" && below "$p"
    done
}
for _ in $(seq 600); do compgen -G 'held.*' >/dev/null && break; sleep 0.1; done
sleep 1 # whatever was about to end has ended
all=$(all_of_node)
ok "and some are in the middle" test -n "$all"
kill -9 $node_pid $all
wait $node_pid 2>/dev/null
rm hold
sleep 6
during=$(results)
node
for _ in $(seq 600); do [ "$(squeue -h | wc -l)" = 0 ] && break; sleep 0.2; done
ok "the array comes to its end" test "$(squeue -h | wc -l)" = 0
ok "every shard has its result" test "$(results)" = "$shards"
again=$(for i in $(seq "$shards"); do [ "$(wc -l <runs.$i)" -gt 1 ] && echo $i; done | wc -l)
ok "what ran on the node, and nothing else, ran again ($again shards; $before were done, $during after it died)" test "$again" -ge 1 -a "$again" -le 2
"$build/foliot-replay" report results/shard-*.ndjson --files-from list.txt --page report.html >out 2>&1
ok "all recordings have a verdict, the damaged one its own" test $? = 4 -a "$(awk '$1 == "all" { print $2, $4 }' out)" = "$recordings $((recordings - 1))"
ok "and stands on the page" grep -q '/7.foliot</code>' report.html
cat runs.* | wc -l >runs.before
job=$(submit)
for _ in $(seq 300); do [ "$(squeue -h | wc -l)" = 0 ] && break; sleep 0.2; done
ok "the same again runs nothing again" test "$(cat runs.[0-9]* | wc -l)" = "$(cat runs.before)"
