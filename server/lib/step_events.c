// SPDX-License-Identifier: MIT
// step_events.c: the events of each step, queued for the host, however many ticks an update
// closes. Runs when a step has finished: the world still has the events of that step alone. Names
// bodies and joints for good, also those that came and went within the step.
#include <stdlib.h>
#include <string.h>

#include "game.h"
#include "session.h"

#define EVENTS_MAX_DEFAULT 1024u

foliot_status foliot__step_events_create(foliot__session *s, const foliot_session_config *config)
{
    foliot__step_events *e = &s->step_events;
    if (!config->step_events)
        return FOLIOT_STATUS_OK;
    uint32_t capacity = config->step_events_max ? config->step_events_max : EVENTS_MAX_DEFAULT;
    e->events = calloc(capacity, sizeof *e->events);
    if (!e->events)
        return FOLIOT_STATUS_MEMORY;
    e->wanted = config->step_events;
    e->capacity = capacity;
    e->world_dropped = foliot_world_get_counters(s->world)->events_dropped;
    return FOLIOT_STATUS_OK;
}

void foliot__step_events_destroy(foliot__step_events *e)
{
    free(e->events);
    free(e->slots_later);
    free(e->joints_later);
    free(e->contacts);
    free(e->sensors);
    *e = (foliot__step_events){0};
}

static void drop(foliot__session *s, uint64_t count)
{
    s->step_events.dropped += count;
    s->server->counters.step_events_dropped += count;
}

static void add(foliot__session *s, const foliot_step_event *event)
{
    foliot__step_events *e = &s->step_events;
    if (e->count == e->capacity) {
        drop(s, 1);
        return;
    }
    e->events[((uint64_t)e->first + e->count++) % e->capacity] = *event;
}

// Room for `count` items of `bytes` bytes, zeroed where it is new. False: there is no memory.
static bool grow(void **items, uint32_t *capacity, uint32_t count, size_t bytes)
{
    if (count <= *capacity)
        return true;
    uint8_t *larger = realloc(*items, (size_t)count * 2 * bytes);
    if (!larger)
        return false;
    memset(larger + *capacity * bytes, 0, (2 * (size_t)count - *capacity) * bytes);
    *items = larger;
    *capacity = count * 2;
    return true;
}

// Counts the generations that the slot or joint row of this event has gone through since. NULL: the
// event concerns neither, or there is no memory to count.
static uint32_t *later_than(foliot__step_events *e, const foliot_event *event)
{
    switch (event->kind) {
    case FOLIOT_EVENT_SPAWN:
    case FOLIOT_EVENT_COMMAND_SPAWN:
    case FOLIOT_EVENT_DESPAWN:
    case FOLIOT_EVENT_FROZEN:
        return grow((void **)&e->slots_later, &e->slot_capacity, event->a + 1,
                    sizeof *e->slots_later)
                   ? &e->slots_later[event->a]
                   : NULL;
    case FOLIOT_EVENT_JOINT:
    case FOLIOT_EVENT_BREAK:
        return grow((void **)&e->joints_later, &e->joint_capacity, event->a + 1,
                    sizeof *e->joints_later)
                   ? &e->joints_later[event->a]
                   : NULL;
    default:
        return NULL;
    }
}

static bool begins_another(const foliot_event *event)
{
    return event->kind == FOLIOT_EVENT_DESPAWN || event->kind == FOLIOT_EVENT_JOINT;
}

static uint32_t ticket_of(const foliot_command *c)
{
    bool spawn = c->kind == FOLIOT_COMMAND_spawn && c->fields & FOLIOT_COMMAND_HAS(spawn, ticket);
    bool joint = c->kind == FOLIOT_COMMAND_joint && c->fields & FOLIOT_COMMAND_HAS(joint, ticket);
    return spawn ? c->as.spawn.ticket : joint ? c->as.joint.ticket : 0;
}

// The command that an event is about. Both lists are in the same order, so the search continues
// from *at, where the last one was found. It is missing only if the world's own list was full.
static void describe_command(foliot__session *s, const foliot_event *event, uint32_t *at,
                             foliot_step_event *out)
{
    const foliot_command_list *list = &s->game.commands;
    foliot_command_kind kind =
        event->kind == FOLIOT_EVENT_JOINT ? FOLIOT_COMMAND_joint : FOLIOT_COMMAND_spawn;
    bool refused = event->kind == FOLIOT_EVENT_COMMAND_REFUSED;
    const foliot_command *found = NULL;
    for (uint32_t i = *at; !found && i < list->count; i++) {
        const foliot_command *c = &list->commands[i];
        if (refused ? c->sequence == event->a : c->kind == kind && ticket_of(c) == event->b) {
            found = c;
            *at = i + 1;
        }
    }
    out->sequence = found ? found->sequence : refused ? event->a : 0;
    out->source = found ? (foliot_command_source)found->source : FOLIOT_COMMAND_SOURCE_HOST;
    out->ticket = found ? ticket_of(found) : 0;
}

static void append_bodies(foliot__session *s, bool complete)
{
    foliot__step_events *e = &s->step_events;
    uint32_t count, at = 0;
    const foliot_event *events = foliot_world_get_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++)
        if (later_than(e, &events[i]) && begins_another(&events[i]))
            ++*later_than(e, &events[i]);
    for (uint32_t i = 0; i < count; i++) {
        const foliot_event *event = &events[i];
        uint32_t *counted = later_than(e, event), later = counted ? *counted : 0;
        foliot_step_event out = {.tick = s->tick, .player = FOLIOT_NO_BODY};
        // A joint is the newest of its row; a body that is removed is the one before the next.
        if (later && begins_another(event))
            --*counted;
        later -= later && event->kind == FOLIOT_EVENT_JOINT;
        bool of_joint = event->kind == FOLIOT_EVENT_JOINT || event->kind == FOLIOT_EVENT_BREAK;
        if (counted && complete && of_joint) {
            uint64_t now = foliot_world_get_joint_id(s->world, event->a).value;
            out.joint = (foliot_joint_id){now ? now - ((uint64_t)later << 32) : 0};
        } else if (counted && complete) {
            uint64_t generation = foliot_world_get_body_generation(s->world, event->a);
            out.body = (foliot_body_id){(generation - later + 1) << 32 | event->a};
        }
        switch ((foliot_event_kind)event->kind) {
        case FOLIOT_EVENT_SPAWN:
            out.kind = FOLIOT_STEP_SPAWNED;
            out.player = event->b;
            break;
        case FOLIOT_EVENT_COMMAND_SPAWN:
            out.kind = FOLIOT_STEP_SPAWNED;
            describe_command(s, event, &at, &out);
            out.ticket = event->b;
            break;
        case FOLIOT_EVENT_DESPAWN:
            out.kind = FOLIOT_STEP_DESPAWNED;
            out.player = event->b;
            break;
        case FOLIOT_EVENT_FROZEN:
            out.kind = FOLIOT_STEP_FROZEN;
            break;
        case FOLIOT_EVENT_JOINT:
            out.kind = FOLIOT_STEP_JOINT;
            describe_command(s, event, &at, &out);
            out.ticket = event->b;
            break;
        case FOLIOT_EVENT_BREAK:
            out.kind = FOLIOT_STEP_JOINT_BROKEN;
            out.reason = event->b;
            break;
        case FOLIOT_EVENT_COMMAND_REFUSED:
            out.kind = FOLIOT_STEP_COMMAND_REFUSED;
            describe_command(s, event, &at, &out);
            out.reason = event->b;
            break;
        case FOLIOT_EVENT_REFUSED: // inputs, and the end of a session: server events report them
        case FOLIOT_EVENT_END:
            continue;
        }
        add(s, &out);
    }
}

static foliot_step_event pair_event(const foliot__session *s, foliot_step_event_kind kind,
                                    uint32_t body, uint32_t other)
{
    return (foliot_step_event){.kind = kind,
                               .tick = s->tick,
                               .player = FOLIOT_NO_BODY,
                               .body = foliot_world_get_body_id(s->world, body),
                               .other = foliot_world_get_body_id(s->world, other)};
}

static void append_contacts(foliot__session *s)
{
    foliot__step_events *e = &s->step_events;
    uint32_t count = foliot_world_get_contact_events(s->world, NULL, 0);
    if (!grow((void **)&e->contacts, &e->contact_capacity, count, sizeof *e->contacts)) {
        drop(s, count);
        return;
    }
    foliot_world_get_contact_events(s->world, e->contacts, count);
    for (uint32_t i = 0; i < count; i++) {
        const foliot_contact_event *c = &e->contacts[i];
        foliot_step_event out = pair_event(s, FOLIOT_STEP_CONTACT, c->a, c->b);
        out.as.contact = *c;
        if (c->change != FOLIOT_CONTACT_PERSIST)
            add(s, &out);
    }
}

static void append_sensors(foliot__session *s)
{
    foliot__step_events *e = &s->step_events;
    uint32_t count = foliot_world_get_sensor_events(s->world, NULL, 0);
    if (!grow((void **)&e->sensors, &e->sensor_capacity, count, sizeof *e->sensors)) {
        drop(s, count);
        return;
    }
    foliot_world_get_sensor_events(s->world, e->sensors, count);
    for (uint32_t i = 0; i < count; i++) {
        foliot_step_event out =
            pair_event(s, FOLIOT_STEP_SENSOR, e->sensors[i].sensor, e->sensors[i].body);
        out.as.sensor = e->sensors[i];
        add(s, &out);
    }
}

void foliot__step_events_append(foliot__session *s)
{
    foliot__step_events *e = &s->step_events;
    if (!e->wanted)
        return;
    uint64_t lost = foliot_world_get_counters(s->world)->events_dropped - e->world_dropped;
    e->world_dropped += lost;
    if (lost)
        drop(s, lost);
    if (e->wanted & FOLIOT_STEP_EVENTS_BODIES)
        append_bodies(s, lost == 0);
    if (e->wanted & FOLIOT_STEP_EVENTS_CONTACTS)
        append_contacts(s);
    uint32_t hit_count = 0;
    const foliot_hit_event *hits = foliot_world_get_hit_events(s->world, &hit_count);
    for (uint32_t i = 0; (e->wanted & FOLIOT_STEP_EVENTS_HITS) && i < hit_count; i++) {
        foliot_step_event out = pair_event(s, FOLIOT_STEP_HIT, hits[i].a, hits[i].b);
        out.as.hit = hits[i];
        add(s, &out);
    }
    if (e->wanted & FOLIOT_STEP_EVENTS_SENSORS)
        append_sensors(s);
}

uint32_t foliot__step_events_poll(foliot__step_events *e, foliot_step_event *events,
                                  uint32_t capacity)
{
    uint32_t count = e->count < capacity ? e->count : capacity;
    for (uint32_t i = 0; i < count; i++) {
        events[i] = e->events[e->first];
        e->first = (e->first + 1) % e->capacity;
    }
    e->count -= count;
    return count;
}
