// SPDX-License-Identifier: MIT
// web_calls.h: a page that calls its session's module in any order: what every such module exports.
#ifndef FOLIOT_FUZZ_WEB_CALLS_H
#define FOLIOT_FUZZ_WEB_CALLS_H

#include "page.h"
#include "web_page.h"

uint8_t *web_block(void);
uint32_t web_block_bytes(void);
int web_join(uint32_t spectates, double at_ms);
int web_hand_over(void);
void web_opened(void);
void web_closed(uint32_t reason);
int web_received(uint32_t length);
int web_update(double at_ms);
void web_leave(double at_ms);
void web_set_input(int32_t x, int32_t y, int32_t z, int32_t turn, uint32_t buttons);
int web_chat(uint32_t length);
int web_sample(double at_ms);
const float *web_own_position(void);
const double *web_body_position(uint32_t slot);
const char *web_body_name(uint32_t slot);
uint32_t web_body_tag(uint32_t slot);
const web_details *web_details_block(void);
const char *web_about(void);
const char *web_events(void);

// The other module, which draws what this one gives.
void *web_details_room(uint32_t bytes);
uint32_t web_details_draw(uint32_t what, double length);
uint32_t web_details_contacts(void);
uint32_t web_details_cut(void);

// The functions that the module calls.
void page_connect(void);
void page_disconnect(uint32_t reason);
void page_send(uint32_t reliable, const uint8_t *bytes, size_t length);

// Inputs hold these numbers: they stay.
enum {
    CALL_MESSAGE,
    CALL_UPDATE,
    CALL_SAMPLE,
    CALL_OPENED,
    CALL_CLOSED,
    CALL_JOIN,
    CALL_LEAVE,
    CALL_INPUT,
    CALL_CHAT,
    CALL_LOOK,
    CALL_LENGTH, // a message of a length that was not written
    CALL_TIME,
    CALL_COUNT
};

#define MINUTE_MS 60000

static double now_ms;

static inline uint64_t now_ns(void)
{
    return (uint64_t)(now_ms * 1e6);
}

static inline int join_session(uint32_t spectates, const char *name, const char *session)
{
    char *at = (char *)web_block();
    size_t length = strlen(name) + 1;
    memcpy(at, name, length);
    memcpy(at + length, session, strlen(session) + 1);
    return web_join(spectates & 1, now_ms);
}

static inline void look_at_details(void)
{
    const web_details *details = web_details_block();
    void *room = details ? web_details_room(details->bytes) : NULL;
    if (!room)
        return;
    memcpy(room, details, details->bytes);
    uint32_t lines = web_details_draw(3, 0.1);
    FOLIOT_ASSERT(web_details_contacts() <= lines);
    read_lines(lines);
    page_sum += web_details_cut();
}

static inline void look_at_all(uint32_t slot)
{
    read_picture(web_sample(now_ms));
    read_bytes(web_own_position(), 4 * sizeof(float));
    look_at_details();
    for (uint32_t i = 0; i < 4; i++) {
        const double *position = web_body_position(slot + i);
        if (position)
            read_bytes(position, 3 * sizeof *position);
        read_text(web_body_name(slot + i));
        page_sum += web_body_tag(slot + i);
    }
    read_json(web_about());
    read_json(web_events());
}

static inline void call_join(records *r)
{
    uint32_t length;
    uint8_t spectates = take_byte(r);
    const uint8_t *bytes = take_bytes(r, web_block_bytes(), &length);
    memcpy(web_block(), bytes, length);
    web_join(spectates & 1, now_ms);
}

static inline void call_module(records *r, uint8_t what)
{
    uint32_t length;
    const uint8_t *bytes;
    switch (what % CALL_COUNT) {
    case CALL_MESSAGE:
        bytes = take_bytes(r, web_block_bytes(), &length);
        memcpy(web_block(), bytes, length);
        web_received(length);
        break;
    case CALL_UPDATE:
        now_ms += 5;
        web_update(now_ms);
        break;
    case CALL_SAMPLE:
        read_picture(web_sample(now_ms));
        break;
    case CALL_OPENED:
        web_opened();
        break;
    case CALL_CLOSED:
        web_closed(take_number(r));
        break;
    case CALL_JOIN:
        call_join(r);
        break;
    case CALL_LEAVE:
        web_leave(now_ms);
        break;
    case CALL_INPUT:
        web_set_input((int32_t)take_number(r), (int8_t)take_byte(r), 0, (int32_t)take_number(r),
                      take_number(r));
        break;
    case CALL_CHAT:
        bytes = take_bytes(r, web_block_bytes(), &length);
        memcpy(web_block(), bytes, length);
        web_chat(take_byte(r) ? length : take_number(r));
        break;
    case CALL_LOOK:
        look_at_all(take_number(r));
        break;
    case CALL_LENGTH:
        web_received(take_number(r));
        break;
    default:
        now_ms += now_ms < MINUTE_MS ? 10 * take_byte(r) : 1; // a server steps all of it
    }
}

#endif
