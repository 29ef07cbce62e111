// SPDX-License-Identifier: MIT
// Goal: the elementary functions of common/sim/math/math.c stay below the bounds that the table
// here states, and special values are as C's. Method: hard arguments against precomputed values of
// 1,400-bit arithmetic (math_reference.h); random ones against series in binary128, which shares
// neither tables nor reductions with the code under test. SEED=n repeats a run.
#include "../support/check.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/math/math_internal.h"

#include "math_reference.h"

// Measured worst cases over 10^7 random arguments a function, rounded up. All below 1.
#define BOUND_EXP 0.76 // where the result is subnormal and rounded twice; 0.52 elsewhere
#define BOUND_EXPM1 0.70
#define BOUND_LOG 0.56
#define BOUND_SIN 0.80
#define BOUND_COS 0.78
#define BOUND_ATAN2 0.51
#define BOUND_HELPERS 3.0 // phi1, sinc, sinhc, sinh, cosh
#define BOUND_PHI2 4.0

// Distance from a rounded-to-nearest value to the next one in magnitude.
static double ulp(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1.0, exponent < -1021 ? -1074 : exponent - 53);
}

// Error of `got` against high + low, in ulps of high.
static double ulps(double got, double high, double low)
{
    if (isinf(high))
        return got == high ? 0.0 : INFINITY;
    return fabs((got - high) - low) / ulp(high);
}

static void check_table(double function(double), const double rows[][3], size_t count, double bound)
{
    for (size_t i = 0; i < count; i++) {
        double error = ulps(function(rows[i][0]), rows[i][1], rows[i][2]);
        if (!(error < bound)) {
            print_error("at %a (%.17g): %g ulp\n", rows[i][0], rows[i][0], error);
            fail();
        }
    }
}

#define TABLE(function, bound)                                                                     \
    check_table(foliot_##function, function##_reference,                                           \
                sizeof function##_reference / sizeof function##_reference[0], bound)

TEST(hard_arguments_stay_below_the_bounds)
{
    TABLE(exp, BOUND_EXP);
    TABLE(expm1, BOUND_EXPM1);
    TABLE(log, BOUND_LOG);
    TABLE(sin, BOUND_SIN);
    TABLE(cos, BOUND_COS);
}

TEST(an_error_of_an_ulp_or_two_is_seen)
{
    for (size_t i = 0; i < sizeof sin_reference / sizeof sin_reference[0]; i++) {
        const double *row = sin_reference[i];
        double away = row[1] < 0.0 ? -2.0 : 2.0;
        double one = nextafter(row[1], away), two = nextafter(one, away);
        check_ge(ulps(one, row[1], row[2]), 0.5 - 1e-9);
        check_ge(ulps(two, row[1], row[2]), 1.5 - 1e-9);
    }
}

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;

static const double PI_PARTS[4] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53,
                                   -0x1.f1976b7ed8fbcp-109, 0x1.4cf98e804177dp-163};
static const double LN2_PARTS[3] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56,
                                    0x1.7b57a079a1934p-111};

static quad q_scale(quad x, int n)
{
    for (; n > 0; n--)
        x *= 2;
    for (; n < 0; n++)
        x /= 2;
    return x;
}

// e^x - 1 by halving the argument and e^2x - 1 = t (t + 2).
static quad q_expm1(quad x)
{
    int halvings = 0;
    for (; x > 0.01 || x < -0.01; x /= 2)
        halvings++;
    quad sum = 0;
    for (int n = 16; n >= 1; n--)
        sum = (1 + sum) * x / n;
    for (; halvings > 0; halvings--)
        sum = sum * (sum + 2);
    return sum;
}

static quad q_exp(quad x)
{
    quad ln2 = (quad)LN2_PARTS[0] + LN2_PARTS[1] + LN2_PARTS[2];
    int n = (int)(x / ln2);
    quad r = ((x - n * (quad)LN2_PARTS[0]) - n * (quad)LN2_PARTS[1]) - n * (quad)LN2_PARTS[2];
    return q_scale(q_expm1(r) + 1, n);
}

// One cubic step from the double value, on e^y = x scaled to [1, 2).
static quad q_log(double x)
{
    int n;
    quad m = frexp(x, &n);
    if (x > 0.9 && x < 1.1) {
        m = x;
        n = 0;
    }
    quad y = log((double)m);
    for (int i = 0; i < 2; i++) {
        quad t = q_expm1(y), f = m - 1;
        y += 2 * (f - t) / (2 + f + t);
    }
    return (y + n * (quad)LN2_PARTS[2]) + n * (quad)LN2_PARTS[1] + n * (quad)LN2_PARTS[0];
}

// Sine of x + shift pi/2, |x| < 2^40.
static quad q_sin(quad x, int shift)
{
    quad quadrants = x / PI_PARTS[0] * 2;
    int64_t n = (int64_t)(double)(quadrants + (x < 0 ? -0.5 : 0.5));
    quad r = x;
    for (int i = 0; i < 4; i++)
        r -= (quad)n * (quad)(PI_PARTS[i] / 2);
    unsigned quadrant = (unsigned)(n + shift) & 3u;
    bool cosine = quadrant & 1;
    quad term = cosine ? 1 : r, sum = 0;
    for (int k = cosine ? 1 : 2; k < 60; k += 2) {
        sum += term;
        term *= -r * r / (k * (k + 1));
    }
    return quadrant & 2 ? -sum : sum;
}

static quad q_sqrt(quad x)
{
    quad root = sqrt((double)x);
    for (int i = 0; i < 3; i++)
        root = (root + x / root) / 2;
    return root;
}

// atan(y/x) by quartering the angle thrice, then the series; all quadrants.
static quad q_atan2(double y, double x)
{
    quad a = fabs(y), b = fabs(x), pi = (quad)PI_PARTS[0] + PI_PARTS[1] + PI_PARTS[2];
    bool steep = a > b;
    quad t = steep ? b / a : a / b;
    for (int i = 0; i < 5; i++)
        t = t / (1 + q_sqrt(1 + t * t));
    quad sum = 0;
    for (int n = 61; n >= 1; n -= 2)
        sum = (quad)1 / n - t * t * sum;
    sum *= 32 * t;
    if (steep)
        sum = pi / 2 - sum;
    if (x < 0)
        sum = pi - sum;
    return y < 0 ? -sum : sum;
}

static double ulps_of(double got, quad value)
{
    if (isinf(got))
        return (double)value == got ? 0.0 : INFINITY;
    quad error = (got - value) / ulp((double)value);
    return (double)(error < 0 ? -error : error);
}

static foliot__rng rng;

static double uniform(double low, double high)
{
    return low + (high - low) * foliot__rng_unit(&rng);
}

// Sign and significand at random, the exponent uniform.
static double scattered(int low, int high)
{
    uint64_t bits = foliot__rng_u64(&rng);
    int exponent = low + (int)foliot__rng_below(&rng, (uint32_t)(high - low + 1));
    double size = ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, exponent);
    return bits & 1 ? -size : size;
}

static quad q_cos0(quad x)
{
    return q_sin(x, 1);
}
static quad q_sin0(quad x)
{
    return q_sin(x, 0);
}
static quad q_log0(quad x)
{
    return q_log((double)x);
}
static quad q_phi1(quad x)
{
    return x == 0 ? 1 : q_expm1(x) / x;
}
static quad q_phi2(quad x)
{
    if (x > 0.5 || x < -0.5)
        return (q_expm1(x) - x) / x / x;
    quad sum = 0;
    for (int n = 30; n >= 0; n--)
        sum = (1 + sum * x) / (n + 2);
    return sum;
}
static quad q_sinh(quad x)
{
    if (x > 1 || x < -1)
        return (q_exp(x) - 1 / q_exp(x)) / 2;
    quad t = q_expm1(x);
    return (t + t / (t + 1)) / 2;
}
static quad q_sinhc(quad x)
{
    return x == 0 ? 1 : q_sinh(x) / x;
}
static quad q_cosh(quad x)
{
    return (q_exp(x) + 1 / q_exp(x)) / 2;
}
static quad q_sinc(quad x)
{
    return x == 0 ? 1 : q_sin(x, 0) / x;
}

typedef struct range {
    const char *name;
    double (*function)(double);
    quad (*reference)(quad);
    double low, high;
    double bound;
} range;

// Where low > high these are binary exponents, drawn uniformly.
static const range ranges[] = {
    {"exp", foliot_exp, q_exp, -708, 709.7, BOUND_EXP},
    {"exp", foliot_exp, q_exp, -745.1, -708, BOUND_EXP},
    {"exp", foliot_exp, q_exp, 3, -60, BOUND_EXP},
    {"expm1", foliot_expm1, q_expm1, -0.2, 0.2, BOUND_EXPM1},
    {"expm1", foliot_expm1, q_expm1, -45, 60, BOUND_EXPM1},
    {"expm1", foliot_expm1, q_expm1, 3, -60, BOUND_EXPM1},
    {"log", foliot_log, q_log0, 0.9, 1.1, BOUND_LOG},
    {"log", foliot_log, q_log0, 1e-300, 1e300, BOUND_LOG},
    {"log", foliot_log, q_log0, 0.1, 10, BOUND_LOG},
    {"sin", foliot_sin, q_sin0, -0.8, 0.8, BOUND_SIN},
    {"sin", foliot_sin, q_sin0, -7, 7, BOUND_SIN},
    {"sin", foliot_sin, q_sin0, 38, -30, BOUND_SIN},
    {"cos", foliot_cos, q_cos0, -0.8, 0.8, BOUND_COS},
    {"cos", foliot_cos, q_cos0, -7, 7, BOUND_COS},
    {"cos", foliot_cos, q_cos0, 38, -30, BOUND_COS},
    {"phi1", foliot__phi1, q_phi1, -40, 60, BOUND_HELPERS},
    {"phi1", foliot__phi1, q_phi1, 3, -60, BOUND_HELPERS},
    {"phi2", foliot__phi2, q_phi2, -2, 2, BOUND_PHI2},
    {"phi2", foliot__phi2, q_phi2, 4, -60, BOUND_PHI2},
    {"sinc", foliot__sinc, q_sinc, -10, 10, BOUND_HELPERS},
    {"sinh", foliot__sinh, q_sinh, 4, -60, BOUND_HELPERS},
    {"sinh", foliot__sinh, q_sinh, -700, 700, BOUND_HELPERS},
    {"sinhc", foliot__sinhc, q_sinhc, -3, 3, BOUND_HELPERS},
    {"cosh", foliot__cosh, q_cosh, -700, 700, BOUND_HELPERS},
    {"cosh", foliot__cosh, q_cosh, 3, -40, BOUND_HELPERS},
};

static uint32_t draws(void)
{
    const char *count = getenv("DRAWS");
    return count ? (uint32_t)strtoul(count, NULL, 10) : 8000;
}

static void seed(void)
{
    rng = foliot__rng_seeded(check_seed(1));
}

TEST(random_arguments_stay_below_the_bounds)
{
    seed();
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const range *at = &ranges[i];
        double worst = 0.0, worst_at = 0.0;
        for (uint32_t n = draws(); n > 0; n--) {
            double x = at->low < at->high ? uniform(at->low, at->high)
                                          : scattered((int)at->high, (int)at->low);
            double error = ulps_of(at->function(x), at->reference(x));
            if (!(error <= worst)) {
                worst = error;
                worst_at = x;
            }
        }
        print_message("%-6s %9g .. %-9g %.4f ulp at %a\n", at->name, at->low, at->high, worst,
                      worst_at);
        check_below(worst, at->bound);
    }
}

TEST(random_angles_stay_below_the_bound)
{
    seed();
    double worst = 0.0;
    for (uint32_t n = draws(); n > 0; n--) {
        double spread = n % 2 ? 3 : 500;
        double y = scattered((int)-spread, (int)spread), x = scattered((int)-spread, (int)spread);
        double error = ulps_of(foliot_atan2(y, x), q_atan2(y, x));
        worst = error > worst ? error : worst;
        double t = uniform(0.0, 1.1);
        error = ulps_of(foliot_atan2(t, 1.0), q_atan2(t, 1.0));
        worst = error > worst ? error : worst;
    }
    print_message("atan2  %.4f ulp\n", worst);
    check_below(worst, BOUND_ATAN2);
}
#else
TEST(random_arguments_stay_below_the_bounds)
{
    skip();
}
TEST(random_angles_stay_below_the_bound)
{
    skip();
}
#endif

TEST(special_values_are_those_of_c)
{
    check_bits(foliot_sin(-0.0), -0.0);
    check_bits(foliot_cos(-0.0), 1.0);
    check_bits(foliot_exp(-0.0), 1.0);
    check_bits(foliot_expm1(-0.0), -0.0);
    check_bits(foliot_log(1.0), 0.0);
    check_bits(foliot_log(-0.0), -INFINITY);
    check_bits(foliot_log(INFINITY), INFINITY);
    check_bits(foliot_exp(INFINITY), INFINITY);
    check_bits(foliot_exp(709.8), INFINITY);
    check_bits(foliot_exp(-INFINITY), 0.0);
    check_bits(foliot_exp(-745.14), 0.0);
    check_bits(foliot_expm1(-INFINITY), -1.0);
    check_bits(foliot_expm1(INFINITY), INFINITY);
    assert_true(isnan(foliot_log(-1.0)));
    assert_true(isnan(foliot_log(NAN)));
    assert_true(isnan(foliot_sin(INFINITY)));
    assert_true(isnan(foliot_cos(-INFINITY)));
    assert_true(isnan(foliot_sin(NAN)));
    assert_true(isnan(foliot_exp(NAN)));
    assert_true(isnan(foliot_expm1(NAN)));
    assert_true(isnan(foliot_atan2(NAN, 1)));
    assert_true(isnan(foliot_atan2(1, NAN)));
}

TEST(arc_tangents_of_special_points_are_those_of_c)
{
    const double values[] = {0.0,     -0.0,  1.0,    -1.0,     5e-324,
                             -5e-324, 1e308, -1e308, INFINITY, -INFINITY};
    const size_t count = sizeof values / sizeof values[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            check_bits(foliot_atan2(values[i], values[j]), atan2(values[i], values[j]));
}

TEST(floor_is_exact)
{
    const double values[] = {
        0.0,          -0.0,          0.5,       -0.5,  1.0,    -1.0,
        0x1p52 - 0.5, -0x1p52 + 0.5, 0x1p53,    1e300, -1e300, 5e-324,
        -5e-324,      INFINITY,      -INFINITY, 2.5,   -2.5,   4503599627370495.5};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        check_bits(foliot_floor(values[i]), floor(values[i]));
    assert_true(isnan(foliot_floor(NAN)));
}

TEST(the_smaller_of_a_nan_and_b_is_b)
{
    check_bits(foliot_min(1.0, 2.0), 1.0);
    check_bits(foliot_max(1.0, 2.0), 2.0);
    check_bits(foliot_min(NAN, 2.0), 2.0);
    check_bits(foliot_max(NAN, 2.0), 2.0);
    assert_true(isnan(foliot_min(2.0, NAN)));
    assert_true(isnan(foliot_max(2.0, NAN)));
    check_bits(foliot_clamp(3.0, -1.0, 1.0), 1.0);
    check_bits(foliot_clamp(-3.0, -1.0, 1.0), -1.0);
    check_bits(foliot_clamp(0.25, -1.0, 1.0), 0.25);
    assert_true(isnan(foliot_clamp(NAN, -1.0, 1.0)));
}

TEST(conversions_to_integers_saturate)
{
    check_eq(foliot__to_i64(9.3e18), INT64_MAX);
    check_eq(foliot__to_i64(-9.3e18), INT64_MIN);
    check_eq(foliot__to_i64(-0x1p63), INT64_MIN);
    check_eq(foliot__to_i64(NAN), 0);
    check_eq(foliot__to_i64(-2.9), -2);
    check_eq(foliot__to_i64(INFINITY), INT64_MAX);
    check_eq(foliot__to_i32(2147483647.5), INT32_MAX);
    check_eq(foliot__to_i32(2147483648.0), INT32_MAX);
    check_eq(foliot__to_i32(-2147483648.5), INT32_MIN);
    check_eq(foliot__to_i32(NAN), 0);
    check_eq(foliot__to_i32(-7.99), -7);
}

TEST(sums_and_products_have_their_rounding_errors)
{
    foliot__double_double sum = foliot__two_sum(1.0, 0x1p-60);
    check_bits(sum.high, 1.0);
    check_bits(sum.low, 0x1p-60);
    foliot__double_double product = foliot__two_product(1.0 + 0x1p-52, 1.0 + 0x1p-52);
    check_bits(product.high, 1.0 + 0x1p-51);
    check_bits(product.low, 0x1p-104);
}

TEST(a_changed_floating_point_environment_is_noticed)
{
    assert_true(foliot__floating_point_standard());
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < 3; i++) {
        fesetround(modes[i]);
        bool sound = foliot__floating_point_standard();
        fesetround(FE_TONEAREST);
        assert_false(sound);
    }
#ifdef __SSE2__
    const unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | flush_to_zero);
    bool sound_flushing = foliot__floating_point_standard();
    __builtin_ia32_ldmxcsr(before | denormals_are_zero);
    bool sound_reading = foliot__floating_point_standard();
    __builtin_ia32_ldmxcsr(before);
    assert_false(sound_flushing);
    assert_false(sound_reading);
#endif
    assert_true(foliot__floating_point_standard());
}
