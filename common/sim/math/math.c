// SPDX-License-Identifier: MIT
// math.c: elementary functions from + - * / sqrt and integer work on the bits, so that they are the
// same on every machine. They raise no floating-point exception on purpose and read no rounding
// mode.
//
// Methods: tables of values at break points, each kept as a sum of two doubles, and a short Taylor
// series of the small rest (P. T. P. Tang, "Table-driven implementation of the exponential
// function", ACM TOMS 15, 1989; and of the logarithm, TOMS 16, 1990); sin and cos by Cody and
// Waite's reduction, beyond 2^19 by Payne and Hanek's ("Radian reduction for trigonometric
// functions", SIGNUM 18, 1983) in integers. Errors are measured in tests/unit/test_math.c.
#include "sim/math/math_internal.h"

#include "base/bytes.h"
#include "sim/math/math_tables.h"

#define SIGN_BIT 0x8000000000000000u
#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52
#define FRACTION_MASK 0x000fffffffffffffu

static const double NOT_A_NUMBER = __builtin_nan("");
static const double INFINITE = __builtin_inf();

static double absolute(double x)
{
    return foliot__f64_of(foliot__f64_bits(x) & ~SIGN_BIT);
}

static bool negative(double x)
{
    return (foliot__f64_bits(x) & SIGN_BIT) != 0;
}

static bool is_finite(double x)
{
    return absolute(x) < INFINITE; // false for NaN
}

// 2^n, -1022 <= n <= 1023.
static double power_of_two(int n)
{
    return foliot__f64_of((uint64_t)(n + EXPONENT_BIAS) << FRACTION_BITS);
}

// y 2^n for 1/2 <= y < 4, rounded once: the first factor is exact, the second may meet the range's
// end.
static double scale(double y, int n)
{
    if (n > 1000)
        return y * 0x1p1000 * power_of_two(n - 1000);
    if (n < -1000)
        return y * power_of_two(n + 100) * 0x1p-100;
    return y * power_of_two(n);
}

// The integer nearest to x, |x| < 2^31.
static int32_t nearest(double x)
{
    return (int32_t)(x < 0.0 ? x - 0.5 : x + 0.5);
}

// -- plain ones

double foliot_sqrt(double x)
{
    return foliot__sqrt(x);
}

double foliot_floor(double x)
{
    double size = absolute(x);
    if (!(size < 0x1p52) || size == 0.0)
        return x; // already whole, a zero with its sign, infinite or NaN
    double whole = (double)(int64_t)x;
    if (whole > x)
        whole -= 1.0;
    return whole;
}

double foliot_min(double a, double b)
{
    return a < b ? a : b;
}

double foliot_max(double a, double b)
{
    return a > b ? a : b;
}

double foliot_clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

// -- exponentials

// x = (32 m + i) ln2/32 + r, |r| <= ln2/64: e^x = 2^m 2^(i/32) e^r.
typedef struct exp_parts {
    int m, i;
    double r;
} exp_parts;

static exp_parts exp_reduce(double x)
{
    int k = nearest(x * THIRTY_TWO_OVER_LN2);
    int i = (int)((unsigned)k & 31u);
    // LN2_32_HIGH has 37 bits and |k| < 2^16: the product is exact, and so is the difference.
    double r = (x - k * LN2_32_HIGH) - k * LN2_32_LOW;
    return (exp_parts){(k - i) / 32, i, r};
}

// e^r - 1 for |r| <= ln2/64; the first term left out is below 2^-62 r.
static double exp_rest(double r)
{
    double r2 = r * r;
    return r + r2 * (0.5 +
                     r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r / 5040)))));
}

double foliot_exp(double x)
{
    if (x != x)
        return x;
    if (x > 710.0)
        return INFINITE;
    if (x < -746.0)
        return 0.0;
    exp_parts at = exp_reduce(x);
    double high = exp_table[at.i][0], low = exp_table[at.i][1];
    return scale(high + (low + high * exp_rest(at.r)), at.m);
}

// e^x - 1 by its series, |x| < 1/8; x itself, signed zeros too, where the rest is below half an
// ulp.
static double expm1_near_zero(double x)
{
    if (absolute(x) < 0x1p-54)
        return x;
    double cubic =
        1.0 / 6 +
        x * (1.0 / 24 +
             x * (1.0 / 120 +
                  x * (1.0 / 720 +
                       x * (1.0 / 5040 +
                            x * (1.0 / 40320 +
                                 x * (1.0 / 362880 + x * (1.0 / 3628800 + x / 39916800)))))));
    return x + x * x * (0.5 + x * cubic);
}

double foliot_expm1(double x)
{
    if (absolute(x) < 0.125)
        return expm1_near_zero(x);
    if (x != x)
        return x;
    if (x > 50.0)
        return foliot_exp(x); // the 1 lies below the last bit by far
    if (x < -40.0)
        return -1.0;
    exp_parts at = exp_reduce(x);
    double unit = power_of_two(at.m);
    double high = exp_table[at.i][0] * unit, low = exp_table[at.i][1] * unit;
    foliot__double_double less_one = foliot__two_sum(high, -1.0);
    return less_one.high + (less_one.low + (low + high * exp_rest(at.r)));
}

double foliot__phi1(double z)
{
    return absolute(z) < 0x1p-54 ? 1.0 : foliot_expm1(z) / z;
}

double foliot__phi2(double z)
{
    if (absolute(z) >= 1.0)
        return (foliot_expm1(z) - z) / z / z;
    // Sum of z^n / (n + 2)!, from the last term on.
    double sum = 0.0;
    for (int n = 18; n >= 0; n--)
        sum = (1.0 + sum * z) / (n + 2);
    return sum;
}

double foliot__sinh(double x)
{
    double size = absolute(x);
    if (size < 0x1p-27)
        return x;
    double result;
    if (size < 22.0) {
        double t = foliot_expm1(size);
        result = 0.5 * (t + t / (t + 1.0));
    } else {
        double root = foliot_exp(0.5 * size); // e^x alone would overflow before sinh does
        result = 0.5 * root * root;
    }
    return negative(x) ? -result : result;
}

double foliot__cosh(double x)
{
    double size = absolute(x);
    if (size < 22.0) {
        double t = foliot_exp(size);
        return 0.5 * t + 0.5 / t;
    }
    double root = foliot_exp(0.5 * size);
    return 0.5 * root * root;
}

double foliot__sinhc(double x)
{
    return absolute(x) < 0x1p-27 ? 1.0 : foliot__sinh(x) / x;
}

// -- logarithm

// log(1 + f) for |f| <= 1/16 by its series, f exact.
static double log_near_one(double f)
{
    double sum = 0.0;
    for (int n = 16; n >= 3; n--)
        sum = (n % 2 ? 1.0 : -1.0) / n + f * sum;
    return f + f * f * (-0.5 + f * sum);
}

double foliot_log(double x)
{
    if (x != x || x < 0.0)
        return NOT_A_NUMBER;
    if (x == 0.0)
        return -INFINITE;
    if (x == INFINITE)
        return x;
    if (absolute(x - 1.0) <= 0.0625)
        return log_near_one(x - 1.0);
    int exponent = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        exponent = -54;
    }
    uint64_t bits = foliot__f64_bits(x);
    exponent += (int)(bits >> FRACTION_BITS) - EXPONENT_BIAS;
    const double *row = log_table[(bits & FRACTION_MASK) >> (FRACTION_BITS - 7)];
    // x = 2^exponent m; r = m c - 1 with m in two parts, so that every product is exact.
    bits = (bits & FRACTION_MASK) | (uint64_t)EXPONENT_BIAS << FRACTION_BITS;
    double m_high = foliot__f64_of(bits & 0xfffffffff8000000u);
    double m_low = foliot__f64_of(bits) - m_high;
    double r = (m_high * row[0] - 1.0) + m_low * row[0];
    double series =
        r * r * (-0.5 + r * (1.0 / 3 + r * (-0.25 + r * (0.2 + r * (-1.0 / 6 + r * (1.0 / 7))))));
    // Both high parts are multiples of 2^-42 below 2^11: their sum is exact.
    foliot__double_double sum = foliot__two_sum(exponent * LN2_HIGH + row[1], r);
    return sum.high + (sum.low + (exponent * LN2_LOW + row[2] + series));
}

// -- sine and cosine

// x = quadrant pi/2 + (r.high + r.low), |r| <= pi/4 and a little; quadrant modulo 4.
typedef struct reduced {
    unsigned quadrant;
    foliot__double_double r;
} reduced;

// 32 bits of 2/pi that start `bit` places after the point; zeros before it.
static uint32_t two_over_pi_at(int bit)
{
    if (bit <= -32)
        return 0;
    if (bit < 0)
        return two_over_pi[0] >> -bit;
    unsigned word = (unsigned)bit / 32, shift = (unsigned)bit % 32;
    uint64_t both = (uint64_t)two_over_pi[word] << 32 | two_over_pi[word + 1];
    return (uint32_t)(both >> (32 - shift));
}

enum {
    LIMBS = 7
}; // 224 bits of x 2/pi modulo 4: the nearest miss of a quadrant needs 53 + 62 + 64

// limbs[0] is the highest. Left by `count` < 32 LIMBS places.
static void shift_left(uint32_t limbs[LIMBS], unsigned count)
{
    unsigned words = count / 32, bits = count % 32;
    for (unsigned i = 0; i < LIMBS; i++) {
        uint32_t high = i + words < LIMBS ? limbs[i + words] : 0;
        uint32_t low = i + words + 1 < LIMBS ? limbs[i + words + 1] : 0;
        limbs[i] = (uint32_t)(((uint64_t)high << 32 | low) >> (32 - bits));
    }
}

// Payne and Hanek: only those bits of 2/pi matter that leave x 2/pi modulo 4 with a fraction.
static reduced reduce_large(double x)
{
    uint64_t bits = foliot__f64_bits(x) & ~SIGN_BIT;
    uint64_t mantissa = (bits & FRACTION_MASK) | (FRACTION_MASK + 1);
    int exponent = (int)(bits >> FRACTION_BITS) - EXPONENT_BIAS - FRACTION_BITS;
    uint32_t factor[2] = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)};
    // product = mantissa * (LIMBS words of 2/pi) modulo 2^224, its unit 2^-222.
    uint32_t product[LIMBS] = {0};
    for (int f = 0; f < 2; f++) {
        uint64_t carry = 0;
        for (int i = LIMBS - 1; i - f >= 0; i--) {
            carry += (uint64_t)factor[f] * two_over_pi_at(exponent - 2 + 32 * i) + product[i - f];
            product[i - f] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    unsigned quadrant = product[0] >> 30;
    shift_left(product, 2);
    bool beyond = product[0] >> 31; // more than half a quadrant: take the rest to the next one
    if (beyond) {
        quadrant++;
        for (int i = 0; i < LIMBS; i++)
            product[i] = ~product[i]; // 1 - fraction, but for 2^-224
    }
    // The fraction limbs / 2^224 as two doubles of 53 bits each.
    unsigned zeros = 0;
    while (zeros < 32 * LIMBS - 1 && !(product[zeros / 32] & 0x80000000u >> zeros % 32))
        zeros++;
    shift_left(product, zeros);
    uint64_t top = (uint64_t)product[0] << 32 | product[1];
    uint64_t next = (uint64_t)product[2] << 32 | product[3];
    uint64_t high = top >> 11;
    uint64_t low = (top & 0x7ffu) << 42 | next >> 22;
    double unit = power_of_two(-(int)zeros - 53);
    foliot__double_double fraction = (foliot__double_double){
        (double)(int64_t)high * unit, (double)(int64_t)low * (unit * 0x1p-53)};
    foliot__double_double r = foliot__two_product(fraction.high, HALF_PI);
    r.low += fraction.high * HALF_PI_LOW + fraction.low * HALF_PI;
    r = foliot__two_sum(r.high, r.low);
    if (beyond != negative(x))
        r = (foliot__double_double){-r.high, -r.low};
    return (reduced){(negative(x) ? 0u - quadrant : quadrant) & 3u, r};
}

static reduced reduce(double x)
{
    double size = absolute(x);
    if (size <= 0.785)
        return (reduced){0, {x, 0.0}};
    if (!(size < 0x1p19))
        return reduce_large(x);
    // Cody and Waite with pi/2 as three pieces of 33 bits and a rest.
    int32_t n = nearest(x * TWO_OVER_PI);
    double first = x - n * HALF_PI_1; // exact
    foliot__double_double second = foliot__two_sum(first, -(n * HALF_PI_2));
    foliot__double_double third = foliot__two_sum(second.high, -(n * HALF_PI_3));
    double rest = (second.low + third.low) - n * HALF_PI_TAIL;
    return (reduced){(unsigned)n & 3u, foliot__two_sum(third.high, rest)};
}

// Taylor series; the first term left out is below 2^-62 of the sum.
static double sin_of(foliot__double_double r)
{
    double x = r.high, z = x * x;
    double tail =
        1.0 / 120 +
        z * (-1.0 / 5040 + z * (1.0 / 362880 +
                                z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 +
                                                            z * (-1.0 / 1307674368000.0 +
                                                                 z * (1.0 / 355687428096000.0))))));
    // x - x^3/6, the second with its rounding error, then the rest.
    double small = r.low * (1.0 - 0.5 * z) + x * z * (z * tail);
    return x + (x * z * (-1.0 / 6) + small);
}

static double cos_of(foliot__double_double r)
{
    double x = r.high, z = x * x;
    double tail =
        1.0 / 24 +
        z * (-1.0 / 720 +
             z * (1.0 / 40320 +
                  z * (-1.0 / 3628800 +
                       z * (1.0 / 479001600.0 +
                            z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0 +
                                                             z * (-1.0 / 6402373705728000.0)))))));
    double half = 0.5 * z, near = 1.0 - half;
    return near + (((1.0 - near) - half) + (z * z * tail - x * r.low));
}

double foliot_sin(double x)
{
    if (!is_finite(x))
        return NOT_A_NUMBER;
    if (absolute(x) < 0x1p-27)
        return x;
    reduced at = reduce(x);
    double value = at.quadrant & 1 ? cos_of(at.r) : sin_of(at.r);
    return at.quadrant & 2 ? -value : value;
}

double foliot_cos(double x)
{
    if (!is_finite(x))
        return NOT_A_NUMBER;
    reduced at = reduce(x);
    double value = at.quadrant & 1 ? sin_of(at.r) : cos_of(at.r);
    return at.quadrant == 1 || at.quadrant == 2 ? -value : value;
}

double foliot__sinc(double x)
{
    return absolute(x) < 0x1p-27 ? 1.0 : foliot_sin(x) / x;
}

// -- arc tangent

// The binary exponent of a finite x > 0.
static int exponent_of(double x)
{
    int below = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        below = 54;
    }
    return (int)(foliot__f64_bits(x) >> FRACTION_BITS) - EXPONENT_BIAS - below;
}

// The angle of (x, y), x and y >= 0 and finite, y <= x, x > 0, in the first octant.
static foliot__double_double octant(double y, double x)
{
    if (y == 0.0)
        return (foliot__double_double){0.0, 0.0};
    int exponent = exponent_of(x);
    if (exponent - exponent_of(y) > 60)
        return (foliot__double_double){y / x, 0.0}; // the angle, or too small to be seen in a sum
    // Both scaled so that 1 <= x < 2: exact, y is at least 2^-61.
    double by = power_of_two(-exponent / 2), again = power_of_two(-exponent - -exponent / 2);
    double small = y * by * again, large = x * by * again;
    // atan(t) = atan(c) + atan((small - c large) / (large + c small)), c = i/16 nearest to t.
    int i = nearest(16.0 * (small / large));
    double c = i / 16.0; // five bits: products with the halves of a double are exact
    foliot__double_double part = foliot__two_product(c, large),
                          over = foliot__two_product(c, small);
    foliot__double_double top =
        i ? foliot__two_sum(small, -part.high) : (foliot__double_double){small, 0.0};
    foliot__double_double bottom =
        i ? foliot__two_sum(large, over.high) : (foliot__double_double){large, 0.0};
    if (i) {
        top.low -= part.low;
        bottom.low += over.low;
    }
    double q = top.high / bottom.high;
    foliot__double_double back = foliot__two_product(q, bottom.high);
    double q_low = (((top.high - back.high) - back.low) + (top.low - q * bottom.low)) / bottom.high;
    double z = q * q;
    double series =
        q * z *
        (-1.0 / 3 + z * (0.2 + z * (-1.0 / 7 + z * (1.0 / 9 + z * (-1.0 / 11 + z * (1.0 / 13))))));
    foliot__double_double sum = foliot__two_sum(atan_table[i][0], q);
    return foliot__two_sum(sum.high, sum.low + (atan_table[i][1] + (q_low + series)));
}

// a + b + the lows, rounded once or nearly.
static double sum_of(double high, double low, foliot__double_double more, double sign)
{
    foliot__double_double sum = foliot__two_sum(high, sign * more.high);
    return sum.high + (sum.low + (low + sign * more.low));
}

double foliot_atan2(double y, double x)
{
    if (x != x || y != y)
        return NOT_A_NUMBER;
    double width = absolute(x), height = absolute(y), angle;
    if (width == INFINITE && height == INFINITE)
        width = height = 1.0;
    bool steep = height > width;
    if (width == INFINITE || height == INFINITE || (width == 0.0 && height == 0.0)) {
        width = steep ? 0.0 : 1.0; // an axis
        height = steep ? 1.0 : 0.0;
    }
    foliot__double_double part = steep ? octant(width, height) : octant(height, width);
    if (steep)
        angle = sum_of(HALF_PI, HALF_PI_LOW, part, negative(x) ? 1.0 : -1.0);
    else if (negative(x))
        angle = sum_of(2 * HALF_PI, 2 * HALF_PI_LOW, part, -1.0);
    else
        angle = part.high + part.low;
    return negative(y) ? -angle : angle;
}

// -- arithmetic

// Computes, since the control registers have another name on every ISA and the results do not.
bool foliot__floating_point_standard(void)
{
    // Operands that the compiler cannot fold.
    const volatile double one = 1.0, half_ulp = 0x1p-53;
    const volatile double smallest_normal = 0x1p-1022, smallest = 0x1p-1074;
    // Ties go to even, up and down, on both sides of zero: no directed rounding passes all four.
    double tie = 3.0 * half_ulp;
    bool nearest = one + half_ulp == 1.0 && one + tie == 1.0 + 0x1p-51 && -one - half_ulp == -1.0 &&
                   -one - tie == -1.0 - 0x1p-51;
    // Subnormal results are not flushed, subnormal operands not read as zero.
    bool gradual = smallest_normal * 0.5 != 0.0 && smallest * 0x1p1000 != 0.0;
    return nearest && gradual;
}
