#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: what a server may still do once it serves (server/program/sandbox/). A call that it does not need ends it with a
# sentence, in every thread, and does nothing; what it needs works: every other test of this folder runs in the sandbox.
# Method: modules that call what they must not, and what /proc tells of every thread.
. "$(dirname "$0")/setup.sh"
scene=$scenes/spacewar.yaml
of_threads() { cat /proc/$server_pid/task/*/status 2>/dev/null | sed -n "s/^$1:[[:space:]]*//p" | sort -u; }
module() { # NAME CALL: ring.c whose step makes that call at tick 100, behind the known-answer run, as ./NAME.so
    sed -e '/^#include <stdio.h>/i #include <errno.h>\n#include <fcntl.h>\n#include <sys/mman.h>\n#include <sys/syscall.h>\n#include <sys/socket.h>\n#include <sys/wait.h>\n#include <unistd.h>' \
        -e "/^static foliot_status step_tick(/,/^{/s/^{/{\n    if (((ring *)self)->ring[TICK] == 100) { $2; }/" \
        "$root/examples/modules/ring.c" >"$1.c"
    ${CC:-gcc} -O1 -w -D_GNU_SOURCE -shared -fPIC ${helpers:+-include "$helpers"} -I"$root/include" "$1.c" -o "$1.so"
}
helpers= # a header for modules
forbidden() { # NAME CALL-NAME CALL
    local rc
    module planted "$3"
    cp server.log before.log 2>/dev/null
    timeout $LIMIT_SECONDS "$server" --simulation planted.so --allow-modules --port 0 --no-record --ticks 130 >out 2>err
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
files=$(grep '^sandbox' server.out)
ok "no thread may call what it does not need" [ "$(of_threads Seccomp)" = 2 ]
ok "nor get more rights" [ "$(of_threads NoNewPrivs)" = 1 ]
stop
if grep -q 'system calls and files' <<<"$files"; then # a descriptor lacks for a moment
    cat >lacks.c <<'END'
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
typedef int opener(const char *file, int flags, ...);
int open(const char *file, int flags, int mode)
{
    if (strcmp(file, "/usr") == 0) return errno = EMFILE, -1;
    return ((opener *)dlsym(RTLD_NEXT, "open"))(file, flags, mode);
}
END
    ${CC:-gcc} -D_GNU_SOURCE -shared -fPIC lacks.c -o lacks.so
    LD_PRELOAD=$PWD/lacks.so start "$scene" --port 0 --no-record
    ok "files are not limited for want of a descriptor, which is said" grep -q '^sandbox: system calls; no descriptor was left' server.out
    stop
fi
start "$scene" --port 0 --no-record --no-sandbox
ok "without the sandbox, none of it" [ "$(of_threads Seccomp)$(of_threads NoNewPrivs)" = 00 ]
stop

forbidden "no program is run" execve 'execl("\/bin\/sh", "sh", "-c", "touch pwned", (char *)0)'
forbidden "no process is made" clone 'if (fork() == 0) { close(open("pwned", O_CREAT | O_WRONLY, 0600)); _exit(0); }'
forbidden "no other process is looked into" process_vm_readv 'syscall(SYS_process_vm_readv, 1, 0, 0, 0, 0, 0)'
forbidden "no packet is forged" socket 'socket(AF_PACKET, SOCK_RAW, 0)'
forbidden "no key is pressed at the terminal" ioctl 'ioctl(0, 0x5412, "x")'
module planted 'execl("\/bin\/sh", "sh", "-c", "touch pwned", (char *)0)'
timeout $LIMIT_SECONDS "$server" --simulation planted.so --allow-modules --port 0 --no-record --ticks 130 --no-sandbox >out 2>err
ok "without the sandbox that module does what it wants" [ -e pwned ]
rm -f pwned

# Files: what the options name, and nothing else. A module reads what it likes, but writes only there.
if [[ "$files" != *files ]]; then
    echo "skip: $files"
else
    module writer '(void)open("..\/outside", O_CREAT | O_WRONLY, 0600); close(open("inside", O_CREAT | O_WRONLY, 0600))'
    mkdir inner
    (cd inner && timeout 20 "$server" --simulation ../writer.so --allow-modules --port 0 --no-record --ticks 130 >../out 2>../err)
    ok "files are written in the working folder" test $? = 0 -a -e inner/inside
    ok "and not beside it" test ! -e outside
    (cd inner && timeout 20 "$server" --simulation ../writer.so --allow-modules --port 0 --no-record --ticks 130 --no-sandbox >../out 2>../err)
    ok "without the sandbox there too" test -e outside
    (cd / && timeout 20 "$server" "$scene" --port 0 --no-record --ticks 2) >root.out 2>&1
    ok "a server that works in / says that it may write all" grep -q '^sandbox: .*files; the working folder is /, so all files may be written$' root.out
    mkdir offered
    cp "$scenes/pendulum.yaml" secret.yaml
    cp "$scenes/pendulum.yaml" offered
    ln -s ../secret.yaml offered/link.yaml
    hosts() { # NAME: whether it can be hosted from the folder of scenes
        curl -sS -m 10 --unix-socket inner/socket -d "{\"name\": \"$1\", \"scene\": \"$1\"}" http://localhost/v1/sessions >answer.out
        grep -q '"recording"' answer.out
    }
    cd inner || exit 1
    start --port 0 --scenes ../offered --admin-socket ./socket --no-record
    cd .. || exit 1
    ok "a scene of the folder is read" hosts pendulum
    ok "no file from elsewhere" test "$(hosts link || grep -c 'Permission denied' answer.out)" = 1
    stop
    cd inner || exit 1
    start --port 0 --scenes ../offered --admin-socket ./socket --no-record --no-sandbox
    cd .. || exit 1
    ok "without the sandbox it is" hosts link
    stop
fi

# Other services of this machine: nothing is connected to, by no way. The module does what an intruder would.
cat >reach.h <<'END'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
static void reach(void)
{
    FILE *out = fopen("reached", "w");
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = htons(atoi(getenv("SERVICE_PORT")))};
    port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    strcpy(local.sun_path, getenv("SERVICE_SOCKET"));
    int stream = socket(AF_UNIX, SOCK_STREAM, 0), datagram = socket(AF_UNIX, SOCK_DGRAM, 0);
    int tcp = socket(AF_INET, SOCK_STREAM, 0), fast = socket(AF_INET, SOCK_STREAM, 0);
    fprintf(out, "stream %d\n", connect(stream, (struct sockaddr *)&local, sizeof local) == 0);
    strcat(local.sun_path, ".datagram");
    fprintf(out, "datagram %d\n", sendto(datagram, "x", 1, 0, (struct sockaddr *)&local, sizeof local) == 1);
    fprintf(out, "tcp %d\n", connect(tcp, (struct sockaddr *)&port, sizeof port) == 0);
    fprintf(out, "fast %d\n", sendto(fast, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&port, sizeof port) == 1);
    fclose(out);
}
static void misuse_notify_socket(int many)
{
    struct sockaddr_un other = {.sun_family = AF_UNIX};
    strcpy(other.sun_path, getenv("OTHER_SOCKET"));
    for (int fd = 3; fd < 100; fd++) {
        struct sockaddr_storage peer;
        socklen_t bytes = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &bytes) != 0 || peer.ss_family != AF_UNIX) continue;
        FILE *out = fopen("told", "w");
        fprintf(out, "%d\n", connect(fd, (struct sockaddr *)&other, sizeof other));
        fclose(out);
        struct iovec text = {"x", 1};
        struct mmsghdr message = {{&other, sizeof other, &text, 1}};
        if (many) // with a zero where sendto has a receiver
            syscall(SYS_sendmmsg, fd, &message, 1, 0, 0, 0);
        else
            sendto(fd, "x", 1, 0, (struct sockaddr *)&other, sizeof other);
    }
}
END
cat >service.py <<'END'
import socket, sys, time
stream, datagram, tcp = (socket.socket(f, t) for f, t in (
    (socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_INET, socket.SOCK_STREAM)))
stream.bind(sys.argv[1]), stream.listen(9)
datagram.bind(sys.argv[1] + ".datagram")
tcp.bind(("127.0.0.1", 0)), tcp.listen(9)
print(tcp.getsockname()[1], flush=True)
time.sleep(120)
END
if ! command -v python3 >/dev/null; then
    echo "skip: no python3 for a service"
else
    export SERVICE_SOCKET=$PWD/service.socket
    python3 service.py "$SERVICE_SOCKET" >service.port &
    pids="$pids $!"
    eventually has_lines service.port .
    export SERVICE_PORT=$(cat service.port)
    helpers=$PWD/reach.h
    module reaching 'reach()'
    module telling 'misuse_notify_socket(0)'
    module telling_many 'misuse_notify_socket(1)'
    helpers=
    timeout 20 "$server" --simulation reaching.so --allow-modules --port 0 --no-record --ticks 130 --no-sandbox >out 2>err
    ok "without the sandbox a service is reached in four ways" test "$(grep -c ' 1$' reached)" = 4
    rm -f reached
    timeout 20 "$server" --simulation reaching.so --allow-modules --port 0 --no-record --ticks 130 >out 2>err
    ok "with it in none" test "$(grep -c ' 0$' reached)" = 4
    # The socket of systemd is open. It sends to systemd alone.
    cat >notified.py <<'END'
import socket, sys
here = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
here.bind(sys.argv[1])
while True:
    print(here.recv(4096), flush=True)
END
    export OTHER_SOCKET=$PWD/other.socket NOTIFY_SOCKET=$PWD/notify.socket
    python3 notified.py "$OTHER_SOCKET" >other.out & pids="$pids $!"
    python3 notified.py "$NOTIFY_SOCKET" >notify.out & pids="$pids $!"
    eventually test -S other.socket -a -S notify.socket
    for module in telling telling_many; do
        timeout 20 "$server" --simulation $module.so --life-cycle systemd --allow-modules --port 0 --no-record --ticks 130 >out 2>err
        ok "who sends to another than systemd is ended ($module)" test $? = 159 -a "$(cat told)" = -1 -a ! -s other.out
    done
    ok "systemd has been told" grep -q READY=1 notify.out
    timeout 20 "$server" --simulation telling.so --life-cycle systemd --allow-modules --port 0 --no-record --ticks 130 --no-sandbox >out 2>err
    ok "without the sandbox it sends" eventually test -s other.out
    unset NOTIFY_SOCKET
fi

# A ring of the kernel's could do what the filter forbids, so the loop gets none: as a libuv from 1.45 on asks for one.
cat >ring.c <<'END'
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>
int uv_loop_init(uv_loop_t *loop)
{
    char about[256] = {0};
    errno = 0;
    (void)syscall(SYS_io_uring_setup, 8, about);
    fprintf(stderr, "ring: %s\n", strerror(errno));
    return ((int (*)(uv_loop_t *))dlsym(RTLD_NEXT, "uv_loop_init"))(loop);
}
END
if ! ${CC:-gcc} -w -D_GNU_SOURCE -shared -fPIC ring.c -o ring.so 2>/dev/null; then
    echo "skip: no preloaded libuv"
else
    LD_PRELOAD=$PWD/ring.so timeout 20 "$server" "$scene" --port 0 --no-record --ticks 5 >out 2>err
    ok "the loop gets no ring" grep -q '^ring: Function not implemented' err
fi

# The helper that runs --on-recording was made before.
start "$scene" --port 0 --record one.foliot --ticks 30 --on-recording 'cp "$1" copy.foliot'
wait $server_pid
ok "a command for recordings is run" "$replay" verify copy.foliot

# Set-group-id folders: the group of a new file is the folder's, so a compacted recording is given to it.
group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
[ "$(id -u)" != 0 ] || group=65534
if [ -n "$group" ]; then
    mkdir shared && chgrp "$group" shared && chmod 2770 shared
    start "$scene" --port 0 --recordings shared --ticks 60
    wait $server_pid
    ok "a recording of another group is compacted" test $? = 0 -a "$(stat -c %g shared/*.foliot)" = "$group" -a "$(ls -A shared | wc -l)" = 1
else
    echo "skip: this user has one group"
fi

# Everything that a server does is on the list: what a session of many parts calls, without the sandbox.
play() { timeout 30 "$client" "127.0.0.1:$port" --bot random --seconds 2 "$@" >>client.out 2>&1; }
trace() { # ARGUMENT...: a server that is traced, and has no sandbox
    start "$@" --port 0 --no-sandbox
}
if ! command -v strace >/dev/null || ! command -v python3 >/dev/null || ! strace -D -f -qq -o try.trace true 2>/dev/null; then
    echo "skip: no strace here, or it may not trace"
else
    real=$server
    printf '#!/bin/sh\nexec strace -D -f -qq -o "$PWD/$$.trace" "%s" "$@"\n' "$real" >traced
    chmod +x traced
    server=$PWD/traced
    head -c 24 /dev/urandom | base64 >bearer && chmod 600 bearer
    cp "$scenes/pendulum.yaml" "$root"/games/sumo/sumo.* .
    admin() { curl -sS -m 10 --unix-socket admin.socket -X "$1" ${3+-d "$3"} "http://localhost/v1/$2" >>admin.out; }
    trace sumo.yaml --recordings shared --on-recording true --recordings-max-bytes 1000000 --scenes . --bans bans \
        --admin-socket ./admin.socket --http 0 --web 0 --admin-token bearer --drain-seconds 1
    http=$(sed -n 's/^http on .*:\([0-9]*\)$/\1/p' server.out)
    play --name ann &
    playing=$!
    admin POST sessions '{"name": "later", "scene": "pendulum"}'
    admin GET sessions
    admin POST bans '{"name": "eve"}'
    curl -sS -m 10 "http://127.0.0.1:$http/metrics" >metrics.out
    kill -HUP $server_pid
    wait $playing
    admin POST sessions/later/end
    play --spectate
    stop
    : >server.log
    trace --session s="$scene" --resume-all shared --mode lockstep
    play --session s
    kill -INT $server_pid
    wait $server_pid
    server=$real
    sleep 0.2 # strace writes its last lines
    python3 "$root/tests/program/traced_calls.py" "$root/server/program/sandbox/sandbox.c" [0-9]*.trace >lacks.out
    ok "all that was called is on the list" sh -c '! grep ^lacks lacks.out && test "$(sed -n "s/^\([0-9]*\) calls.*/\1/p" lacks.out)" -ge 30'
fi

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
ok "who has a token joins" timeout $LIMIT_SECONDS "$client" "127.0.0.1:$port" --token a.token --bot random --ticks 30 --json
wait $server_pid
ok "the recording is that user's, and whole" sh -c "[ \"\$(stat -c %u kept/*.foliot)\" = $uid ] && '$replay' verify kept/*.foliot"
ok "the command ran as that user" [ "$(cat kept/who)" = "$uid" ]
