#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: foliot-server hosts a game: rules from a script or a module, their end is the session's, a killed server goes on
# with the score, and what cannot be hosted is refused with a sentence. Method: real programs on the loopback.
set -u
. "$(dirname "$0")/setup.sh"
if ! pkg-config --exists lua5.4; then echo "skip: this machine has no Lua"; exit 0; fi
sed 's/^limits: .*/limits: {speed_max: 100, commands_max: 64}/' "$scenes/spacewar.yaml" >game.yaml
cat >game.lua <<'END'
function on_init() state.ticks = 0 end
function on_join(player, name) set_var('last', name) end
function on_tick()
  state.ticks = state.ticks + 1
  set_var('score.ticks', state.ticks)
  if state.ticks == 480 then end_session('time is up') end
end
END
start game.yaml --rules game.lua --port 0 --record game.foliot
ok "the rules are named" grep -q '^rules: game.lua$' server.out
"$client" 127.0.0.1:$port --name ada --bot random --connect-timeout 60 --json >ada.out 2>ada.log &
ada=$!
pids="$pids $ada"
at=$port
of_player joined
durable game.foliot 60
kill -9 $server_pid
wait $server_pid 2>/dev/null
start --resume game.foliot --port $at
ok "a resumed recording brings its rules" grep -q '^rules: game.lua$' server.out
wait $server_pid
ok "the session ends when the game does" test $? = 0
wait $ada
ok "and its reason is told" grep -rq 'time is up' server.log ada.log
"$replay" verify --json game.foliot >verify.out
ok "the recording verifies" grep -q '"verdict":"match"' verify.out
ok "the clock went on after the resume: the game took 480 ticks" \
    grep -q '"ticks":48[0-9]' verify.out
ok "rules commanded" test "$(counter commands)" -gt 50

cat >module.c <<'END'
#include <stdlib.h>
#include "foliot/rules.h"
static foliot_status create(void *user, const foliot_scene *scene, foliot_rules *rules, void **self, char *problem, size_t bytes)
{ (void)user, (void)scene, (void)rules, (void)problem, (void)bytes; *self = malloc(1); return FOLIOT_STATUS_OK; }
static foliot_status tick(void *self, const foliot_rules_view *view, foliot_rules *rules, char *problem, size_t bytes)
{ (void)self, (void)view, (void)rules, (void)problem, (void)bytes; return FOLIOT_STATUS_OK; }
static size_t save(const void *self, void *bytes, size_t capacity, char *problem, size_t count)
{ (void)self, (void)bytes, (void)capacity, (void)problem, (void)count; return 0; }
static foliot_status restore(void *self, const void *bytes, size_t length)
{ (void)self, (void)bytes, (void)length; return FOLIOT_STATUS_OK; }
static const foliot_rules_kind kind = {.name = "quiet", .version = 7, .create = create, .destroy = free, .tick = tick, .save = save, .restore = restore};
const foliot_rules_module foliot_rules_entry = FOLIOT_RULES_MODULE(&kind);
END
${CC:-gcc} -shared -fPIC -I"$root/include" module.c -o module.so
sed 's/FOLIOT_RULES_ABI [0-9]*u/FOLIOT_RULES_ABI 99u/' "$root/include/foliot/rules.h" >other.h
sed 's|"foliot/rules.h"|"other.h"|' module.c >other.c
${CC:-gcc} -shared -fPIC -I"$root/include" -I. other.c -o other.so
${CC:-gcc} -shared -fPIC -x c /dev/null -o empty.so
start game.yaml --rules module.so --allow-modules --port 0 --no-record --ticks 30
ok "a module is loaded" grep -q '^rules: quiet$' server.out
wait $server_pid
start "$root/games/siege/siege.yaml" --rules "$build/games/siege.so" --allow-modules --port 0 --record siege.foliot --ticks 120
ok "siege has its rules in C, too" grep -q '^rules: siege$' server.out
wait $server_pid
ok "which build its towers" grep -q '^commands  *[4-9][0-9]$' server.out
machine_code() { "$replay" verify --rules siege.foliot | grep -q 'machine code'; }
ok "they are not run again by who has none" machine_code
exits "a module without --allow-modules" 78 'allow-modules permits' "$server" game.yaml --rules module.so --port 0 --no-record
exits "a module of another ABI" 78 'another ABI' "$server" game.yaml --rules other.so --allow-modules --port 0 --no-record
exits "a module that is none" 78 'foliot_rules_entry' "$server" game.yaml --rules empty.so --allow-modules --port 0 --no-record
exits "a module that is missing" 78 'none.so' "$server" game.yaml --rules none.so --allow-modules --port 0 --no-record
exits "a script that is missing" 78 'none.lua' "$server" game.yaml --rules none.lua --port 0 --no-record
head -c 1100000 /dev/zero | tr '\0' ' ' >large.lua
exits "a script of more than 1 MiB" 78 '1 MiB' "$server" game.yaml --rules large.lua --port 0 --no-record
echo 'function on_tick(' >wrong.lua
exits "a script that is no Lua" 78 'wrong.lua:[0-9]+:.* expected' "$server" game.yaml --rules wrong.lua --port 0 --no-record
exits "a scene that takes no commands" 78 'commands_max' "$server" "$scenes/spacewar.yaml" --rules game.lua --port 0 --no-record
ls ./*.foliot | grep -vE '^./(game|siege).foliot$' >left.out
ok "a start that is refused leaves no recording" test ! -s left.out

has_player() { "$replay" info --json spacewar-*.foliot 2>/dev/null | grep -q '"players":1[,}]'; }
# Rounds: a scene that names the next one. Bots play on without doing anything for it.
cat >round.lua <<'END'
function on_tick() if world.tick() == 180 then end_session('round over', 'second.yaml') end end
END
sed 's/^name: .*/name: second/' game.yaml >second.yaml
: >server.log
start game.yaml --rules round.lua --port 0 --record first.foliot
"$client" 127.0.0.1:$port --name ada --bot random --seconds 600 --connect-timeout 60 --json >ada.out 2>ada.log &
ada=$!
pids="$pids $ada"
ok "the next scene is told" logged '"event":"next-scene".*second.yaml'
of_player joined 2
eventually has_player # it is in the tick after
stop # the client ends with it
ok "the server ends in order" test $? = 0
wait $ada
ok "a client plays on in the next scene" test $? = 0
"$replay" verify --json first.foliot >verify.out
ok "the first round's recording verifies" grep -q '"verdict":"match"' verify.out
"$replay" verify --json spacewar-*.foliot >verify.out
ok "and so does the second's" grep -q '"verdict":"match"' verify.out
ok "with the player in it" test "$(field players verify.out)" = 1
sed -i "s|second.yaml|../second.yaml|" round.lua
: >server.log
start game.yaml --rules round.lua --port 0 --no-record
wait $server_pid
ok "a next scene elsewhere is not hosted: the game is over" event next-scene

# A large scene is opened in parallel with the loop: others join their sessions meanwhile. Each round tries it again.
{
    printf 'foliot: 1\nname: large\ntick_hz: 1\npace_hz: 20\nlimits: {commands_max: 4}\nscript: {lua: large.lua}\nbodies:\n'
    for i in $(seq 0 29999); do echo "  - {mass: 1, position: [$((i % 50)), $((i / 50 % 50)), $((i / 2500))]}"; done
} >large.yaml
echo "function on_tick() if world.tick() == 120 then end_session('round over', 'large.yaml') end end" >large.lua
sed 's/^name: .*/name: game\nscript: {lua: large.lua}/' game.yaml >small.yaml
: >server.log
start --session game=small.yaml --session quick="$scenes/spacewar.yaml" --port 0 --no-record
while :; do "$client" 127.0.0.1:$port --session quick --bot idle --ticks 1 >/dev/null 2>&1; done &
visitors=$!
pids="$pids $visitors"
visited() { sed -n '/"event":"game-ended"/,/"event":"next-scene"/p' server.log | grep -q '"event":"joined".*"session":"quick"'; }
ok "others play on while a large scene is opened" eventually visited
kill $visitors
wait $visitors 2>/dev/null
ok "which then is hosted" logged '"event":"next-scene".*large.yaml'
stop

# Budgets: a callback beyond its own is dropped, and the game continues; strict rules end the session. Callbacks that
# the host drops for its clock are in the recording: rules that are run again drop it in the same place, and so does a
# resumed session.
cat >heavy.lua <<'END'
function on_tick()
  set_var('ticks', world.tick())
  if world.tick() % 50 == 0 then while true do end end
end
END
start game.yaml --rules heavy.lua --port 0 --ticks 120 --record heavy.foliot
wait $server_pid
ok "a server whose rules dropped a callback ends as it should" test $? = 0
ok "two callbacks were dropped" test "$(counter rules_dropped)" = 2
ok "and the rules went on" test "$(counter rules_stopped)" = 0
ok "both are the same where they are run again" "$replay" verify --rules heavy.foliot
: >server.log
start game.yaml --rules heavy.lua --strict-rules --port 0 --ticks 120 --record strict.foliot
wait $server_pid
ok "with --strict-rules the session ends there" test "$(last_tick strict.foliot)" = 50
cat >slow.lua <<'END'
local a, b = 1e300, 1e-300
state.n = 0
function on_tick()
  set_var('ticks', world.tick())
  if world.tick() == 50 then while true do local s = a .. b .. a state.n = state.n + 1 end end
  set_var('n', state.n)
end
END
start game.yaml --rules slow.lua --port 0 --ticks 120 --record slow.foliot
wait $server_pid
ok "a callback that takes too long ends" test "$(counter ticks)" = 120
ok "it is dropped" test "$(counter rules_dropped)" -ge 1
ok "and the rules go on" test "$(counter rules_stopped)" = 0
ok "which the recording says" grep -q '"kind":"dropped"' <<<"$("$replay" export slow.foliot --what orders)"
ok "it is dropped in the same place where it is run again" "$replay" verify --rules slow.foliot
start game.yaml --rules slow.lua --port 0 --record late.foliot
durable late.foliot 60
kill -9 $server_pid
wait $server_pid 2>/dev/null
start --resume late.foliot --port 0
durable late.foliot 150
stop
ok "a session goes on after such a drop" test "$(counter rules_stopped)" = 0
ok "with the same state" "$replay" verify --rules late.foliot
start game.yaml --rules slow.lua --strict-rules --port 0 --ticks 120 --record strictly.foliot
wait $server_pid
ok "with --strict-rules the session ends there, too" test "$(last_tick strictly.foliot)" = 50
exits "a script that is missing, of a scene that takes no commands" 78 'nope.lua: No such file' "$server" "$scenes/pile.yaml" --rules nope.lua --port 0 --no-record

# A game that ends at once, with itself as the next one: it would fill the disk.
mkdir chain && cd chain || exit 1
echo "function on_tick() end_session('again', 'again.yaml') end" >again.lua
sed 's/^name: .*/name: again\nscript: {lua: again.lua}/' ../game.yaml >again.yaml
start again.yaml --port 0
eventually gone $server_pid
ok "a game that ends again and again at once is over" test $? = 0
ok "and the log says why" logged '"event":"next-scene".* 5 s'
ok "with few recordings" test "$(ls ./*.foliot | wc -l)" -le 6
kill $server_pid 2>/dev/null
cd .. || exit 1
