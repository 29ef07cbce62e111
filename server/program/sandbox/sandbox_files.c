// SPDX-License-Identifier: MIT
// sandbox_files.c: restricts the files that the server may open (sandbox.h), by Landlock of Linux
// 5.13 and later. It applies to the calling thread and to those that are started afterwards, so it
// begins before there are any. Every path that the options name is allowed, whether it is read at
// the start or much later.
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/options/arguments.h"
#include "sandbox.h"

#if defined(__has_include)
#if __has_include(<linux/landlock.h>)
#define HAS_LANDLOCK 1
#include <linux/landlock.h>
#endif
#endif

#ifdef HAS_LANDLOCK

// Flags of newer kernels than the headers that this may be built with.
#define ACCESS_REFER (1ull << 13)    // version 2
#define ACCESS_TRUNCATE (1ull << 14) // version 3

#define OF_FILES                                                                                   \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |   \
     ACCESS_TRUNCATE)
#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITING                                                                                    \
    (READING | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |                       \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | ACCESS_TRUNCATE)
#define FIRST_VERSION ((1ull << 13) - 1) // execute, read, write, remove, make of each kind

// Files that the C library, OpenSSL and the metrics read at any time. Missing ones are left out.
static const char *const system_files[] = {"/usr",
                                           "/lib",
                                           "/lib64",
                                           "/etc/group",
                                           "/etc/gai.conf",
                                           "/etc/host.conf",
                                           "/etc/hosts",
                                           "/etc/ld.so.cache",
                                           "/etc/localtime",
                                           "/etc/nsswitch.conf",
                                           "/etc/passwd",
                                           "/etc/protocols",
                                           "/etc/resolv.conf",
                                           "/etc/services",
                                           "/etc/ssl/openssl.cnf",
                                           "/dev/random",
                                           "/dev/urandom",
                                           "/proc/self",
                                           "/sys/devices/system/cpu"};

typedef struct ruleset {
    int descriptor;
    uint64_t handled;
    int lacks; // errno: no descriptor, or no memory, so a needed path would be refused; 0: none
} ruleset;

// A path that does not exist gets no rule: opening it fails as before.
static void let(ruleset *r, const char *path, uint64_t access)
{
    struct stat about;
    struct landlock_path_beneath_attr rule = {.allowed_access = access & r->handled};
    if (!path)
        return;
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) {
        r->lacks = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : r->lacks;
        return;
    }
    if (fstat(rule.parent_fd, &about) == 0 && !S_ISDIR(about.st_mode))
        rule.allowed_access &= OF_FILES;
    if (syscall(SYS_landlock_add_rule, r->descriptor, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
        r->lacks = errno == ENOMEM ? errno : r->lacks;
    close(rule.parent_fd);
}

static void let_folder_of(ruleset *r, const char *file, uint64_t access)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", file) < (int)sizeof path)
        let(r, dirname(path), access);
}

// The folder of the file and, if the file is a link, the folder of its target.
static void let_beside(ruleset *r, const char *file, uint64_t access)
{
    char real[PATH_MAX];
    if (!file)
        return;
    let_folder_of(r, file, access);
    if (realpath(file, real))
        let_folder_of(r, real, access);
}

static const char *why_not(void)
{
    return errno == EMFILE || errno == ENFILE ? "no descriptor was left for that"
           : errno == ENOMEM                  ? "no memory was left for that"
                                              : "this system does not allow Landlock";
}

const char *foliot__sandbox_files(const foliot__server_choices *choices,
                                  const foliot__arguments *arguments)
{
    struct landlock_ruleset_attr about = {.handled_access_fs = FIRST_VERSION};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return "this system has no Landlock";
    if (version >= 2)
        about.handled_access_fs |= ACCESS_REFER;
    if (version >= 3)
        about.handled_access_fs |= ACCESS_TRUNCATE;
    ruleset r = {
        (int)syscall(SYS_landlock_create_ruleset, &about, sizeof about.handled_access_fs, 0),
        about.handled_access_fs, 0};
    if (r.descriptor < 0)
        return why_not();
    for (size_t i = 0; i < sizeof system_files / sizeof system_files[0]; i++)
        let(&r, system_files[i], READING);
    let(&r, choices->access.password, READING);
    let(&r, choices->recording.sign, READING);
    let_beside(&r, choices->access.key, READING);      // read again, and may be another file then
    let_beside(&r, choices->web.admin_token, READING); // so this
    if (choices->sessions.allow_modules)               // with their libraries
        let(&r, "/", READING);
    for (uint32_t i = 0; i < arguments->operand_count; i++)
        let_beside(&r, arguments->operands[i], READING);
    for (uint32_t i = 0; i < choices->sessions.named.count; i++) {
        const char *file = strchr(choices->sessions.named.items[i], '=');
        let_beside(&r, file ? file + 1 : NULL, READING);
    }
    let(&r, choices->sessions.scenes, READING);
    let_beside(&r, choices->sessions.rules, READING);
    // Reports of divergences, and recordings without a folder, are written to the working folder.
    let(&r, ".", WRITING);
    let(&r, choices->recording.folder, WRITING);
    let(&r, choices->sessions.resume_all, WRITING);
    let_beside(&r, choices->recording.file, WRITING);
    for (uint32_t i = 0; i < choices->sessions.resumes.count; i++)
        let_beside(&r, choices->sessions.resumes.items[i], WRITING);
    let_beside(&r, choices->web.bans, WRITING);
    let_beside(&r, choices->access.used_tokens, WRITING);
    let_beside(&r, choices->web.admin_socket, WRITING | LANDLOCK_ACCESS_FS_MAKE_SOCK);
    let(&r, "/dev/null", READING | LANDLOCK_ACCESS_FS_WRITE_FILE);
    errno = r.lacks;
    bool done = !r.lacks && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                syscall(SYS_landlock_restrict_self, r.descriptor, 0) == 0;
    const char *why = done ? NULL : why_not();
    close(r.descriptor);
    return why;
}

#else

const char *foliot__sandbox_files(const foliot__server_choices *choices,
                                  const foliot__arguments *arguments)
{
    (void)choices;
    (void)arguments;
    return "this build knows no Landlock";
}

#endif
