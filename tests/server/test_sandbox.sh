#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what a server may still do once it serves (server/sandbox.c). A call that it does not need ends it with a
# sentence, in every thread, and does nothing; what it needs works: every other test of this folder runs in the sandbox.
# Method: modules that call what they must not, and what /proc tells of every thread.
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml
of_threads() { cat /proc/$server_pid/task/*/status 2>/dev/null | sed -n "s/^$1:[[:space:]]*//p" | sort -u; }
module() { # NAME CALL: ring.c whose step makes that call at tick 100, behind the known-answer run, as ./NAME.so
    sed -e '/^#include <stdio.h>/i #include <errno.h>\n#include <fcntl.h>\n#include <sys/mman.h>\n#include <sys/syscall.h>\n#include <sys/socket.h>\n#include <sys/wait.h>\n#include <unistd.h>' \
        -e "/^static foliot_status step_tick(/,/^{/s/^{/{\n    if (((ring *)self)->ring[TICK] == 100) { $2; }/" \
        "$root/examples/modules/ring.c" >"$1.c"
    ${CC:-gcc} -O1 -w -D_GNU_SOURCE -shared -fPIC -I"$root/include" "$1.c" -o "$1.so"
}
forbidden() { # NAME CALL-NAME CALL
    local rc
    module planted "$3"
    cp server.log before.log 2>/dev/null
    timeout 20 "$server" --simulation planted.so --allow-modules --port 0 --no-record --ticks 130 >out 2>err
    rc=$?
    if [ $rc = 159 ] && grep -q "the sandbox refused the system call [0-9]* ($2)" err && [ ! -e pwned ]; then echo "ok - $1"
    else echo "not ok - $1: exit $rc"; head -n 5 err; fi
}

start "$scene" --port 0 --no-record
if [ "$(of_threads Seccomp)" != 2 ]; then
    stop
    if grep -q '^foliot-server: no sandbox: ' server.log; then
        echo "skip: $(cat server.log)"
        exit 0
    fi
    echo "not ok - there is a sandbox, or a sentence"
fi
ok "no thread may call what it does not need" [ "$(of_threads Seccomp)" = 2 ]
ok "nor get more rights" [ "$(of_threads NoNewPrivs)" = 1 ]
stop
start "$scene" --port 0 --no-record --no-sandbox
ok "without the sandbox, none of it" [ "$(of_threads Seccomp)$(of_threads NoNewPrivs)" = 00 ]
stop

forbidden "no program is run" execve 'execl("\/bin\/sh", "sh", "-c", "touch pwned", (char *)0)'
forbidden "no process is made" clone 'if (fork() == 0) { close(open("pwned", O_CREAT | O_WRONLY, 0600)); _exit(0); }'
forbidden "no other process is looked into" process_vm_readv 'syscall(SYS_process_vm_readv, 1, 0, 0, 0, 0, 0)'
forbidden "no packet is forged" socket 'socket(AF_PACKET, SOCK_RAW, 0)'
module planted 'execl("\/bin\/sh", "sh", "-c", "touch pwned", (char *)0)'
timeout 20 "$server" --simulation planted.so --allow-modules --port 0 --no-record --ticks 130 --no-sandbox >out 2>err
ok "without the sandbox that module does what it wants" [ -e pwned ]
rm -f pwned

# The helper that runs --on-recording was made before.
start "$scene" --port 0 --record one.foliot --ticks 30 --on-recording 'cp "$1" copy.foliot'
wait $server_pid
ok "a command for recordings is run" "$replay" verify copy.foliot

exits "a user that is not there" 2 "no user 'nobody-of-that-name'" "$server" "$scene" --user nobody-of-that-name
exits "root is no such user" 2 'has all rights' "$server" "$scene" --user root
if [ "$(id -u)" != 0 ]; then
    exits "only root becomes another" 2 'only root' "$server" "$scene" --user nobody
    echo "skip: not root: no user to become"
    exit 0
fi
chmod 711 "$work"
mkdir -m 700 kept
chown nobody kept
"$build/foliotctl" key arena.key
start "$scene" --user nobody --key arena.key --port 0 --recordings kept --on-recording 'id -u >kept/who' --ticks 120
uid=$(id -u nobody)
ok "every thread is that user" [ "$(of_threads Uid)" = "$uid	$uid	$uid	$uid" ]
ok "and has none of root's groups" sh -c "! grep -h '^Groups:' /proc/$server_pid/status | grep -qw 0"
ok "and no capability" [ "$(of_threads CapEff)$(of_threads CapPrm)" = 00000000000000000000000000000000 ]
"$build/foliotctl" token --key arena.key >a.token
ok "who has a token joins" timeout 20 "$client" "127.0.0.1:$port" --token a.token --bot random --ticks 30 --json
wait $server_pid
ok "the recording is that user's, and whole" sh -c "[ \"\$(stat -c %u kept/*.foliot)\" = $uid ] && '$replay' verify kept/*.foliot"
ok "the command ran as that user" [ "$(cat kept/who)" = "$uid" ]
