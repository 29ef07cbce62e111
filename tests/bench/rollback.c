// SPDX-License-Identifier: MIT
// rollback.c: what prediction is worth, and what it costs: the ready scene cubes with two bots, on
// a virtual clock, ten seeds a network. The server is updated every millisecond and each client
// once a frame of 1/60 s. Truth is the server's world of the same tick. Cubes count where they
// move. Round trips are means, with their jitter. `rollback --keys` measures key to screen alone
// (scripts/prediction_plot.sh).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../client/lib/shared/internal.h"
#include "cluster.h"
#include "base/assert.h"
#include "bench.h"
#include "foliot/scene.h"
#include "status.h"
#include "slots.h"

#define SEEDS 10
#define WARM_FRAMES 360
#define FRAMES 1800
#define HISTORY 256 // ticks
#define BODIES 920
#define MOVES 0.01 // metres a second: what is slower rests
#define BINS 20000 // of a tenth of a millimetre

typedef enum kind { WATCHER, STEPPER, PREDICTOR, KINDS } kind;
static const char *const kind_names[KINDS] = {"snapshots", "lockstep", "prediction"};

typedef struct spread {
    uint64_t count, bins[BINS];
    double sum, most;
} spread;

static void put(spread *s, double millimetres)
{
    double bin = millimetres * 10;
    s->count++;
    s->sum += millimetres;
    s->most = fmax(s->most, millimetres);
    s->bins[bin < BINS - 1 ? (uint32_t)bin : BINS - 1]++;
}

static double mean(const spread *s)
{
    return s->count ? s->sum / (double)s->count : 0;
}

static double quantile(const spread *s, double share)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < BINS; i++) {
        seen += s->bins[i];
        if (s->count && (double)seen >= share * (double)s->count)
            return (i + 1) / 10.0;
    }
    return 0;
}

typedef struct places {
    uint64_t tick;
    uint32_t count;
    double at[BODIES][3];
    bool moves[BODIES];
} places;

typedef struct run {
    cluster *a;
    places truth[HISTORY], guess[HISTORY];
    uint64_t compared, looked; // ticks
    // The offset that was added to the other player's body in the last frame.
    double offset[3];
    bool shows; // there was one
    uint64_t key_ns, frame_before, step_before;
    bool key;
} run;

typedef struct figures {
    spread own, other, cubes; // distance of what was predicted first from what was
    spread own_moved, other_moved, cubes_moved; // by the correction of a frame; 0 in most
    spread shown, keys, steps, frame_us;
    double corrections, rollbacks, seconds, early_bytes, relay_bytes, delay, ahead, late;
} figures;

static bool moves(const foliot_body_state *s)
{
    return (s->flags & FOLIOT_BODY_ALIVE) && !(s->flags & FOLIOT_BODY_STATIC) &&
           fabs(s->velocity[0]) + fabs(s->velocity[1]) + fabs(s->velocity[2]) > MOVES;
}

static void take_places(const foliot_world *world, places *p)
{
    p->tick = foliot_world_get_tick(world);
    p->count = foliot_world_get_body_count(world);
    for (uint32_t i = 0; i < p->count && i < BODIES; i++) {
        foliot_body_state s = slot_state(world, i);
        memcpy(p->at[i], s.position, sizeof s.position);
        p->moves[i] = moves(&s);
    }
}

static double apart(const double a[3], const double b[3])
{
    return 1e3 * sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                      (a[2] - b[2]) * (a[2] - b[2]));
}

static const foliot_world *world_of(const foliot_simulation *simulation)
{
    return simulation ? ((const foliot_hosted_world *)simulation->self)->world : NULL;
}

// Ticks that were predicted, against what they were.
static void compare(run *r, figures *f, uint32_t own, uint32_t other)
{
    for (; r->compared < r->truth[cluster_get_tick(r->a) % HISTORY].tick; r->compared++) {
        const places *truth = &r->truth[r->compared % HISTORY],
                     *guess = &r->guess[r->compared % HISTORY];
        if (truth->tick != r->compared || guess->tick != r->compared)
            continue;
        for (uint32_t i = 0; i < truth->count && i < guess->count; i++)
            if (i == own || i == other)
                put(i == own ? &f->own : &f->other, apart(truth->at[i], guess->at[i]));
            else if (truth->moves[i])
                put(&f->cubes, apart(truth->at[i], guess->at[i]));
    }
}

// Where a line had a body at a tick between its last two.
static void place_of(const foliot__prediction_view *view, uint32_t line, double tick, uint32_t slot,
                     double at[3])
{
    const foliot__predicted_tick *now = &view->ticks[line][1], *before = &view->ticks[line][0];
    double u = before->tick == UINT64_MAX ? 1 : fmin(fmax(1 - ((double)now->tick - tick), 0), 1);
    for (int k = 0; k < 3; k++)
        at[k] = u * now->bodies[slot].state.position[k] +
                (u < 1 ? (1 - u) * before->bodies[slot].state.position[k] : 0);
}

// Displacements by the replacements of this frame, for each body, before they are smoothed.
static struct replaced {
    void (*then)(void *user);
    double moved[BODIES]; // millimetres
    double other[3];      // metres, where it is shown
    uint32_t other_slot;
} replaced;

// The shadow takes the predicted world's place; both are at the same tick.
static void take_replacement(void *user)
{
    const foliot_client *c = user;
    const foliot__prediction *p = c->predictor.worlds;
    const foliot__prediction_view *view = &c->predictor.view;
    uint32_t index = p->predicted == &p->lines[1];
    const foliot__predicted_tick *now = &view->ticks[index][1], *was = &view->ticks[!index][1];
    double tick = fmax(foliot__prediction_clock_shown(&c->predictor.clock), c->shown_tick), at[3],
           before[3];
    for (uint32_t i = 0; i < now->count && i < was->count && i < BODIES; i++)
        replaced.moved[i] += apart(now->bodies[i].state.position, was->bodies[i].state.position);
    if (replaced.other_slot < now->count && replaced.other_slot < was->count) {
        place_of(view, index, tick, replaced.other_slot, at);
        place_of(view, !index, tick, replaced.other_slot, before);
        for (int k = 0; k < 3; k++)
            replaced.other[k] += at[k] - before[k];
    }
    replaced.then(user);
}

static void watch_replacements(foliot_client *c, uint32_t other)
{
    foliot__prediction *p = c->predictor.worlds;
    if (p && p->replaced != take_replacement) {
        replaced.then = p->replaced;
        p->replaced = take_replacement;
    }
    memset(replaced.moved, 0, sizeof replaced.moved);
    memset(replaced.other, 0, sizeof replaced.other);
    replaced.other_slot = other;
}

// How far a frame moves the other player's body by nothing but a correction.
static void watch_correction(run *r, figures *f, const foliot_client *c, uint32_t other)
{
    const foliot__prediction_view *view = &c->predictor.view;
    double offset[3] = {0}, moved[3];
    foliot_body_state state = {.orientation = {1, 0, 0, 0}};
    foliot__error_smoothing_apply(&view->smoothing, other, &state);
    memcpy(offset, state.position, sizeof offset);
    for (int k = 0; k < 3; k++)
        moved[k] = replaced.other[k] + offset[k] - r->offset[k];
    if (r->shows)
        put(&f->shown, apart(moved, (double[3]){0, 0, 0}));
    r->shows = true;
    memcpy(r->offset, offset, sizeof offset);
}

// How far the correction of this frame moves bodies, before it is smoothed.
static void measure_correction(figures *f, const foliot_client *c, uint32_t own, uint32_t other)
{
    const foliot__prediction *p = c->predictor.worlds;
    const foliot__predicted_tick *now =
        &c->predictor.view.ticks[foliot__prediction_shown(p) == &p->lines[1]][1];
    for (uint32_t i = 0; i < now->count && i < BODIES; i++)
        if (i == own || i == other)
            put(i == own ? &f->own_moved : &f->other_moved, replaced.moved[i]);
        else if (moves(&now->bodies[i].state))
            put(&f->cubes_moved, replaced.moved[i]);
}

static double processor_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static uint64_t steps_of(const foliot_client *c)
{
    foliot_client_statistics s = foliot_client_get_statistics(c);
    return s.ticks_stepped + s.ticks_predicted;
}

// The first client's frame is over.
static void look(run *r, figures *f)
{
    foliot_client *c = r->a->clients[0];
    foliot_sample sample;
    if (foliot_client_sample(c, r->a->now_ns, &sample) != FOLIOT_STATUS_OK)
        return;
    if (r->key && c->latency.key == FOLIOT__KEY_NONE) {
        put(&f->keys, (double)(r->a->now_ns - r->key_ns) * 1e-6);
        r->key = false;
    }
    uint64_t steps = steps_of(c);
    put(&f->steps, (double)(steps - r->step_before));
    r->step_before = steps;
    const foliot_world *predicted = world_of(foliot_client_get_predicted(c)),
                       *truth = foliot_server_get_world(r->a->server, "main");
    uint32_t player = foliot_client_get_player(c);
    if (!predicted)
        return;
    uint32_t own = player_slot(truth, player), other = player_slot(truth, !player);
    if (other == FOLIOT_NO_BODY || other >= foliot_world_get_body_count(predicted))
        return;
    places now;
    take_places(predicted, &now);
    if (now.tick > r->looked) { // as it was shown first
        r->guess[now.tick % HISTORY] = now;
        r->looked = now.tick;
    }
    compare(r, f, own, other);
    measure_correction(f, c, own, other);
    watch_correction(r, f, c, other);
    watch_replacements(c, other);
    f->ahead += foliot_client_get_statistics(c).prediction_ticks;
    f->delay += foliot_client_get_statistics(c).input_delay_ticks;
}

// Every millisecond the server; each client once a frame, at its own time.
static void pass_frame(run *r, figures *f, int frame, bool counts)
{
    static figures unused;
    cluster *a = r->a;
    int from = frame * 50 / 3, to = (frame + 1) * 50 / 3;
    for (int ms = from; ms < to; ms++) {
        a->asleep[0] = ms != from + 5;
        a->asleep[1] = ms != from + 11;
        bool waited = a->clients[0]->latency.key != FOLIOT__KEY_NONE;
        double began = processor_us();
        cluster_run(a, 0.001);
        a->now_ns -= 1000000; // still in that millisecond
        if (ms == from + 5) {
            put(counts ? &f->frame_us : &unused.frame_us, 0.1 * (processor_us() - began));
            if (!waited && a->clients[0]->latency.key != FOLIOT__KEY_NONE && !r->key) {
                r->key = true;
                r->key_ns = a->now_ns;
            }
            look(r, counts ? f : &unused);
        }
        a->now_ns += 1000000;
        if (cluster_get_tick(a) != r->truth[cluster_get_tick(a) % HISTORY].tick)
            take_places(foliot_server_get_world(a->server, "main"),
                        &r->truth[cluster_get_tick(a) % HISTORY]);
    }
}

static void play(const foliot_scene *scene, kind what, const char *network, int seed, bool alone,
                 int frames, figures *f)
{
    cluster_options options = {.scene = scene, .players = 2, .snapshots = what == WATCHER};
    run *r = calloc(1, sizeof *r);
    char impairment[128];
    foliot_client_config config = foliot_client_config_default();
    FOLIOT_ASSERT(r);
    config.predicts = what == PREDICTOR;
    r->a = cluster_create(&options);
    r->a->rng = foliot__rng_seeded((uint64_t)seed);
    r->compared = 1;
    snprintf(impairment, sizeof impairment, "%s,seed=%d", network, 1000 * seed);
    for (int i = 0; i < 2 - alone; i++)
        cluster_join(r->a, impairment, &config);
    if (alone)
        cluster_spectator(r->a, "delay=1ms"); // somebody for the other place
    for (int i = 0; i < WARM_FRAMES; i++)
        pass_frame(r, f, i, false);
    foliot_client_statistics before = cluster_get_statistics(r->a, 0);
    foliot_server_counters counted = *cluster_get_counters(r->a);
    for (int i = 0; i < frames; i++)
        pass_frame(r, f, WARM_FRAMES + i, true);
    foliot_client_statistics seen = cluster_get_statistics(r->a, 0);
    const foliot_server_counters *now = cluster_get_counters(r->a);
    f->corrections += (double)(seen.corrections_own - before.corrections_own);
    f->rollbacks += (double)(seen.rollbacks - before.rollbacks);
    f->late += (double)(seen.inputs_late - before.inputs_late);
    f->seconds += frames / 60.0;
    f->early_bytes += (double)(now->early_bytes_sent - counted.early_bytes_sent);
    f->relay_bytes += (double)(now->relay_bytes_sent - counted.relay_bytes_sent);
    if (now->divergences)
        fprintf(stderr, "%s, seed %d: %llu divergences\n", network, seed,
                (unsigned long long)now->divergences);
    cluster_destroy(r->a);
    free(r);
}

static void report(const char *network, const char *what, double value, const char *unit)
{
    char name[128];
    snprintf(name, sizeof name, "%s: %s", network, what);
    bench_report("rollback", name, value, unit, NULL, 0);
}

static void measure(const foliot_scene *scene, const char *name, const char *network)
{
    figures *all = calloc(1, sizeof *all), *one = calloc(1, sizeof *one);
    double worst_corrections = 0, worst_own = 0, worst_mean = 0;
    FOLIOT_ASSERT(all && one);
    for (int seed = 1; seed <= SEEDS; seed++) {
        memset(one, 0, sizeof *one);
        play(scene, PREDICTOR, network, seed, false, FRAMES, one);
        worst_corrections = fmax(worst_corrections, one->corrections / one->seconds);
        worst_own = fmax(worst_own, quantile(&one->own_moved, 0.99));
        worst_mean = fmax(worst_mean, mean(&one->own_moved));
        for (size_t i = 0; i < offsetof(figures, corrections) / sizeof(spread); i++) {
            spread *to = &((spread *)all)[i];
            const spread *from = &((spread *)one)[i];
            for (uint32_t b = 0; b < BINS; b++)
                to->bins[b] += from->bins[b];
            to->count += from->count;
            to->sum += from->sum;
            to->most = fmax(to->most, from->most);
        }
        all->rollbacks += one->rollbacks;
        all->seconds += one->seconds;
        all->early_bytes += one->early_bytes;
        all->relay_bytes += one->relay_bytes;
        all->delay += one->delay;
        all->ahead += one->ahead;
        all->late += one->late;
    }
    report(name, "key to own screen, mean", mean(&all->keys), "ms");
    report(name, "key to own screen, most", all->keys.most, "ms");
    report(name, "rollbacks", all->rollbacks / all->seconds, "/s");
    report(name, "own body corrected by > 1 mm, worst seed", worst_corrections, "/s");
    report(name, "own body, mean correction a frame, worst seed", worst_mean, "mm");
    report(name, "own body, p99 correction a frame, worst seed", worst_own, "mm");
    report(name, "cubes that move, mean correction a frame", mean(&all->cubes_moved), "mm");
    report(name, "cubes that move, p99 correction a frame", quantile(&all->cubes_moved, 0.99),
           "mm");
    report(name, "other player, mean correction a frame", mean(&all->other_moved), "mm");
    report(name, "other player, p99 correction a frame", quantile(&all->other_moved, 0.99), "mm");
    report(name, "own body, mean error", mean(&all->own), "mm");
    report(name, "own body, p99 error", quantile(&all->own, 0.99), "mm");
    report(name, "cubes that move, mean error", mean(&all->cubes), "mm");
    report(name, "cubes that move, p99 error", quantile(&all->cubes, 0.99), "mm");
    report(name, "other player, mean error", mean(&all->other), "mm");
    report(name, "other player, p99 error", quantile(&all->other, 0.99), "mm");
    report(name, "other player, largest correction in a frame", all->shown.most, "mm");
    report(name, "steps a frame, mean", mean(&all->steps), "");
    report(name, "steps a frame, most", all->steps.most, "");
    report(name, "frame, p99", quantile(&all->frame_us, 0.99) / 100, "ms");
    report(name, "input delay, mean", all->delay / (double)all->steps.count, "ticks");
    report(name, "ticks ahead, mean", all->ahead / (double)all->steps.count, "");
    report(name, "own inputs late", all->late / all->seconds, "/s");
    report(name, "early relay, share of bytes", 100 * all->early_bytes / all->relay_bytes, "%");
    free(all);
    free(one);
}

static double key_to_screen(const foliot_scene *scene, kind what, int round_trip_ms)
{
    char network[64];
    figures *f = calloc(1, sizeof *f);
    FOLIOT_ASSERT(f);
    int jitter = round_trip_ms < 20 ? 0 : 20;
    snprintf(network, sizeof network, "delay=%gms,jitter=0-%dms,loss=5%%",
             (round_trip_ms - jitter) / 2.0, jitter);
    play(scene, what, network, 1, false, FRAMES / 3, f);
    double key = mean(&f->keys);
    free(f);
    return key;
}

static void measure_keys(const foliot_scene *scene)
{
    static const int round_trips[] = {0, 50, 100, 150, 200, 300};
    for (kind k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof round_trips / sizeof *round_trips; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s, round trip %d ms", kind_names[k], round_trips[i]);
            report(name, "key to own screen", key_to_screen(scene, k, round_trips[i]), "ms");
        }
}

static void measure_alone(const foliot_scene *scene)
{
    figures *f = calloc(1, sizeof *f);
    FOLIOT_ASSERT(f);
    for (int seed = 1; seed <= 3; seed++)
        play(scene, PREDICTOR, "delay=40ms,jitter=0-20ms", seed, true, FRAMES, f);
    report("alone, round trip 100 ms", "own body corrected by > 1 mm", f->corrections / f->seconds,
           "/s");
    report("alone, round trip 100 ms", "own body, largest error", f->own.most, "mm");
    free(f);
}

int main(int argc, char **argv)
{
    foliot_scene *scene;
    foliot_error error;
    if (foliot_scene_read("scenes/cubes.yaml", &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    if (argc < 2 || strcmp(argv[1], "--keys") != 0) {
        measure(scene, "round trip 100 ms, 5 % lost", "delay=40ms,jitter=0-20ms,loss=5%");
        measure(scene, "round trip 200 ms, 5 % lost", "delay=90ms,jitter=0-20ms,loss=5%");
        measure_alone(scene);
    }
    measure_keys(scene);
    foliot_scene_destroy(scene);
    return 0;
}
