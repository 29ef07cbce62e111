// SPDX-License-Identifier: MIT
// bench.h: what every bench needs: a clock, a median, and a line of JSON for a figure.
#ifndef FOLIOT_TESTS_BENCH_H
#define FOLIOT_TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double bench_now(void); // seconds, monotonic
// Middle of `count` values (mean of the middle two); sorts them.
double bench_median(double *values, uint32_t count);
// One figure as a line of JSON on stdout, ratio = value / opponent_value. `opponent` NULL: it
// stands alone.
void bench_report(const char *bench, const char *name, double value, const char *unit,
                  const char *opponent, double opponent_value);
// Whether `name` is one of `names`.
bool bench_knows(const char *const *names, size_t count, const char *name);

#endif
