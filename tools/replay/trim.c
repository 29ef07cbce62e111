// SPDX-License-Identifier: MIT
// trim.c: foliot-replay trim: writes a part of a recording, or the undamaged part of a damaged one,
// as a new recording. The recording is replayed at the same time, so that the output is what this
// build computes; a recording that diverges is not trimmed.
#include "tool.h"

#include "foliot/recording.h"
#include "recording/recording.h"
#include "recording/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *out_file;
static uint64_t from_tick, to_tick;
static bool from_given, to_given;

const foliot__option trim_options[] = {
    {"out", "FILE", FOLIOT__OPTION_TEXT, &out_file, .help = "recording to write"},
    {"from", "T", FOLIOT__OPTION_COUNT, &from_tick, .given = &from_given,
     .help = "first tick (default: the recording's)"},
    {"to", "T", FOLIOT__OPTION_COUNT, &to_tick, .given = &to_given,
     .help = "last tick (default: the last whole one)"},
    SIMULATION_OPTION{0}};

// -- notes and messages of a recording, tick by tick. One block is held at a time. Notes and
// messages whose ticks do not belong to their block were not written by foliot, and are left out.

typedef struct annotations {
    foliot__block_reader reader;
    foliot__recording_header header;
    foliot__recording_content content; // the block at hand
    uint32_t note, message;            // of it, the next ones
    bool ended;
} annotations;

static foliot_status copy_block(annotations *a, uint64_t from, uint64_t tick,
                                foliot_recording *recording)
{
    // Notes before the step from `tick`, in the order of the block.
    foliot_status status = FOLIOT_STATUS_OK;
    for (; a->note < a->content.notes.count && status == FOLIOT_STATUS_OK; a->note++) {
        const foliot__recording_note *note = &a->content.notes.items[a->note];
        if (note->tick > tick && note->tick <= a->content.tick)
            break; // later in the block, or behind its last tick
        if (note->tick >= from && note->tick <= tick)
            status = foliot__recording_note_text(recording, note->what, note->text);
    }
    // Messages after that step.
    const foliot__recording_content *content = &a->content;
    for (; a->message < content->messages.count && status == FOLIOT_STATUS_OK; a->message++) {
        const foliot__recorded_message *message = &content->messages.items[a->message];
        if (message->tick > tick + 1 && message->tick <= content->tick + 1)
            break; // a block that was full may end with the messages of the next tick
        if (message->tick > from && message->tick == tick + 1)
            status = foliot_recording_note_message(recording, message->player, message->reliable,
                                                   content->messages.payload.bytes + message->at,
                                                   message->length);
    }
    return status;
}

// Copies the annotations before the inputs of the step from `tick`, and those after that step: of
// ticks from `from` on. Ticks are requested in order. Returns the recording's last status.
static foliot_status annotations_copy(annotations *a, uint64_t from, uint64_t tick,
                                      foliot_recording *recording)
{
    foliot_damage damage;
    foliot_status status = copy_block(a, from, tick, recording);
    // Reads up to the block of that step; the replay meets the same damage.
    while (status == FOLIOT_STATUS_OK && !a->ended && a->content.tick <= tick) {
        foliot_status read = foliot__block_reader_next(&a->reader, &a->content, &damage);
        if (read == FOLIOT_STATUS_MEMORY)
            return read;
        a->ended = read != FOLIOT_STATUS_OK;
        a->note = a->message = 0;
        if (!a->ended)
            status = copy_block(a, from, tick, recording);
    }
    return status;
}

// -- the recording

static foliot_status copy_ticks(foliot_replay *replay, foliot_recording *recording, uint64_t to)
{
    uint64_t from = foliot_replay_get_tick(replay);
    // Reads the recording in parallel with the replay, which stays where it is.
    foliot_damage damage;
    annotations *notes = calloc(1, sizeof *notes);
    if (notes)
        notes->ended = foliot__block_reader_begin(&notes->reader, &replay->source, &notes->header,
                                                  &notes->content, &damage) != FOLIOT_STATUS_OK;
    foliot_status status = notes ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
    while (status == FOLIOT_STATUS_OK && foliot_replay_get_tick(replay) < to) {
        foliot__recorded_tick recorded = {0};
        uint64_t tick = foliot_replay_get_tick(replay);
        status = foliot_replay_step(replay);
        if (status == FOLIOT_STATUS_OK)
            status = foliot__replay_locate(replay, tick);
        if (status == FOLIOT_STATUS_OK)
            status = annotations_copy(notes, from, tick, recording);
        if (status == FOLIOT_STATUS_OK && foliot__replay_recorded(replay, tick, &recorded))
            status =
                foliot_recording_append(recording, foliot_replay_get_simulation(replay),
                                        &recorded.inputs, recorded.orders, recorded.order_count);
        // Waits for the disk: there is no deadline here.
        if (status == FOLIOT_STATUS_OK &&
            foliot_recording_get_state(recording).queued_bytes > 4u << 20)
            status = foliot_recording_wait(recording, false);
    }
    if (notes) {
        foliot__recording_content_free(&notes->content);
        foliot__recording_header_free(&notes->header);
        free(notes);
    }
    return status;
}

// Keeps the state of the rules if the old recording has a keyframe of the same tick.
static foliot_status copy_rules_state(void *user, void *bytes, size_t capacity, size_t *length)
{
    foliot_replay *replay = user;
    const uint8_t *state =
        foliot_replay_get_rules_state(replay, foliot_replay_get_tick(replay), length);
    if (!state)
        return FOLIOT_STATUS_NOT_FOUND;
    if (bytes && *length <= capacity)
        memcpy(bytes, state, *length);
    return FOLIOT_STATUS_OK;
}

static int report_failure(const char *file, foliot_replay *replay, foliot_status status)
{
    int error = status == FOLIOT_STATUS_IO ? errno : 0;
    if (status == FOLIOT_STATUS_DIVERGED)
        tool_tell_divergence(file, foliot_replay_get_tick(replay));
    else
        tool_complain(status == FOLIOT_STATUS_IO ? out_file : file, "%s",
                      error ? strerror(error) : foliot_status_get_text(status));
    if (error == ENOSPC)
        return FOLIOT__EXIT_AGAIN;
    return tool_exit_of(status);
}

static int trim_recording(const char *file, foliot_replay *replay)
{
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    uint64_t from = from_given ? from_tick : about->first_tick;
    uint64_t to = to_given ? to_tick : about->last_tick;
    if (from < about->first_tick || to > about->last_tick || from > to) {
        tool_complain(file,
                      "has ticks %" PRIu64 " to %" PRIu64 " whole, not %" PRIu64 " to %" PRIu64,
                      about->first_tick, about->last_tick, from, to);
        return FOLIOT__EXIT_ERROR;
    }
    foliot_recording *recording;
    foliot_status status = foliot_replay_seek(replay, from);
    errno = 0;
    foliot_recording_config config = foliot_recording_config_default();
    const foliot_recording_rules rules = {.name = about->rules_name,
                                          .version = about->rules_version,
                                          .text = about->rules_text,
                                          .text_bytes = about->rules_text_bytes,
                                          .build = about->rules_build,
                                          .save = copy_rules_state,
                                          .user = replay};
    config.rules = about->rules_name[0] ? &rules : NULL;
    if (status == FOLIOT_STATUS_OK)
        status = foliot_recording_open(out_file, foliot_replay_get_simulation(replay), &config,
                                       &recording);
    if (status != FOLIOT_STATUS_OK)
        return report_failure(file, replay, status);
    status = copy_ticks(replay, recording, to);
    foliot_recording_state state = foliot_recording_get_state(recording);
    if (status != FOLIOT_STATUS_OK) {
        foliot_recording_abandon(recording);
    } else {
        status = foliot_recording_close(recording, &state);
    }
    if (status != FOLIOT_STATUS_OK) {
        // A file that was begun and failed is not a recording.
        struct stat written;
        if (stat(out_file, &written) == 0 && S_ISREG(written.st_mode))
            unlink(out_file);
    }
    errno = state.stopped_errno;
    return status == FOLIOT_STATUS_OK ? FOLIOT__EXIT_FINE : report_failure(file, replay, status);
}

int trim_command(const foliot__program *program, const foliot__arguments *arguments)
{
    int code;
    const char *file = arguments->operands[0];
    if (!out_file)
        return foliot__options_wrong(program, arguments, "--out is missing");
    struct stat one, other;
    if (stat(out_file, &one) == 0 && stat(file, &other) == 0 && one.st_dev == other.st_dev &&
        one.st_ino == other.st_ino)
        return foliot__options_wrong(program, arguments, "--out must be another file");
    foliot_replay *replay = tool_open(file, &code);
    if (!replay)
        return code;
    if (foliot_replay_scan(replay) != FOLIOT_STATUS_OK)
        tool_tell_damage(file, replay); // it is trimmed away
    code = trim_recording(file, replay);
    foliot_replay_close(replay);
    return code;
}
