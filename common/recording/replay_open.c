// SPDX-License-Identifier: MIT
// replay_open.c: opens a recording: its header, scene and world, or the simulation of another
// kind, and the index of its keyframes. Nothing is used before it is checked.
#include "recording/replay.h"

#include "base/bytes.h"
#include "base/file.h"
#include "recording/block_content.h"
#include "foliot/query.h"
#include "sim/state/state.h"
#include "sim/world/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A few bytes of header can request any capacity. Memory that a world does not touch costs nothing;
// this bounds the memory that a file can make it touch: four times the need of the largest scene.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define WORLD_BYTES_MAX ((size_t)64 << 20)
#else
#define WORLD_BYTES_MAX ((size_t)3 << 30)
#endif

static foliot_status refuse_header(foliot_damage *damage, foliot_status status, const char *reason)
{
    return foliot__damage_set(damage, status, 0, FOLIOT__RECORDING_START_BYTES, "%s", reason);
}

static uint32_t at_most(uint32_t value, uint64_t most)
{
    return value < most ? value : (uint32_t)most;
}

// The capacities of the recorded world, limited to what the scene can use: its own forces,
// constraints, players and spawn points; its own bodies where nothing takes commands; at most one
// contact set for each pair. Room beyond that changes no run.
static foliot_world_config bounded_capacities(const foliot_scene *scene, const uint32_t header[6])
{
    const foliot_world_config needed = foliot_world_config_default(scene);
    foliot_world_config bounded = needed;
    bounded.bodies_max = scene->commands_max ? header[0] : at_most(header[0], needed.bodies_max);
    bounded.forces_max = at_most(header[1], needed.forces_max);
    bounded.constraints_max = at_most(header[2], needed.constraints_max);
    bounded.players_max = at_most(header[4], needed.players_max);
    bounded.spawns_max = at_most(header[5], needed.spawns_max);
    uint64_t pairs = 4 * (uint64_t)bounded.bodies_max * bounded.bodies_max; // and rows to spare
    if (pairs < FOLIOT_HIT_EVENTS_MAX) // as many hits are kept as there is room for contacts
        pairs = FOLIOT_HIT_EVENTS_MAX;
    bounded.contacts_max =
        at_most(header[3], pairs > needed.contacts_max ? pairs : needed.contacts_max);
    return bounded;
}

static foliot_status decode_scene(foliot_replay *replay, foliot_damage *damage)
{
    const foliot__recording_header *header = &replay->header;
    foliot_status status = foliot_scene_decode(header->scene, header->scene_bytes, &replay->scene);
    if (status == FOLIOT_STATUS_TRUNCATED || status == FOLIOT_STATUS_CORRUPT)
        return refuse_header(damage, FOLIOT_STATUS_CORRUPT, "the scene is malformed");
    if (status == FOLIOT_STATUS_NEWER)
        return refuse_header(damage, status, "the scene has a newer format than this build reads");
    if (status == FOLIOT_STATUS_MEMORY)
        return refuse_header(damage, status, "no memory");
    if (status != FOLIOT_STATUS_OK)
        return refuse_header(damage, FOLIOT_STATUS_UNSUPPORTED,
                             "this build does not admit the scene");
    const foliot_scene *scene = replay->scene;
    const foliot_integrator_info *integrator = foliot_integrator_get_info(scene->integrator);
    if (!integrator)
        return refuse_header(damage, FOLIOT_STATUS_UNSUPPORTED,
                             "this build does not know the integrator");
    if (strcmp(integrator->name, header->integrator) != 0 || header->seed != scene->seed ||
        foliot__f64_bits(header->dt) != foliot__f64_bits(scene->dt))
        return refuse_header(damage, FOLIOT_STATUS_CORRUPT,
                             "header and scene contradict each other");
    replay->capacities = bounded_capacities(scene, header->capacities);
    replay->world_bytes = foliot_world_config_get_bytes(&replay->capacities);
    return FOLIOT_STATUS_OK;
}

static void fill_summary(foliot_replay *replay)
{
    const foliot__recording_header *header = &replay->header;
    foliot_replay_summary *about = &replay->about;
    *about =
        (foliot_replay_summary){.format = header->format,
                                .features = header->features,
                                .rules = foliot_world_kind.version,
                                .setup = header->scene,
                                .setup_bytes = header->scene_bytes,
                                .scene = replay->scene,
                                .dt = header->dt,
                                .seed = header->seed,
                                .fingerprint = foliot__recording_digest_of(header->fingerprint),
                                .first_tick = header->tick,
                                .last_tick = header->tick,
                                .bytes = replay->source.length};
    bool foreign = header->features & FOLIOT_RECORDING_SIMULATION;
    if (foreign)
        about->rules = header->simulation_version;
    snprintf(about->kind, sizeof about->kind, "%s",
             foreign ? header->simulation : foliot_world_kind.name);
    memcpy(about->integrator, header->integrator, sizeof about->integrator);
    memcpy(about->build, header->build, sizeof about->build);
    memcpy(about->version, header->version, sizeof about->version);
    memcpy(about->rules_name, header->rules_name, sizeof about->rules_name);
    memcpy(about->rules_build, header->rules_build, sizeof about->rules_build);
    about->rules_version = header->rules_version;
    about->rules_text = (const char *)header->rules_text;
    about->rules_text_bytes = header->rules_text_bytes;
}

// Takes the index of the closing block, or makes one by reading everything.
static foliot_status load_index(foliot_replay *replay)
{
    foliot__recording_content closing = {0};
    foliot_status status = FOLIOT_STATUS_OK;
    if (foliot__recording_closing(&replay->source, &closing) &&
        closing.tick >= replay->about.first_tick && closing.index_count > 0) {
        replay->index = closing.index;
        replay->index_count = replay->index_capacity = closing.index_count;
        closing.index = NULL;
        replay->about.closed = true;
        replay->about.last_tick = closing.tick;
        replay->about.final_digest = foliot__recording_digest_of(closing.closing_digest);
    } else {
        status = foliot_replay_scan(replay);
        status = status == FOLIOT_STATUS_MEMORY ? status : FOLIOT_STATUS_OK;
    }
    foliot__recording_content_free(&closing);
    return status;
}

// Which kinds of simulation the caller accepts.
typedef struct opener {
    const foliot_simulation_kind *kind; // NULL: all
    bool look;                          // no simulation is made of any
} opener;

static foliot_status refuse_kind(const foliot__recording_header *header, const opener *opening,
                                 foliot_damage *damage)
{
    char reason[160];
    if (!(header->features & FOLIOT_RECORDING_SIMULATION))
        snprintf(reason, sizeof reason, "a recording of a world, not of %.40s",
                 opening->kind->name);
    else if (strcmp(opening->kind->name, header->simulation) == 0)
        snprintf(reason, sizeof reason,
                 "recorded by version %" PRIu32 " of the rules of %.60s, and these are version "
                 "%" PRIu32,
                 header->simulation_version, header->simulation, opening->kind->version);
    else
        snprintf(reason, sizeof reason,
                 "a recording of %.60s version %" PRIu32 ": only its own program can replay it",
                 header->simulation, header->simulation_version);
    return refuse_header(damage, FOLIOT_STATUS_UNSUPPORTED, reason);
}

static foliot_status open_foreign(foliot_replay *replay, const opener *opening,
                                  foliot_damage *damage)
{
    const foliot__recording_header *header = &replay->header;
    const foliot_simulation_kind *kind = opening->kind;
    if (!kind)
        return FOLIOT_STATUS_OK;
    if (strcmp(kind->name, header->simulation) != 0 || kind->version != header->simulation_version)
        return refuse_kind(header, opening, damage);
    replay->kind = kind;
    foliot_status status = foliot__replay_new(replay, &replay->simulation);
    if (status == FOLIOT_STATUS_MEMORY)
        return refuse_header(damage, status, "no memory for the simulation");
    return status == FOLIOT_STATUS_OK
               ? status
               : refuse_header(damage, FOLIOT_STATUS_CORRUPT, "its simulation refuses the setup");
}

static foliot_status open_world(foliot_replay *replay, const opener *opening, foliot_damage *damage)
{
    if (opening->kind && strcmp(opening->kind->name, foliot_world_kind.name) != 0)
        return refuse_kind(&replay->header, opening, damage);
    foliot_status status = decode_scene(replay, damage);
    if (status != FOLIOT_STATUS_OK)
        return status;
    // The head of a world without its tables is enough to check the bytes of keyframes.
    replay->outline = calloc(1, sizeof *replay->outline);
    if (!replay->outline)
        return refuse_header(damage, FOLIOT_STATUS_MEMORY, "no memory");
    status = FOLIOT_STATUS_INVALID;
    if (replay->world_bytes)
        status = foliot__world_outline(replay->outline, &replay->capacities, replay->scene);
    if (status == FOLIOT_STATUS_INVALID)
        return refuse_header(damage, FOLIOT_STATUS_CORRUPT,
                             "scene or capacities are outside their ranges");
    if (status != FOLIOT_STATUS_OK)
        return refuse_header(damage, FOLIOT_STATUS_UNSUPPORTED, foliot_status_get_text(status));
    if (opening->look)
        return FOLIOT_STATUS_OK;
    replay->kind = &foliot_world_kind;
    if (replay->world_bytes > WORLD_BYTES_MAX)
        return refuse_header(damage, FOLIOT_STATUS_UNSUPPORTED,
                             "its world needs more memory than a replay takes");
    status = foliot__replay_new(replay, &replay->simulation);
    if (status == FOLIOT_STATUS_MEMORY)
        return refuse_header(damage, status, "no memory for the world");
    if (status != FOLIOT_STATUS_OK)
        return refuse_header(damage, FOLIOT_STATUS_UNSUPPORTED, foliot_status_get_text(status));
    return FOLIOT_STATUS_OK;
}

static foliot_status open_source(foliot_replay *replay, const opener *opening,
                                 foliot_damage *damage)
{
    foliot_status status = foliot__block_reader_begin(&replay->reader, &replay->source,
                                                      &replay->header, &replay->content, damage);
    if (status == FOLIOT_STATUS_OK)
        status = replay->header.features & FOLIOT_RECORDING_SIMULATION
                     ? open_foreign(replay, opening, damage)
                     : open_world(replay, opening, damage);
    if (status != FOLIOT_STATUS_OK)
        return status;
    fill_summary(replay);
    status = load_index(replay);
    if (status != FOLIOT_STATUS_OK)
        return refuse_header(damage, status, foliot_status_get_text(status));
    if (!replay->simulation.self)
        return FOLIOT_STATUS_OK;
    status = foliot__replay_rewind(replay);
    *damage = replay->damage;
    // A scene alone is a state, at tick 0; later ones need their keyframe.
    return status != FOLIOT_STATUS_OK && replay->header.tick > 0 ? status : FOLIOT_STATUS_OK;
}

static foliot_status open_replay(foliot_replay *replay, const opener *opening, foliot_replay **out,
                                 foliot_damage *damage)
{
    foliot_damage local = {0};
    foliot_status status = open_source(replay, opening, &local);
    if (status != FOLIOT_STATUS_OK)
        foliot_replay_close(replay);
    else
        *out = replay;
    if (damage)
        *damage = local;
    return status;
}

static foliot_status open_file(const char *file, const opener *opening, foliot_replay **out,
                               foliot_damage *damage)
{
    foliot_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return FOLIOT_STATUS_MEMORY;
    errno = 0;
    foliot_status status = foliot__byte_source_open(&replay->source, file);
    int error = errno;
    if (status == FOLIOT_STATUS_OK)
        return open_replay(replay, opening, out, damage);
    if (damage) {
        *damage = (foliot_damage){.status = status};
        snprintf(damage->text, sizeof damage->text, "%s",
                 status == FOLIOT_STATUS_IO && error ? foliot__file_problem(error)
                                                     : foliot_status_get_text(status));
    }
    free(replay);
    errno = error;
    return status;
}

foliot_status foliot_replay_open_bytes(const void *bytes, size_t length,
                                       const foliot_simulation_kind *kind, foliot_replay **out,
                                       foliot_damage *damage)
{
    foliot_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return FOLIOT_STATUS_MEMORY;
    foliot__byte_source_of(&replay->source, bytes, length);
    return open_replay(replay, &(opener){.kind = kind}, out, damage);
}

foliot_status foliot_replay_open(const char *file, const foliot_simulation_kind *kind,
                                 foliot_replay **out, foliot_damage *damage)
{
    return open_file(file, &(opener){.kind = kind}, out, damage);
}

foliot_status foliot__replay_look(const char *file, foliot_replay **out, foliot_damage *damage)
{
    return open_file(file, &(opener){.look = true}, out, damage);
}

void foliot_replay_close(foliot_replay *replay)
{
    foliot__byte_source_close(&replay->source);
    foliot__recording_header_free(&replay->header);
    foliot__recording_content_free(&replay->content);
    foliot_simulation_destroy(&replay->simulation);
    foliot_simulation_destroy(&replay->probe);
    foliot_scene_destroy(replay->scene);
    free(replay->outline);
    free(replay->index);
    foliot__buffer_free(&replay->segment.keyframe.state);
    foliot__buffer_free(&replay->segment.keyframe.compressed);
    foliot__buffer_free(&replay->segment.keyframe.rules);
    free(replay->journal);
    free(replay);
}
