// SPDX-License-Identifier: MIT
// priority.c: see priority.h. If the system refuses a call, the program goes on as before.
//
// Without this, a datagram that comes while a long step holds the loop's processor waits for the
// end of the step's slice, 3 ms and more. A shorter slice lets the scheduler of Linux 6.12 and
// later take the processor from the step at once, if the loop's thread has run less than its share;
// the step's lower weight sees to that.
#include "priority.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 100000u // the shortest that there is
#define STEP_NICE 5
#define RESET_ON_FORK 1u // threads that are made later are as others

// As in linux/sched/types.h, which older headers of glibc clash with.
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
} attributes;

void foliot__priority_loop(void)
{
    attributes a = {.size = sizeof a,
                    .flags = RESET_ON_FORK,
                    .nice = getpriority(PRIO_PROCESS, 0),
                    .runtime = SLICE_NS};
    (void)syscall(SYS_sched_setattr, 0, &a, 0);
}

void foliot__priority_step(void)
{
    static _Thread_local bool given;
    if (given)
        return;
    given = true;
    id_t thread = (id_t)syscall(SYS_gettid);
    int nice = getpriority(PRIO_PROCESS, thread) + STEP_NICE;
    (void)setpriority(PRIO_PROCESS, thread, nice < 19 ? nice : 19);
}
