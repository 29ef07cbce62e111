// SPDX-License-Identifier: MIT
// step_events.c: the events of each step, queued for the host, however many ticks an update
// closes. Runs when a step has finished: the world still has the events of that step alone.
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

static void append_bodies(foliot__session *s)
{
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        // Inputs, and the end of a session: server events report them.
        if (events[i].kind != FOLIOT_EVENT_INPUT_REFUSED && events[i].kind != FOLIOT_EVENT_ENDED)
            add(s, &(foliot_step_event){
                       .kind = FOLIOT_STEP_EVENT, .tick = s->tick, .as.event = events[i]});
    }
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
    for (uint32_t i = 0; i < count; i++)
        if (e->contacts[i].change != FOLIOT_CONTACT_PERSIST)
            add(s, &(foliot_step_event){
                       .kind = FOLIOT_STEP_CONTACT, .tick = s->tick, .as.contact = e->contacts[i]});
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
    for (uint32_t i = 0; i < count; i++)
        add(s, &(foliot_step_event){
                   .kind = FOLIOT_STEP_SENSOR, .tick = s->tick, .as.sensor = e->sensors[i]});
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
        append_bodies(s);
    if (e->wanted & FOLIOT_STEP_EVENTS_CONTACTS)
        append_contacts(s);
    uint32_t hit_count = 0;
    const foliot_hit_event *hits = foliot_world_get_hit_events(s->world, &hit_count);
    for (uint32_t i = 0; (e->wanted & FOLIOT_STEP_EVENTS_HITS) && i < hit_count; i++)
        add(s, &(foliot_step_event){.kind = FOLIOT_STEP_HIT, .tick = s->tick, .as.hit = hits[i]});
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
