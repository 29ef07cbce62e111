// SPDX-License-Identifier: MIT
// bench.c: clock, median and output of the benches.
#include "bench.h"
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double bench_now(void)
{
    return 1e-9 * (double)clock_now_ns();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

void bench_report(const char *bench, const char *name, double value, const char *unit,
                  const char *opponent, double opponent_value)
{
    printf("{\"bench\":\"%s\",\"case\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",", bench, name, value,
           unit);
    if (opponent)
        printf("\"opponent\":\"%s\",\"opponent_value\":%.6g,\"ratio\":%.4g}\n", opponent,
               opponent_value, value / opponent_value);
    else
        printf("\"opponent\":null,\"opponent_value\":null,\"ratio\":null}\n");
    fflush(stdout);
}

bool bench_knows(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
