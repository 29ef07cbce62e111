#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: a real Prometheus scrapes a running server without a fault, for SCRAPE_SECONDS (8 by default; nightly a minute),
# and it has what the session counted.
set -u
. "$(dirname "$0")/setup.sh"
command -v prometheus >/dev/null || {
    echo "skip: there is no prometheus (scripts/install-deps.sh prometheus)"
    exit 0
}
start "$scenes/spacewar.yaml" --port 0 --no-record --http 0
http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
cat >prometheus.yml <<EOF
global: {scrape_interval: 3s}
scrape_configs:
  - job_name: foliot
    static_configs: [{targets: ['127.0.0.1:$http']}]
EOF
for _ in 1 2 3 4 5; do # a port that is free now
    own=$((20000 + RANDOM % 20000))
    prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:$own >prometheus.log 2>&1 &
    prometheus_pid=$!
    pids="$pids $prometheus_pid"
    ready() { curl -sf -m 10 -o /dev/null "http://127.0.0.1:$own/-/ready" || gone "$prometheus_pid"; }
    eventually ready
    gone "$prometheus_pid" || break
done
sleep "${SCRAPE_SECONDS:-8}"
query() { # EXPRESSION: its value
    curl -sS -m 30 -G --data-urlencode "query=$1" "http://127.0.0.1:$own/api/v1/query" | sed -n 's/.*"value":\[[^,]*,"\([^"]*\)".*/\1/p'; }
ok "every scrape was fine" test "$(query 'min_over_time(up[1h])')" = 1
above() { query "$1" | awk -v than="$2" '$1 > than { found = 1 } END { exit !found }'; } # EXPRESSION THAN
ok "there were some" eventually above 'count_over_time(up[1h])' 2
ok "ticks are counted" eventually above 'max_over_time(foliot_ticks_total[1h])' 60
ok "a quantile of lateness" eventually above 'histogram_quantile(0.5, rate(foliot_tick_lateness_seconds_bucket[1m]))' 0
kill -TERM "$prometheus_pid"
stop
