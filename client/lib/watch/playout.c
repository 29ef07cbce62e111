// SPDX-License-Identifier: MIT
// playout.c: the adaptive interpolation delay.
// At local time t the newest snapshot present is of server time s(t); its age is t - s(t).
// Rendering at t - offset is starved exactly when age > offset. So the least offset for a starved
// share q is the (1 - q) quantile of the age over time, which the histogram gives. Bursts of loss,
// reordering and jitter are all contained in it, without a model of the network. The weight of old
// time halves every HALF_LIFE_NS. Ages far above the fastest (a host that stalled, a queue that
// drained) are forgotten five times as fast.
#include "playout.h"

#include <math.h>
#include <string.h>

#define BIN_NS 500000.0
#define FAR_BINS 1e15 // a hostile server may send any tick
#define HALF_LIFE_NS 20e9
#define LONG_NS 250e6         // beyond the fastest: more than is extrapolated over
#define LONG_HALF_LIFE_NS 5e9 // in addition to HALF_LIFE_NS
#define LONG_EVERY_NS 250e6
#define CAUTION 0.75  // allows for ages that half a minute has not shown yet
#define PACE_MAX 0.05 // of time, to catch up or fall back
#define SNAP_TICKS 10.0
#define WARM_UP_NS 500000000u // the first gaps after a join are due to the join, not to the network
#define STOP_NS 3000000000u   // without a snapshot: the next one is a new start, as after a pause
#define LEAST_NS 5000000000u  // windows of the fastest arrivals
#define LEAST_JOIN_NS 1000000000u
// The packets that a join queues (a whole state in hundreds) are late, and later ones less and
// less. While ages fall by ticks, the join is still the cause.
#define JOIN_NS 1000000000u   // at most
#define SETTLE_NS 1000000000u // for the render time to forget it
#define SETTLE_LEAST_NS 32e6  // of the error: the rest may be the network's own
#define SETTLE_PACE 0.5       // to catch up then
#define SETTLE_GAIN 5e-9      // of the error, a nanosecond
#define FRESH_NS 3e9          // until then the quantile of few arrivals gets a margin
#define FRESH_MARGIN_NS 60e6  // that starts with this much and shrinks

void foliot__playout_init(foliot__playout *p, double tick_ns, double starved_share,
                          double delay_min_ns, double delay_max_ns)
{
    memset(p, 0, sizeof *p);
    p->tick_ns = tick_ns;
    p->starved_share = starved_share;
    p->delay_min_ns = delay_min_ns;
    p->delay_max_ns = delay_max_ns;
    p->decay_unit = 1;
}

// Bins are absolute ages; the origin moves when clocks have drifted out of the middle.
static void recentre(foliot__playout *p, double age)
{
    double position = fmin(fmax((age - p->origin_ns) / BIN_NS, -FAR_BINS), FAR_BINS);
    if (position >= 0.02 * FOLIOT__PLAYOUT_BINS && position < 0.9 * FOLIOT__PLAYOUT_BINS)
        return;
    long shift = lround(position - 0.25 * FOLIOT__PLAYOUT_BINS);
    float moved[FOLIOT__PLAYOUT_BINS] = {0};
    for (long i = 0; i < FOLIOT__PLAYOUT_BINS; i++)
        if (i - shift >= 0 && i - shift < FOLIOT__PLAYOUT_BINS)
            moved[i - shift] = p->seen[i];
    memcpy(p->seen, moved, sizeof moved);
    p->highest = FOLIOT__PLAYOUT_BINS - 1;
    p->origin_ns += (double)shift * BIN_NS;
    p->total = 0;
    for (int i = 0; i < FOLIOT__PLAYOUT_BINS; i++)
        p->total += p->seen[i];
}

static int bin_of(const foliot__playout *p, double age)
{
    double bin = (age - p->origin_ns) / BIN_NS;
    return bin < 0 ? 0 : bin >= FOLIOT__PLAYOUT_BINS ? FOLIOT__PLAYOUT_BINS - 1 : (int)bin;
}

// The age grew evenly from `from` to `to`. Instead of decaying all bins, new weight counts more.
static void add_time(foliot__playout *p, double from, double to)
{
    p->decay_unit *= exp2((to - from) / HALF_LIFE_NS);
    p->long_passed_ns += to - from;
    if (p->long_passed_ns >= LONG_EVERY_NS) { // long ages count less
        float kept = (float)exp2(-p->long_passed_ns / LONG_HALF_LIFE_NS);
        p->long_passed_ns = 0;
        for (int i = bin_of(p, p->fastest_ns + LONG_NS) + 1; i <= p->highest; i++) {
            p->total -= p->seen[i] * (1 - kept);
            p->seen[i] *= kept;
        }
    }
    int first = bin_of(p, from), last = bin_of(p, to);
    if (last > p->highest)
        p->highest = last;
    for (int i = first; i <= last; i++) {
        double low = p->origin_ns + i * BIN_NS, high = low + BIN_NS;
        double share = fmin(to, high) - fmax(from, low);
        if (first == last || share > 0) {
            double weight = (first == last ? to - from : share) * p->decay_unit;
            p->seen[i] += (float)weight;
            p->total += weight;
        }
    }
    if (p->decay_unit > 1e6) {
        for (int i = 0; i < FOLIOT__PLAYOUT_BINS; i++)
            p->seen[i] *= 1e-6f;
        p->total *= 1e-6;
        p->decay_unit *= 1e-6;
    }
}

// The age that is exceeded for the starved share of the time.
static double quantile(const foliot__playout *p)
{
    double above = 0, allowed = p->total * p->starved_share * CAUTION;
    for (int i = p->highest; i >= 0; i--) {
        if (above + p->seen[i] > allowed) {
            double part = p->seen[i] > 0 ? (allowed - above) / p->seen[i] : 0;
            return p->origin_ns + (i + 1 - part) * BIN_NS;
        }
        above += p->seen[i];
    }
    return p->origin_ns;
}

static void choose_target(foliot__playout *p)
{
    double seen_ns = p->total / p->decay_unit;
    double fresh = seen_ns < FRESH_NS ? 1 - seen_ns / FRESH_NS : 0;
    double likely = p->total > 0 ? quantile(p) : p->fastest_ns + 2 * p->tick_ns;
    double offset = likely + fresh * FRESH_MARGIN_NS;
    p->target_ns =
        fmin(fmax(offset, p->fastest_ns + p->delay_min_ns), p->fastest_ns + p->delay_max_ns);
}

// Earlier ages do not predict later ones.
static void forget_ages(foliot__playout *p, uint64_t now_ns, double age)
{
    p->settled_ns = p->least_since_ns = now_ns;
    p->settled_age_ns = p->fastest_ns = p->least_ns[0] = p->least_ns[1] = age;
    if (p->total > 0)
        memset(p->seen, 0, sizeof p->seen);
    p->total = p->lateness_count = p->lateness_mean = p->lateness_square = 0;
}

void foliot__playout_arrived(foliot__playout *p, uint64_t now_ns, uint64_t tick, bool timely,
                             uint32_t path)
{
    double age = (double)now_ns - (double)tick * p->tick_ns;
    if (!p->started) {
        p->started = true;
        p->origin_ns = age - 0.25 * FOLIOT__PLAYOUT_BINS * BIN_NS;
    }
    bool stopped = now_ns - p->newest_ns > STOP_NS,
         changed = (double)tick > p->newest_tick && path != p->path,
         joins = now_ns - p->started_ns < JOIN_NS && age < p->settled_age_ns - p->tick_ns;
    if (!p->timely)
        p->newest_tick = -1;
    if (!p->timely || stopped)
        p->started_ns = now_ns;
    if (stopped)
        p->has_render = false; // it continued without the server
    if (!p->timely || stopped || changed || joins)
        forget_ages(p, now_ns, age);
    p->timely |= timely;
    // Mean and variance over about the last 256 arrivals (Welford's, with a floor on the weight).
    p->lateness_count = fmin(p->lateness_count + 1, 256);
    double difference = age - p->lateness_mean;
    p->lateness_mean += difference / p->lateness_count;
    p->lateness_square +=
        (difference * (age - p->lateness_mean) - p->lateness_square) / p->lateness_count;
    // The fastest of this window and of the one before: one arrival that was taken for earlier than
    // it was, or a server that resumes later after a pause, does not count for long.
    uint64_t window = now_ns - p->started_ns < LEAST_NS ? LEAST_JOIN_NS : LEAST_NS;
    if (now_ns - p->least_since_ns > window) {
        p->least_ns[0] = p->least_ns[1];
        p->least_ns[1] = age;
        p->least_since_ns = now_ns;
    }
    p->least_ns[1] = fmin(p->least_ns[1], age);
    p->fastest_ns = fmin(p->least_ns[0], p->least_ns[1]);
    if ((double)tick <= p->newest_tick)
        return;
    double before = (double)p->newest_ns - p->newest_tick * p->tick_ns;
    double grown = before + (double)(now_ns - p->newest_ns);
    recentre(p, p->newest_tick >= 0 ? grown : age);
    if (now_ns - p->settled_ns > WARM_UP_NS)
        add_time(p, before, grown);
    p->newest_ns = now_ns;
    p->newest_tick = (double)tick;
    p->path = path;
    choose_target(p);
}

double foliot__playout_render(foliot__playout *p, uint64_t now_ns)
{
    if (!p->has_render) {
        p->has_render = true;
        p->offset_ns = p->target_ns;
        p->render_tick = ((double)now_ns - p->offset_ns) / p->tick_ns;
    } else if (now_ns > p->render_ns) {
        double off = p->target_ns - p->offset_ns, passed = (double)(now_ns - p->render_ns);
        if (fabs(off) > SNAP_TICKS * p->tick_ns) {
            p->offset_ns = p->target_ns;
            p->snaps++;
        } else {
            // Half of the error within a second, at most the allowed pace.
            bool settles = off < -SETTLE_LEAST_NS && now_ns - p->settled_ns < SETTLE_NS &&
                           p->settled_ns - p->started_ns < JOIN_NS;
            double step = off * fmin(1, passed * (settles ? SETTLE_GAIN : 0.7e-9)),
                   limit = (settles ? SETTLE_PACE : PACE_MAX) * passed;
            p->offset_ns += fmin(fmax(step, -limit), limit);
        }
        double tick = ((double)now_ns - p->offset_ns) / p->tick_ns;
        p->render_tick = fmax(tick, p->render_tick);
    }
    p->render_ns = now_ns;
    return p->render_tick;
}

double foliot__playout_delay_ms(const foliot__playout *p)
{
    return (p->offset_ns - p->fastest_ns) * 1e-6;
}

double foliot__playout_jitter_ms(const foliot__playout *p)
{
    return sqrt(fmax(p->lateness_square, 0)) * 1e-6;
}
