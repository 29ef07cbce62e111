// SPDX-License-Identifier: MIT
// opponent.c: starts a program of another engine and takes turns with it through pipes.
#include "opponent.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

opponent opponent_start(const char *program, const char *argument)
{
    int to[2], from[2];
    // Closed in the next opponent, or this one would not see its input end.
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        return (opponent){0};
    opponent other = {.pid = fork()};
    if (other.pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl(program, program, argument, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    other.to = fdopen(to[1], "w");
    other.from = fdopen(from[0], "r");
    return other;
}

void opponent_stop(opponent *other)
{
    if (!other->to)
        return;
    fclose(other->to);
    fclose(other->from);
    waitpid(other->pid, NULL, 0);
    *other = (opponent){0};
}

void opponent_step(opponent *other, uint32_t ticks, double *ms)
{
    if (!other->to)
        return;
    fprintf(other->to, "step %u\n", ticks);
    fflush(other->to);
    for (uint32_t t = 0; t < ticks; t++)
        if (fscanf(other->from, "%lf", &ms[t]) != 1) {
            opponent_stop(other);
            return;
        }
}

bool opponent_look(opponent *other, uint32_t count, double *values)
{
    if (!other->to)
        return false;
    fprintf(other->to, "bodies\n");
    fflush(other->to);
    for (uint32_t i = 0; i < count; i++)
        if (fscanf(other->from, "%lf", &values[i]) != 1) {
            opponent_stop(other);
            return false;
        }
    return true;
}
