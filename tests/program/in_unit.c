// SPDX-License-Identifier: MIT
// in_unit.c FAMILY,... CALL,... COMMAND...: runs a command under the filter of system calls that a
// service manager sets for a unit: sockets of these families (numbers) and these calls alone;
// others fail with EAFNOSUPPORT and EPERM.
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    unsigned families = 0;
    if (argc < 4 || !filter)
        return 125;
    for (char *text = strtok(argv[1], ","); text; text = strtok(NULL, ","))
        families |= 1u << atoi(text);
    for (unsigned family = 0; family < 32; family++)
        if (seccomp_rule_add(filter,
                             families >> family & 1 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EAFNOSUPPORT),
                             SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, family)) != 0)
            return 125;
    for (char *name = strtok(argv[2], ","); name; name = strtok(NULL, ",")) {
        int call = seccomp_syscall_resolve_name(name);
        if (call >= 0 && call != SCMP_SYS(socket))
            (void)seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
    }
    if (seccomp_load(filter) != 0)
        return 125;
    execv(argv[3], argv + 3);
    return 126;
}
