// SPDX-License-Identifier: MIT
// session_state.c: see session_state.h. Trusts no number of a record: slots are bounded by the
// state's slots_max, keys and texts by their fields, variables by FOLIOT_VARS_MAX.
#include "wire/session_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define RECORD_BYTES_MAX 600 // of one that is not of tags: two texts and their lengths
#define JOINT_PAGES (FOLIOT_CONSTRAINTS_MAX / FOLIOT__JOINTS_A_PAGE)

// -- tables

void foliot__session_state_init(foliot__session_state *state, uint32_t slots_max)
{
    *state = (foliot__session_state){.slots_max = slots_max};
}

static void free_joints(foliot__session_state *s)
{
    for (uint32_t i = 0; i < s->joint_end; i += FOLIOT__JOINTS_A_PAGE) {
        free(s->joint_pages[i / FOLIOT__JOINTS_A_PAGE]);
        s->joint_pages[i / FOLIOT__JOINTS_A_PAGE] = NULL;
    }
    s->joint_end = s->joint_page_count = 0;
}

void foliot__session_state_free(foliot__session_state *state)
{
    free(state->tags);
    free(state->prototypes);
    free(state->generations);
    free(state->changed);
    free_joints(state);
    free(state->joint_pages);
    free(state->vars);
    foliot__session_state_init(state, 0);
}

void foliot__session_state_clear(foliot__session_state *state)
{
    free_joints(state);
    state->slot_count = state->var_count = 0;
    state->changed_newest = 0;
    state->gravity_known = state->ended = false;
    state->reason[0] = state->next[0] = 0;
}

// Room for that slot; slots between are as unnamed.
static foliot_status reach_slot(foliot__session_state *s, uint32_t slot)
{
    if (slot >= s->slots_max)
        return FOLIOT_STATUS_CORRUPT;
    if (slot >= s->slot_capacity) {
        uint32_t capacity = slot < 512 ? 1024 : slot < s->slots_max / 2 ? 2 * slot : s->slots_max;
        capacity = capacity < s->slots_max ? capacity : s->slots_max;
        if (!foliot__array_resize(&s->tags, capacity, sizeof *s->tags) ||
            !foliot__array_resize(&s->prototypes, capacity, sizeof *s->prototypes) ||
            !foliot__array_resize(&s->generations, capacity, sizeof *s->generations) ||
            !foliot__array_resize(&s->changed, capacity, sizeof *s->changed))
            return FOLIOT_STATUS_MEMORY;
        s->slot_capacity = capacity;
    }
    for (; s->slot_count <= slot; s->slot_count++) {
        s->tags[s->slot_count] = s->generations[s->slot_count] = 0;
        s->prototypes[s->slot_count] = FOLIOT_NO_BODY;
        s->changed[s->slot_count] = 0;
    }
    return FOLIOT_STATUS_OK;
}

void foliot__session_state_begun(foliot__session_state *state)
{
    for (uint32_t slot = 0; slot < state->slot_count; slot++)
        state->changed[slot] = 0;
    state->changed_newest = 0;
}

const foliot__known_joint *foliot__session_state_joint(const foliot__session_state *state,
                                                       uint32_t index)
{
    const foliot__known_joint *page =
        index < state->joint_end ? state->joint_pages[index / FOLIOT__JOINTS_A_PAGE] : NULL;
    const foliot__known_joint *joint = page ? &page[index % FOLIOT__JOINTS_A_PAGE] : NULL;
    return joint && joint->state != FOLIOT__JOINT_UNCHANGED ? joint : NULL;
}

// A page costs more than the record that causes it: their number is bounded.
static foliot_status put_joint(foliot__session_state *s, uint32_t index,
                               const foliot__known_joint *joint)
{
    if (!s->joint_pages)
        s->joint_pages = calloc(JOINT_PAGES, sizeof *s->joint_pages);
    if (!s->joint_pages)
        return FOLIOT_STATUS_MEMORY;
    foliot__known_joint **page = &s->joint_pages[index / FOLIOT__JOINTS_A_PAGE];
    if (!*page) {
        if (s->joint_page_count < FOLIOT__JOINT_PAGES_MAX)
            *page = calloc(FOLIOT__JOINTS_A_PAGE, sizeof **page);
        if (!*page)
            return FOLIOT_STATUS_MEMORY;
        s->joint_page_count++;
    }
    (*page)[index % FOLIOT__JOINTS_A_PAGE] = *joint;
    if (index >= s->joint_end)
        s->joint_end = index + 1;
    return FOLIOT_STATUS_OK;
}

// The index of the key, or the index at which it belongs.
static uint32_t var_place(const foliot__session_state *s, const char *key, bool *found)
{
    uint32_t low = 0, high = s->var_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strcmp(s->vars[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < s->var_count && strcmp(s->vars[low].key, key) == 0;
    return low;
}

const foliot_var *foliot__session_state_var(const foliot__session_state *state, const char *key)
{
    bool found;
    uint32_t at = var_place(state, key, &found);
    return found ? &state->vars[at] : NULL;
}

static foliot_status put_var(foliot__session_state *s, const foliot_var *var)
{
    bool found;
    if (!s->vars)
        s->vars = calloc(FOLIOT_VARS_MAX, sizeof *s->vars);
    if (!s->vars)
        return FOLIOT_STATUS_MEMORY;
    uint32_t at = var_place(s, var->key, &found);
    if (!found && s->var_count == FOLIOT_VARS_MAX)
        return FOLIOT_STATUS_CORRUPT;
    if (!found) {
        memmove(&s->vars[at + 1], &s->vars[at], (s->var_count - at) * sizeof *s->vars);
        s->var_count++;
    }
    s->vars[at] = *var;
    return FOLIOT_STATUS_OK;
}

// *var is the removed variable; a missing key is not an error.
static bool remove_var(foliot__session_state *s, foliot_var *var)
{
    bool found;
    uint32_t at = var_place(s, var->key, &found);
    if (!found)
        return false;
    *var = s->vars[at];
    s->var_count--;
    memmove(&s->vars[at], &s->vars[at + 1], (s->var_count - at) * sizeof *s->vars);
    return true;
}

// -- reading

typedef struct taking {
    foliot__session_state *state;
    foliot__reader r;
    uint64_t tick;
    foliot__record_visit *visit;
    void *user;
} taking;

static void visit(const taking *t, const foliot__record *record)
{
    if (t->visit && t->r.status == FOLIOT_STATUS_OK)
        t->visit(t->user, record);
}

// A text of UTF-8 without zeros, of fewer bytes than `capacity`.
static void read_text(foliot__reader *r, char *text, size_t capacity)
{
    uint32_t length = foliot__read_u8(r), character;
    const uint8_t *bytes = length < capacity ? foliot__read_bytes(r, length) : NULL;
    text[0] = 0;
    if (!bytes || memchr(bytes, 0, length)) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return;
    }
    memcpy(text, bytes, length);
    text[length] = 0;
    for (size_t at = 0, step; at < length; at += step)
        if ((step = foliot__utf8_decode(text + at, &character)) == 0) {
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            return;
        }
}

static void apply_var(taking *t)
{
    foliot__reader *r = &t->r;
    foliot_var var = {.changed = (uint32_t)t->tick};
    read_text(r, var.key, sizeof var.key);
    uint32_t type = foliot__read_u8(r);
    var.type = (foliot_var_type)type;
    if (type == FOLIOT_VAR_INTEGER)
        var.integer = (int64_t)foliot__read_u64(r);
    else if (type == FOLIOT_VAR_NUMBER)
        var.number = foliot__read_f64(r);
    else if (type == FOLIOT_VAR_TEXT)
        read_text(r, var.text, sizeof var.text);
    else if (type != 0)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (!var.key[0] || !(var.number - var.number == 0)) // not finite
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (r->status != FOLIOT_STATUS_OK)
        return;
    bool removed = type == 0;
    if (removed && !remove_var(t->state, &var))
        return;
    foliot_status status = removed ? FOLIOT_STATUS_OK : put_var(t->state, &var);
    if (status != FOLIOT_STATUS_OK)
        foliot__reader_fail(r, status);
    visit(t, &(foliot__record){.kind = FOLIOT__RECORD_VAR, .var = &var, .removed = removed});
}

// False if there is no such slot, or the bytes ended.
static bool read_slot(taking *t, uint32_t *slot)
{
    uint64_t at = foliot__read_varint(&t->r, UINT32_MAX);
    foliot_status status =
        at < t->state->slots_max ? reach_slot(t->state, (uint32_t)at) : FOLIOT_STATUS_CORRUPT;
    if (status != FOLIOT_STATUS_OK)
        foliot__reader_fail(&t->r, status);
    *slot = (uint32_t)at;
    return t->r.status == FOLIOT_STATUS_OK;
}

static void apply_tags(taking *t, uint8_t first)
{
    foliot__tag_change changes[FOLIOT__TAGS_MAX];
    uint32_t count = foliot__tags_decode(&t->r, first, t->state->slots_max, changes);
    for (uint32_t i = 0; i < count; i++) {
        foliot_status status = reach_slot(t->state, changes[i].slot);
        if (status != FOLIOT_STATUS_OK) {
            foliot__reader_fail(&t->r, status);
            return;
        }
        t->state->tags[changes[i].slot] = changes[i].tag;
        visit(t, &(foliot__record){.kind = FOLIOT__RECORD_TAGS,
                                   .slot = changes[i].slot,
                                   .value = changes[i].tag});
    }
}

static void apply_spawned(taking *t)
{
    foliot__record record = {.kind = FOLIOT__RECORD_SPAWNED};
    if (!read_slot(t, &record.slot))
        return;
    record.generation = (uint32_t)foliot__read_varint(&t->r, UINT32_MAX);
    record.value = (uint32_t)foliot__read_varint(&t->r, UINT32_MAX);
    if (t->r.status != FOLIOT_STATUS_OK)
        return;
    record.known = t->state->prototypes[record.slot] == record.value &&
                   t->state->generations[record.slot] == record.generation;
    t->state->prototypes[record.slot] = record.value;
    t->state->generations[record.slot] = record.generation;
    t->state->changed[record.slot] = t->state->changed_newest = t->tick;
    visit(t, &record);
}

static void read_anchor(taking *t, double anchor[3])
{
    for (int k = 0; k < 3; k++) {
        anchor[k] = foliot__read_f64(&t->r);
        if (!(anchor[k] - anchor[k] == 0)) // not finite
            foliot__reader_fail(&t->r, FOLIOT_STATUS_CORRUPT);
    }
}

static void apply_joint(taking *t, bool broken)
{
    foliot__known_joint joint = {.state = broken ? FOLIOT__JOINT_BROKEN : FOLIOT__JOINT_MADE};
    uint32_t index = (uint32_t)foliot__read_varint(&t->r, FOLIOT_CONSTRAINTS_MAX - 1);
    if (!broken) {
        joint.kind = foliot__read_u8(&t->r);
        uint64_t a = foliot__read_varint(&t->r, UINT32_MAX),
                 b = foliot__read_varint(&t->r, UINT32_MAX);
        joint.a = (uint32_t)a;
        joint.b = b == 0 ? FOLIOT_NO_BODY : (uint32_t)b - 1;
        read_anchor(t, joint.anchor_a);
        read_anchor(t, joint.anchor_b);
        if (joint.kind > FOLIOT_CONSTRAINT_WELD || a >= t->state->slots_max ||
            b > t->state->slots_max)
            foliot__reader_fail(&t->r, FOLIOT_STATUS_CORRUPT);
    }
    if (t->r.status != FOLIOT_STATUS_OK)
        return;
    foliot_status status = put_joint(t->state, index, &joint);
    if (status != FOLIOT_STATUS_OK)
        foliot__reader_fail(&t->r, status);
    visit(t, &(foliot__record){.kind = broken ? FOLIOT__RECORD_JOINT_BROKEN : FOLIOT__RECORD_JOINT,
                               .slot = index,
                               .joint = &joint});
}

static void apply_record(taking *t)
{
    uint8_t first = foliot__read_u8(&t->r);
    if (first & FOLIOT__TAG_RECORD) {
        apply_tags(t, first);
        return;
    }
    switch (first) {
    case FOLIOT__RECORD_VAR:
        apply_var(t);
        break;
    case FOLIOT__RECORD_SPAWNED:
        apply_spawned(t);
        break;
    case FOLIOT__RECORD_DESPAWNED: {
        foliot__record record = {.kind = FOLIOT__RECORD_DESPAWNED};
        if (read_slot(t, &record.slot)) {
            t->state->prototypes[record.slot] = FOLIOT_NO_BODY;
            t->state->changed[record.slot] = t->state->changed_newest = t->tick;
            visit(t, &record);
        }
        break;
    }
    case FOLIOT__RECORD_JOINT:
    case FOLIOT__RECORD_JOINT_BROKEN:
        apply_joint(t, first == FOLIOT__RECORD_JOINT_BROKEN);
        break;
    case FOLIOT__RECORD_GRAVITY: {
        double gravity[3];
        for (int k = 0; k < 3; k++) {
            gravity[k] = foliot__read_f64(&t->r);
            if (!(gravity[k] - gravity[k] == 0))
                foliot__reader_fail(&t->r, FOLIOT_STATUS_CORRUPT);
        }
        if (t->r.status == FOLIOT_STATUS_OK) {
            memcpy(t->state->gravity, gravity, sizeof gravity);
            t->state->gravity_known = true;
            visit(t, &(foliot__record){.kind = FOLIOT__RECORD_GRAVITY});
        }
        break;
    }
    case FOLIOT__RECORD_END: {
        char reason[FOLIOT_VAR_TEXT_BYTES], next[FOLIOT_VAR_TEXT_BYTES];
        read_text(&t->r, reason, sizeof reason);
        read_text(&t->r, next, sizeof next);
        if (t->r.status == FOLIOT_STATUS_OK) {
            memcpy(t->state->reason, reason, sizeof reason);
            memcpy(t->state->next, next, sizeof next);
            t->state->ended = true;
            visit(t, &(foliot__record){.kind = FOLIOT__RECORD_END});
        }
        break;
    }
    default:
        foliot__reader_fail(&t->r, FOLIOT_STATUS_CORRUPT);
    }
}

foliot_status foliot__session_state_apply(foliot__session_state *state, uint64_t tick,
                                          const uint8_t *bytes, size_t length,
                                          foliot__record_visit *on_record, void *user)
{
    taking t = {state, foliot__reader_of(bytes, length), tick, on_record, user};
    while (t.r.status == FOLIOT_STATUS_OK && t.r.at < length)
        apply_record(&t);
    return t.r.status;
}

// -- writing

void foliot__update_begin(foliot__update_writer *w, uint32_t slots_max,
                          void (*emit)(void *user, const uint8_t *bytes, size_t length), void *user)
{
    w->emit = emit;
    w->user = user;
    w->slots_max = slots_max;
    w->length = w->tag_count = 0;
}

static void emit_part(foliot__update_writer *w)
{
    size_t length = w->length;
    w->length = 0;
    w->emit(w->user, w->bytes, length);
}

static void write_tags(foliot__update_writer *w)
{
    if (w->tag_count == 0)
        return;
    if (w->length + FOLIOT__TAGS_BYTES_MAX(w->tag_count) > sizeof w->bytes)
        emit_part(w);
    foliot__writer out = foliot__writer_of(w->bytes, sizeof w->bytes);
    out.at = w->length;
    foliot__tags_encode(&out, w->tags, w->tag_count, w->slots_max);
    w->length = out.at;
    w->tag_count = 0;
}

void foliot__update_finish(foliot__update_writer *w, bool always)
{
    write_tags(w);
    if (w->length > 0 || always)
        emit_part(w);
}

// A cursor after the written records, with room for a record of the kind.
static foliot__writer begin_record(foliot__update_writer *w, foliot__record_kind kind)
{
    write_tags(w);
    if (w->length + RECORD_BYTES_MAX > sizeof w->bytes)
        emit_part(w);
    foliot__writer out = foliot__writer_of(w->bytes, sizeof w->bytes);
    out.at = w->length;
    foliot__write_u8(&out, (uint8_t)kind);
    return out;
}

static void write_text(foliot__writer *out, const char *text)
{
    size_t length = strlen(text);
    foliot__write_u8(out, (uint8_t)length);
    foliot__write_bytes(out, text, length);
}

void foliot__update_var(foliot__update_writer *w, const foliot_var *var)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_VAR);
    write_text(&out, var->key);
    foliot__write_u8(&out, (uint8_t)var->type);
    if (var->type == FOLIOT_VAR_INTEGER)
        foliot__write_u64(&out, (uint64_t)var->integer);
    else if (var->type == FOLIOT_VAR_NUMBER)
        foliot__write_f64(&out, var->number);
    else
        write_text(&out, var->text);
    w->length = out.at;
}

void foliot__update_var_removed(foliot__update_writer *w, const char *key)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_VAR);
    write_text(&out, key);
    foliot__write_u8(&out, 0);
    w->length = out.at;
}

void foliot__update_tag(foliot__update_writer *w, uint32_t slot, uint32_t tag)
{
    if (slot >= w->slots_max)
        return;
    if (w->tag_count == FOLIOT__TAGS_MAX ||
        (w->tag_count > 0 && slot <= w->tags[w->tag_count - 1].slot))
        write_tags(w);
    w->tags[w->tag_count++] = (foliot__tag_change){slot, tag};
}

void foliot__update_spawned(foliot__update_writer *w, uint32_t slot, uint32_t generation,
                            uint32_t prototype)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_SPAWNED);
    foliot__write_varint(&out, slot);
    foliot__write_varint(&out, generation);
    foliot__write_varint(&out, prototype);
    w->length = out.at;
}

void foliot__update_despawned(foliot__update_writer *w, uint32_t slot)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_DESPAWNED);
    foliot__write_varint(&out, slot);
    w->length = out.at;
}

static void write_anchor(foliot__writer *out, const double anchor[3])
{
    for (int k = 0; k < 3; k++)
        foliot__write_f64(out, anchor[k]);
}

void foliot__update_joint_made(foliot__update_writer *w, uint32_t index,
                               const foliot__known_joint *joint)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_JOINT);
    foliot__write_varint(&out, index);
    foliot__write_u8(&out, joint->kind);
    foliot__write_varint(&out, joint->a);
    foliot__write_varint(&out, joint->b == FOLIOT_NO_BODY ? 0 : joint->b + 1);
    write_anchor(&out, joint->anchor_a);
    write_anchor(&out, joint->anchor_b);
    w->length = out.at;
}

void foliot__update_joint_broken(foliot__update_writer *w, uint32_t index)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_JOINT_BROKEN);
    foliot__write_varint(&out, index);
    w->length = out.at;
}

void foliot__update_gravity(foliot__update_writer *w, const double gravity[3])
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_GRAVITY);
    for (int k = 0; k < 3; k++)
        foliot__write_f64(&out, gravity[k]);
    w->length = out.at;
}

void foliot__update_end(foliot__update_writer *w, const char *reason, const char *next)
{
    foliot__writer out = begin_record(w, FOLIOT__RECORD_END);
    write_text(&out, reason);
    write_text(&out, next);
    w->length = out.at;
}

static void write_vars(foliot__update_writer *w, const foliot__session_state *s)
{
    for (uint32_t i = 0; i < s->var_count; i++)
        foliot__update_var(w, &s->vars[i]);
}

static void write_world(foliot__update_writer *w, const foliot__session_state *s)
{
    if (s->gravity_known)
        foliot__update_gravity(w, s->gravity);
    if (s->ended)
        foliot__update_end(w, s->reason, s->next);
}

void foliot__update_common(foliot__update_writer *w, const foliot__session_state *s)
{
    write_vars(w, s);
    write_world(w, s);
}

void foliot__update_state(foliot__update_writer *w, const foliot__session_state *s)
{
    write_vars(w, s);
    for (uint32_t slot = 0; slot < s->slot_count; slot++)
        if (s->tags[slot] != 0)
            foliot__update_tag(w, slot, s->tags[slot]);
    for (uint32_t slot = 0; slot < s->slot_count; slot++)
        if (s->prototypes[slot] != FOLIOT_NO_BODY)
            foliot__update_spawned(w, slot, s->generations[slot], s->prototypes[slot]);
    for (uint32_t i = 0; i < s->joint_end; i++) {
        const foliot__known_joint *joint = foliot__session_state_joint(s, i);
        if (joint && joint->state == FOLIOT__JOINT_MADE)
            foliot__update_joint_made(w, i, joint);
        else if (joint)
            foliot__update_joint_broken(w, i);
    }
    write_world(w, s);
}
