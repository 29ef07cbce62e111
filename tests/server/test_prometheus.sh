#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a real Prometheus scrapes a running server without a fault, for SCRAPE_SECONDS (8 unless said; nightly a minute), and
# its rates are those of the session; no tick is later for it.
set -u
. "$(dirname "$0")/setup.sh"
command -v prometheus >/dev/null || {
    echo "skip: there is no prometheus (scripts/install-deps.sh prometheus)"
    exit 0
}
ldd "$server" | grep -q libwebsockets || {
    echo "skip: this build has no libwebsockets"
    exit 0
}
start "$scenes/spacewar.yaml" --port 0 --no-record --http 0
http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
cat >prometheus.yml <<EOF
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: foliot
    static_configs: [{targets: ['127.0.0.1:$http']}]
EOF
for _ in 1 2 3 4 5; do # a port that is free now
    own=$((20000 + RANDOM % 20000))
    prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:$own >prometheus.log 2>&1 &
    prometheus_pid=$!
    pids="$pids $prometheus_pid"
    for _ in $(seq 100); do
        curl -sf -m 2 -o /dev/null "http://127.0.0.1:$own/-/ready" && break 2
        kill -0 "$prometheus_pid" 2>/dev/null || break
        sleep 0.1
    done
done
sleep "${SCRAPE_SECONDS:-8}"
query() { # EXPRESSION: its value
    curl -sS -m 5 -G --data-urlencode "query=$1" "http://127.0.0.1:$own/api/v1/query" | sed -n 's/.*"value":\[[^,]*,"\([^"]*\)".*/\1/p'; }
ok "every scrape was fine" test "$(query 'min_over_time(up[1h])')" = 1
ok "there were some" sh -c "[ $(query 'count_over_time(up[1h])') -ge 3 ]"
ok "ticks are counted" awk -v ticks="$(query 'max_over_time(foliot_ticks_total[1h])')" 'BEGIN { exit !(ticks > 60) }'
ok "a quantile of lateness" awk -v late="$(query 'histogram_quantile(0.5, rate(foliot_tick_lateness_seconds_bucket[1m]))')" 'BEGIN { exit !(late != "" && late < 0.1) }'
ok "a scrape is quick" awk -v took="$(query 'max_over_time(scrape_duration_seconds[1h])')" 'BEGIN { exit !(took < 1) }'
kill -TERM "$prometheus_pid"
stop
