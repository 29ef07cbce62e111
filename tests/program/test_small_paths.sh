#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# test_small_paths.sh: clients whose way takes no datagram above 560 to 1,100 bytes play, with the real programs: in
# clear, sealed, as watchers and as steppers, with scenes that need large packets; one that gets nothing to show reports
# so in time. A datagram that is larger is lost without a word, as on a path whose routers say nothing.
. "$(dirname "$0")/setup.sh"
scene=$scenes/pile.yaml
join() { # MTU ARGUMENT...
    local mtu=$1
    shift
    timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --bot random --seconds 1.5 --json --impair "delay=5ms,mtu=$mtu" "$@" >join.out 2>join.err
}
plays() { # MTU ARGUMENT...: it sees the session, over one connection
    join "$@" && [ "$(field reconnects join.out)" = 0 ] && [ "$(field pieces_malformed join.out)" = 0 ]
}

start "$scene" --port 0 --no-record
for mtu in 560 700 800 1100; do
    ok "a watcher plays where $mtu bytes pass" plays $mtu --kind watch
    ok "a stepper too" plays $mtu --kind step
done
ok "with keys" plays 700 --kind watch --insecure
ok "with an MTU that is known" plays 700 --kind step --mtu 700
ok "who has a large path is not asked for more" plays 1400
stop
ok "the server found it by probes" [ "$(counter path_probes)" -gt 20 ]
ok "and nothing was malformed" [ "$(counter datagrams_dropped_malformed)" = 0 ]

start "$scene" --port 0 --no-record --mtu 576
ok "a server whose network is small serves all" plays 560
stop
ok "and does not probe" [ "$(counter path_probes)" = 0 ]

start "$scene" --port 0 --no-record
exits "who is let in and gets nothing to show gives up" '1|75' 'nothing to show' "$client" "127.0.0.1:$port" --bot idle --seconds 5 --kind watch \
    --impair delay=1ms,mtu=250 --connect-timeout 2
stop
exits "an MTU that no network has" 2 'mtu' "$server" "$scene" --port 0 --mtu 500
