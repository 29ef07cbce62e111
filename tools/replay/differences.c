// SPDX-License-Identifier: MIT
// differences.c: see checks.h. It reads recorded data, and replays nothing.
#include "checks.h"

#include "recording/replay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static void note(difference *found, uint64_t tick,
                                                       const char *format, ...)
{
    va_list list;
    found->found = true;
    found->tick = tick;
    va_start(list, format);
    vsnprintf(found->text, sizeof found->text, format, list);
    va_end(list);
}

// Which of the two has an entry that the other lacks.
static const char *only(bool first)
{
    return first ? "only the first has it" : "only the second has it";
}

// -- inputs

static const char *differing_input(const foliot_input *a, const foliot_input *b)
{
    return a->sequence != b->sequence                      ? "sequence"
           : a->kind != b->kind                            ? "kind"
           : memcmp(a->axes, b->axes, sizeof a->axes) != 0 ? "axes"
           : a->buttons != b->buttons                      ? "buttons"
                                                           : NULL;
}

static foliot_status compare_inputs(foliot_replay *one, foliot_replay *other, uint64_t tick,
                                    difference *found)
{
    const foliot_input *a, *b;
    uint32_t a_count, b_count, i = 0;
    foliot_status status = foliot_replay_get_inputs(one, tick, &a, &a_count);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_replay_get_inputs(other, tick, &b, &b_count);
    if (status != FOLIOT_STATUS_OK)
        return status;
    while (i < a_count && i < b_count && a[i].player == b[i].player &&
           !differing_input(&a[i], &b[i]))
        i++;
    if (i < a_count && i < b_count && a[i].player == b[i].player) {
        note(found, tick, "player %" PRIu32 ", %s", a[i].player, differing_input(&a[i], &b[i]));
    } else if (i < a_count || i < b_count) {
        bool first = i == b_count || (i < a_count && a[i].player < b[i].player);
        note(found, tick, "player %" PRIu32 ", %s", first ? a[i].player : b[i].player, only(first));
    }
    return FOLIOT_STATUS_OK;
}

// -- commands

static bool same_value(const foliot_command_field *field, const foliot_command *a,
                       const foliot_command *b)
{
    static const size_t bytes[] = {[FOLIOT_COMMAND_TYPE_u32] = 4,
                                   [FOLIOT_COMMAND_TYPE_i32] = 4,
                                   [FOLIOT_COMMAND_TYPE_i64] = 8,
                                   [FOLIOT_COMMAND_TYPE_f32] = 4,
                                   [FOLIOT_COMMAND_TYPE_f64] = 8,
                                   [FOLIOT_COMMAND_TYPE_real] = 8,
                                   [FOLIOT_COMMAND_TYPE_body] = sizeof(foliot_body_id),
                                   [FOLIOT_COMMAND_TYPE_joint] = sizeof(foliot_joint_id)};
    const char *at_a = (const char *)a + field->offset, *at_b = (const char *)b + field->offset;
    if (field->type != FOLIOT_COMMAND_TYPE_text)
        return memcmp(at_a, at_b, bytes[field->type] * field->count) == 0;
    const char *text_a, *text_b;
    memcpy(&text_a, at_a, sizeof text_a);
    memcpy(&text_b, at_b, sizeof text_b);
    return strcmp(text_a, text_b) == 0;
}

const char *command_differing_field(const foliot_command *a, const foliot_command *b)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(a->kind);
    const uint32_t given = a->fields & b->fields, alone = a->fields ^ b->fields;
    for (uint32_t f = 0; f < info->field_count; f++) {
        uint32_t bit = 1u << f;
        if (alone & bit || (given & bit && !same_value(&info->fields[f], a, b)))
            return info->fields[f].name;
    }
    return NULL;
}

static const char *differing_command(const foliot_command *a, const foliot_command *b)
{
    return a->kind != b->kind           ? "kind"
           : a->source != b->source     ? "source"
           : a->sequence != b->sequence ? "sequence"
                                        : command_differing_field(a, b);
}

static foliot_status compare_commands(foliot_replay *one, foliot_replay *other, uint64_t tick,
                                      difference *found)
{
    const foliot_command *a, *b;
    uint32_t a_count, b_count, i = 0;
    foliot_status status = foliot_replay_get_commands(one, tick, &a, &a_count);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_replay_get_commands(other, tick, &b, &b_count);
    if (status != FOLIOT_STATUS_OK)
        return status;
    while (i < a_count && i < b_count && !differing_command(&a[i], &b[i]))
        i++;
    if (i == a_count && i == b_count)
        return FOLIOT_STATUS_OK;
    const foliot_command *which = i < a_count ? &a[i] : &b[i];
    note(found, tick, "command %" PRIu32 " (%s), %s", i + 1,
         foliot_command_kind_get_info(which->kind)->name,
         i < a_count && i < b_count ? differing_command(&a[i], &b[i]) : only(i < a_count));
    return FOLIOT_STATUS_OK;
}

// -- bytes of orders and messages

static void note_bytes(difference *found, uint64_t tick, const char *who, const uint8_t *a,
                       uint32_t a_length, const uint8_t *b, uint32_t b_length)
{
    uint32_t at = 0;
    while (at < a_length && at < b_length && a[at] == b[at])
        at++;
    if (at < a_length && at < b_length)
        note(found, tick, "%s, byte %" PRIu32 ": %02x and %02x", who, at, a[at], b[at]);
    else if (a_length != b_length)
        note(found, tick, "%s, %" PRIu32 " bytes and %" PRIu32, who, a_length, b_length);
}

static foliot_status compare_orders(foliot_replay *one, foliot_replay *other, uint64_t tick,
                                    difference *found)
{
    const foliot_order *a, *b;
    uint32_t a_count = 0, b_count = 0;
    foliot_status status = foliot_replay_get_orders(one, tick, &a, &a_count);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_replay_get_orders(other, tick, &b, &b_count);
    for (uint32_t i = 0;
         status == FOLIOT_STATUS_OK && !found->found && (i < a_count || i < b_count); i++) {
        bool both = i < a_count && i < b_count && a[i].player == b[i].player;
        bool first = i == b_count || (i < a_count && a[i].player < b[i].player);
        const foliot_order *alone = first ? &a[i] : &b[i];
        if (both) {
            char who[64];
            snprintf(who, sizeof who, "order %" PRIu32 " of player %" PRIu32, a[i].sequence,
                     a[i].player);
            if (a[i].sequence != b[i].sequence)
                note(found, tick, "%s, sequence", who);
            else if (a[i].kind != b[i].kind)
                note(found, tick, "%s, kind", who);
            else
                note_bytes(found, tick, who, a[i].bytes, a[i].length, b[i].bytes, b[i].length);
        } else {
            note(found, tick, "order %" PRIu32 " of player %" PRIu32 ", %s", alone->sequence,
                 alone->player, only(first));
        }
    }
    return status;
}

foliot_status differences_of_tick(foliot_replay *a, foliot_replay *b, uint64_t tick,
                                  difference *inputs, difference *commands, difference *orders)
{
    foliot_status status = FOLIOT_STATUS_OK;
    if (!inputs->found)
        status = compare_inputs(a, b, tick, inputs);
    if (status == FOLIOT_STATUS_OK && !commands->found)
        status = compare_commands(a, b, tick, commands);
    if (status == FOLIOT_STATUS_OK && !orders->found)
        status = compare_orders(a, b, tick, orders);
    return status;
}

// -- messages

// Through the messages of one recording.
typedef struct listener {
    foliot_replay *replay;
    uint64_t tick, last; // of the block that is read next; the last that counts
    uint32_t index;      // of the next one in the block at hand
    foliot_status status;
} listener;

static listener listen_to(foliot_replay *replay, uint64_t last)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    return (listener){
        .replay = replay, .tick = about->first_tick, .last = last, .index = UINT32_MAX};
}

// NULL at the end, or with a status.
static const foliot__recorded_message *next_message(listener *l)
{
    const foliot__recording_content *content = &l->replay->content;
    for (;;) {
        if (l->index < content->messages.count) {
            const foliot__recorded_message *message = &content->messages.items[l->index++];
            if (message->tick <= l->last)
                return message;
            continue;
        }
        if (l->tick >= l->last)
            return NULL;
        l->status = foliot__replay_locate(l->replay, l->tick);
        if (l->status != FOLIOT_STATUS_OK)
            return NULL;
        l->tick = content->tick;
        l->index = 0;
    }
}

foliot_status differences_of_messages(foliot_replay *a, foliot_replay *b, uint64_t last,
                                      difference *messages)
{
    listener one = listen_to(a, last), other = listen_to(b, last);
    while (!messages->found) {
        const foliot__recorded_message *left = next_message(&one), *right = next_message(&other);
        if (one.status != FOLIOT_STATUS_OK || other.status != FOLIOT_STATUS_OK)
            return one.status != FOLIOT_STATUS_OK ? one.status : other.status;
        if (!left && !right)
            break;
        const foliot__recorded_message *which =
            !right || (left && left->tick <= right->tick) ? left : right;
        char who[64] = "message to all";
        if (which->player != FOLIOT_TO_ALL)
            snprintf(who, sizeof who, "message to player %" PRIu32, which->player);
        if (!left || !right || left->tick != right->tick)
            note(messages, which->tick, "%s, %s", who, only(which == left));
        else if (left->player != right->player)
            note(messages, which->tick, "%s, player", who);
        else if (left->reliable != right->reliable)
            note(messages, which->tick, "%s, reliable", who);
        else
            note_bytes(messages, which->tick, who,
                       one.replay->content.messages.payload.bytes + left->at, left->length,
                       other.replay->content.messages.payload.bytes + right->at, right->length);
    }
    return FOLIOT_STATUS_OK;
}
