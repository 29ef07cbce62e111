// SPDX-License-Identifier: MIT
// seed_interest.c: the last states that a client of a session with interest was sent are the
// server's of that tick, coarse at most, and none was beyond `far` of the client's body.
#include "seed_run.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "../../client/lib/shared/internal.h"
#undef FOLIOT__CHANGES_HELD // both sides hold changes
#include "../../server/lib/interest_view.h"
#include "../../server/lib/fanout.h"
#include "../../server/lib/session.h"

#define COARSE_STEPS 2              // that a position may be off
#define FOCUS_NS (SEED_SECOND / 10) // between two changes of a focus

static const foliot__session *session_of(const seed_run *run, uint32_t s)
{
    for (uint32_t i = 0; run->server && i < FOLIOT_SESSIONS_MAX; i++) {
        const foliot__session *session = run->server->sessions[i];
        if (session && session->world == run->hosts[s].world)
            return session;
    }
    return NULL;
}

static double steps_squared(const int32_t a[3], const int32_t b[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
    return sum;
}

static void check_state(seed_run *run, const seed_caller *c, uint32_t slot,
                        const foliot__track_state *has, const foliot_snapshot_body *is)
{
    for (int k = 0; k < 3; k++)
        if (llabs((int64_t)has->body.position[k] - is->position[k]) > COARSE_STEPS)
            seed_fail(run, "client %u: body %u of tick %llu is not where the server had it",
                      c->index, slot, (unsigned long long)has->tick);
    if (has->body.flags != is->flags || has->body.generation != is->generation)
        seed_fail(run, "client %u: body %u of tick %llu is another", c->index, slot,
                  (unsigned long long)has->tick);
}

void seed_check_interest(seed_run *run, seed_caller *c)
{
    const foliot__tracks *t = c->client->tracks;
    const seed_host *h = &run->hosts[c->plan->session];
    if (!t || !t->has_newest || t->newest == c->looked_tick || h->anew || h->era > 0 ||
        run->job_count > 0 || c->plan->kind == SEED_SICK)
        return;
    c->looked_tick = t->newest;
    const foliot__session *session = session_of(run, c->plan->session);
    const foliot_snapshot *then = session ? foliot__fanout_find(session, t->newest) : NULL;
    if (!then)
        return;
    uint32_t player = foliot_client_get_player(c->client),
             own = player < FOLIOT_PLAYERS_MAX && c->player == player
                       ? player_slot(h->world, player)
                       : FOLIOT_NO_BODY;
    bool seen = own < then->count && (then->bodies[own].flags & FOLIOT_SNAPSHOT_ALIVE);
    double far = h->plan->interest_far / session->snapshots.format.position_step;
    for (uint32_t slot = 0; slot < t->count; slot++) {
        const foliot__track *track = &t->tracks[slot];
        const foliot__track_state *has = track->count > 0 ? &track->states[track->count - 1] : NULL;
        if (!has || has->tick != then->tick || slot >= then->count)
            continue;
        check_state(run, c, slot, has, &then->bodies[slot]);
        if (seen && steps_squared(then->bodies[slot].position, then->bodies[own].position) >
                        far * far * (1 + 1e-9))
            seed_fail(run, "client %u: body %u is beyond what it may see", c->index, slot);
        run->result.tally.interest_states++;
    }
}

void seed_check_foci(seed_run *run, uint32_t s)
{
    const foliot__session *session = session_of(run, s);
    for (const foliot__peer *peer = session ? session->peers : NULL; peer; peer = peer->next) {
        size_t index = (size_t)(peer - run->server->peers);
        if (index >= SEED_FOCI || !peer->interest || run->job_count > 0)
            continue;
        struct seed_focus *had = &run->foci[index];
        uint64_t now_ns = peer->interest->focus_ns,
                 id = peer->id.value ^ (uint64_t)run->generation << 48;
        if (had->peer == id && had->changed_ns && now_ns != had->changed_ns) {
            run->result.tally.foci++;
            if (now_ns - had->changed_ns < FOCUS_NS)
                seed_fail(run, "a spectator looks elsewhere after %llu ns",
                          (unsigned long long)(now_ns - had->changed_ns));
        }
        *had = (struct seed_focus){id, now_ns};
    }
}
