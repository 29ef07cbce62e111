// SPDX-License-Identifier: MIT
// sandbox.c: see sandbox.h. The allowed calls are those of this server and its libraries after the
// start: sessions and recordings created and ended by the admin API, reload, resume, browsers,
// modules; its tests run with the filter. sandbox_files.c limits the files that may be opened.
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <pwd.h>
#include <net/if.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "program/options/arguments.h"
#include "base/exit_code.h"
#include "program/lifecycle/life.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

// -- another user

static struct {
    char *name; // NULL: keep the current user
    uid_t uid;
    gid_t gid;
} user;

int foliot__sandbox_check(const foliot__server_choices *choices, const foliot__arguments *arguments)
{
    const char *name = choices->access.user;
    if (!name)
        return 0;
    const struct passwd *found = getpwnam(name);
    if (!found)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--user: there is no user '%s' on this machine", name);
    if (found->pw_uid == 0)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--user: '%s' has all rights: name an unprivileged user",
                                     name);
    if (geteuid() != 0 && geteuid() != found->pw_uid)
        return foliot__options_wrong(&foliot__server_program, arguments,
                                     "--user %s: only root may become another user", name);
    user.uid = found->pw_uid;
    user.gid = found->pw_gid;
    free(user.name);
    user.name = strdup(name);
    if (user.name)
        return 0;
    fprintf(stderr, "foliot-server: --user: no memory\n");
    return FOLIOT__EXIT_AGAIN;
}

int foliot__sandbox_drop(void)
{
    if (!user.name || geteuid() != 0)
        return 0;
    if (initgroups(user.name, user.gid) != 0 || setresgid(user.gid, user.gid, user.gid) != 0 ||
        setresuid(user.uid, user.uid, user.uid) != 0) {
        fprintf(stderr, "foliot-server: --user %s: %s\n", user.name, strerror(errno));
        return FOLIOT__EXIT_ERROR;
    }
    if (setuid(0) == 0 || geteuid() == 0 || getegid() != user.gid) {
        fprintf(stderr, "foliot-server: --user %s: the process still has its old rights\n",
                user.name);
        return FOLIOT__EXIT_ERROR;
    }
    // The process's files in /proc belong to the new user again; keys are in no dump (secure.c).
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return 0;
}

// -- system calls

#define CALLS_NAMED 512 // numbers of calls whose names are known when one is refused

static char *call_names[CALLS_NAMED];

// Calls that strace recorded after the start, in all of tests/program and with browsers, calls of
// error paths, and their equivalents on other machines and in other C libraries: names with 64 and
// 32 are those of 32-bit machines, those with "at" and ppoll those of arm64. Names that a machine
// does not have are left out.
static const char *const allowed[] = {
    // Files. fchown: a compacted recording in a folder whose files belong to another group.
    "access", "close", "faccessat", "faccessat2", "fchmod", "fchown", "fchown32", "fcntl",
    "fcntl64", "fdatasync", "flock", "fstat", "fstat64", "fstatat64", "fsync", "ftruncate",
    "ftruncate64", "getcwd", "getdents", "getdents64", "lseek", "_llseek", "lstat", "lstat64",
    "newfstatat", "open", "openat", "pread64", "pwrite64", "read", "readlink", "readlinkat",
    "rename", "renameat", "renameat2", "stat", "stat64", "statx", "unlink", "unlinkat", "write",
    "writev", // of the C library's own last words
    // The network. bind: of the netlink socket that lists interfaces. eventfd2: of an HTTP service
    // that starts again.
    "accept", "accept4", "bind", "eventfd2", "getpeername", "getsockname", "getsockopt", "recv",
    "recvfrom", "recvmmsg", "recvmmsg_time64", "recvmsg", "send", "sendmmsg", "sendmsg", "sendto",
    "setsockopt", "shutdown",
    // Waiting, time, signals. wait4: for the helper of --on-recording.
    "clock_getres", "clock_getres_time64", "clock_gettime", "clock_gettime64", "clock_nanosleep",
    "clock_nanosleep_time64", "epoll_ctl", "epoll_pwait", "epoll_wait", "gettimeofday", "nanosleep",
    "poll", "ppoll", "ppoll_time64", "pselect6", "pselect6_time64", "restart_syscall",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "select", "_newselect", "sigreturn", "time",
    "timerfd_settime", "timerfd_settime64", "wait4", "waitid", "waitpid",
    // Memory and threads. setpriority: threads that step start while the filter is loaded;
    // sched_getaffinity: malloc counts processors; membarrier: musl's, for modules.
    "brk", "exit", "exit_group", "futex", "futex_time64", "getpriority", "madvise", "membarrier",
    "mremap", "munmap", "rseq", "sched_getaffinity", "sched_yield", "set_robust_list",
    "setpriority",
    // Queries of the process about itself. sysinfo: qsort asks how large a block may be; getrlimit:
    // the stacks of threads.
    "getegid", "getegid32", "geteuid", "geteuid32", "getgid", "getgid32", "getpid", "getrandom",
    "getrlimit", "getrusage", "gettid", "getuid", "getuid32", "sysinfo", "ugetrlimit", "uname"};

// Only sockets of these kinds: none that forges packets, and none of protocols that connect by
// sending (SCTP, DCCP, MPTCP). For a port of --http whose interface appears late, datagrams, and
// the list of interfaces.
static const struct {
    int family, type, protocol; // protocol besides 0
} sockets[] = {{AF_INET, SOCK_STREAM, IPPROTO_TCP},   {AF_INET, SOCK_DGRAM, IPPROTO_UDP},
               {AF_INET6, SOCK_STREAM, IPPROTO_TCP},  {AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
               {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, {AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE}};

// Whether there is a terminal, and its size. TIOCSTI is not allowed: it forges terminal input.
static const unsigned controls[] = {TCGETS,       0x802c542a /* TCGETS2, of glibc 2.42 */,
                                    TIOCGWINSZ,   FIONBIO,
                                    FIONREAD,     FIOCLEX,
                                    SIOCGIFNAME,  SIOCGIFINDEX,
                                    SIOCGIFMTU,   SIOCGIFADDR,
                                    SIOCGIFFLAGS, SIOCGIFCONF};

// One write, as a signal handler may.
static void on_forbidden(int number, siginfo_t *info, void *context)
{
    char text[320];
    int call = info->si_syscall;
    const char *name =
        call >= 0 && call < CALLS_NAMED && call_names[call] ? call_names[call] : "unknown";
    (void)context;
    int length = snprintf(text, sizeof text,
                          "foliot-server: the sandbox refused the system call %d (%s): the server "
                          "ends. This is a fault of the server, of a module, or an attack; "
                          "--no-sandbox turns the sandbox off\n",
                          call, name);
    (void)!write(STDERR_FILENO, text, (size_t)length);
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}

static bool watch_forbidden(void)
{
    struct sigaction action = {.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO};
    sigset_t set;
    for (int i = 0; i < CALLS_NAMED; i++) // now, since it takes memory
        call_names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    return sigaction(SIGSYS, &action, NULL) == 0 && pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0;
}

static int allow(scmp_filter_ctx filter, const char *name, unsigned count,
                 struct scmp_arg_cmp condition)
{
    int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR)
        return 0;
    int done = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, count, &condition);
    return done == -EDOM || done == -EEXIST ? 0 : done; // not of this machine; there already
}

static int allow_sockets(scmp_filter_ctx filter)
{
    int wrong = 0;
    for (size_t i = 0; !wrong && i < sizeof sockets / sizeof sockets[0]; i++) {
        struct scmp_arg_cmp conditions[] = {
            SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)sockets[i].family, 0),
            SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, (scmp_datum_t)sockets[i].type), // without its flags
            SCMP_A2(SCMP_CMP_EQ, 0, 0)};
        wrong = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 3, conditions);
        conditions[2].datum_a = (scmp_datum_t)sockets[i].protocol;
        if (!wrong && sockets[i].protocol)
            wrong = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 3, conditions);
    }
    return wrong;
}

static int allow_some(scmp_filter_ctx filter, bool modules)
{
    static const int settings[] = {PR_SET_NAME,       PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_SECCOMP,
                                   PR_SET_TIMERSLACK, 0x53564d41 /* PR_SET_VMA: libc's */};
    const struct scmp_arg_cmp none = {0};
    int wrong = 0;
    for (size_t i = 0; !wrong && i < sizeof allowed / sizeof allowed[0]; i++)
        wrong = allow(filter, allowed[i], 0, none);
    if (!wrong)
        wrong = allow_sockets(filter);
    for (size_t i = 0; !wrong && i < sizeof controls / sizeof controls[0]; i++)
        wrong = allow(filter, "ioctl", 1, SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, controls[i]));
    for (size_t i = 0; !wrong && i < sizeof settings / sizeof settings[0]; i++)
        wrong = allow(filter, "prctl", 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)settings[i], 0));
    if (!wrong) // abort
        wrong = allow(filter, "tgkill", 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
    if (!wrong) // threads, no processes
        wrong =
            allow(filter, "clone", 1,
                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM));
    if (!wrong) // limits are looked at, not changed
        wrong = allow(filter, "prlimit64", 1, SCMP_A2(SCMP_CMP_EQ, 0, 0));
    // New code is loaded for modules alone.
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    unsigned conditions = modules ? 0 : 1;
    for (int i = 0; !wrong && i < 3; i++)
        wrong = allow(filter, i == 0 ? "mmap" : i == 1 ? "mmap2" : "mprotect", conditions, no_code);
    return wrong;
}

// Calls that may fail, after which the C library uses another way: it queries name services over
// local sockets, and interfaces by such a socket, or by one of another kind.
static int refuse_politely(scmp_filter_ctx filter, bool modules)
{
    const struct scmp_arg_cmp local = SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0);
    int wrong = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (!wrong)
        wrong = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(connect), 0);
    if (!wrong)
        wrong = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, &local);
    if (!wrong && !modules) {
        const struct scmp_arg_cmp code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
        wrong = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(mmap), 1, &code);
        if (!wrong)
            wrong = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(mprotect), 1,
                                           &code);
    }
    return wrong;
}

// Ways to reach another service without connect(2), in a separate filter, since the first one
// allows these calls with any arguments: the flag of TCP that connects and sends at once, and the
// socket of systemd, a datagram socket that could name another receiver in each datagram.
static int refuse_detours(void)
{
    static const struct {
        const char *name;
        unsigned flags; // which argument they are
        bool names;     // a later argument is the receiver; else it stands in memory
    } sends[] = {{"sendto", 3, true}, {"sendmsg", 2, false}, {"sendmmsg", 3, false}};
    int systemd = foliot__life_systemd_socket();
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return -ENOMEM;
    int wrong = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    for (size_t i = 0; !wrong && i < sizeof sends / sizeof sends[0]; i++) {
        int call = seccomp_syscall_resolve_name(sends[i].name);
        const struct scmp_arg_cmp fast =
            SCMP_CMP(sends[i].flags, SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN);
        const struct scmp_arg_cmp named[] = {
            SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, (scmp_datum_t)systemd),
            SCMP_A4(SCMP_CMP_NE, 0, 0)};
        wrong = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), call, 1, &fast);
        if (!wrong && systemd >= 0)
            wrong =
                seccomp_rule_add_array(filter, SCMP_ACT_TRAP, call, sends[i].names ? 2 : 1, named);
    }
    const int copies[] = {F_DUPFD, F_DUPFD_CLOEXEC};
    for (int i = 0; !wrong && systemd >= 0 && i < 4; i++) {
        const struct scmp_arg_cmp copied[] = {
            SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, (scmp_datum_t)systemd),
            SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, (scmp_datum_t)copies[i / 2])};
        int call = seccomp_syscall_resolve_name(i % 2 ? "fcntl64" : "fcntl");
        int done = seccomp_rule_add_array(filter, SCMP_ACT_TRAP, call, 2, copied);
        wrong = done == -EDOM || done == -EEXIST ? 0 : done;
    }
    if (!wrong)
        wrong = seccomp_load(filter);
    seccomp_release(filter);
    return wrong;
}

static int load_filter(bool modules)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (!filter)
        return -ENOMEM;
    int wrong = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!wrong) // found by halving: some hundred calls
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!wrong)
        wrong = allow_some(filter, modules);
    if (!wrong)
        wrong = refuse_politely(filter, modules);
    if (!wrong && !watch_forbidden())
        wrong = -errno;
    if (!wrong)
        wrong = refuse_detours(); // before the first forbids to load another
    if (!wrong)
        wrong = seccomp_load(filter);
    seccomp_release(filter);
    return wrong;
}

// libuv from 1.45 on would create a ring for its loop, which bypasses the filter.
static void refuse_rings(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return;
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0) == 0)
        (void)seccomp_load(filter);
    seccomp_release(filter);
}

// The reason why nothing is restricted; NULL: everything is.
static const char *foreign_needs(void)
{
    const char *preload = getenv("LD_PRELOAD");
    if (SANITIZED)
        return "the sanitizers of this build need more";
    return preload && strstr(preload, "vgpreload") ? "valgrind needs more" : NULL;
}

static struct {
    bool files, calls;
    const char *why_no_files; // valid where calls alone are given up
} given_up;

void foliot__sandbox_begin(const foliot__server_choices *choices,
                           const foliot__arguments *arguments)
{
    if (choices->access.no_sandbox || foreign_needs())
        return;
    given_up.why_no_files = foliot__sandbox_files(choices, arguments);
    given_up.files = !given_up.why_no_files;
    refuse_rings();
}

int foliot__sandbox_enter(const foliot__server_choices *choices)
{
    if (choices->access.no_sandbox)
        return 0;
    const char *why = foreign_needs();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        why = "this system does not support it";
    int wrong = why ? 0 : load_filter(choices->sessions.allow_modules);
    if (why)
        fprintf(stderr, "foliot-server: no sandbox: %s\n", why);
    given_up.calls = !why && !wrong;
    if (!wrong)
        return 0;
    fprintf(stderr, "foliot-server: the sandbox cannot be entered: %s; --no-sandbox turns it off\n",
            strerror(-wrong));
    return FOLIOT__EXIT_ERROR;
}

// Everything below the working folder may be written.
static bool works_at_the_root(void)
{
    char folder[2]; // no other fits
    return getcwd(folder, sizeof folder) != NULL;
}

void foliot__sandbox_announce(void)
{
    const char *end =
        works_at_the_root() ? "; the working folder is /, so all files may be written" : "";
    if (given_up.calls && !given_up.files)
        printf("sandbox: system calls; %s, so files are not limited\n", given_up.why_no_files);
    else if (given_up.files)
        printf("sandbox: %s%s\n", given_up.calls ? "system calls and files" : "files", end);
}
