// SPDX-License-Identifier: MIT
// no_world.c: what the viewer has in place of lockstep, prediction and the simulation: nothing that
// can be stepped. No fingerprint fits and no lockstep client can be made, so the client library
// watches, or says why it cannot. It asks the functions of the second part only about a world that
// it has made: they give zeros.
#include "shared/internal.h"

#include "foliot/contact.h"
#include "sim/selftest/fingerprint.h"
#include "wire/step_changes.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static foliot_status create(void *user, const void *setup, size_t setup_bytes, void **self)
{
    return FOLIOT_STATUS_UNSUPPORTED;
}

// The name and the version are what a server compares.
const foliot_simulation_kind foliot_world_kind = {
    .name = "foliot.world", .version = 1, .create = create};

// A digest that no build has.
foliot_digest foliot__fingerprint_base(void)
{
    return (foliot_digest){1, 0};
}

foliot_digest foliot__fingerprint_of_scene(const foliot_scene *scene)
{
    return foliot__fingerprint_base();
}

foliot_digest foliot_simulation_kind_get_fingerprint(const foliot_simulation_kind *kind)
{
    return foliot__fingerprint_base();
}

foliot_status foliot__lockstep_client_create(const foliot_simulation_kind *kind,
                                             const foliot_host *host, foliot__lockstep_client **out)
{
    return FOLIOT_STATUS_UNSUPPORTED;
}

foliot_status foliot__lockstep_client_setup(foliot__lockstep_client *l, const uint8_t *setup,
                                            size_t length)
{
    return FOLIOT_STATUS_UNSUPPORTED;
}

// -- what is asked about a world alone

#define NONE(type, name, ...)                                                                      \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        static type none;                                                                          \
        return none;                                                                               \
    }
#define NOTHING(name, ...)                                                                         \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
    }
NOTHING(foliot__lockstep_client_destroy, foliot__lockstep_client *l)
NOTHING(foliot__lockstep_client_forget, foliot__lockstep_client *l)
NOTHING(foliot__lockstep_client_reconnect, foliot__lockstep_client *l)
NONE(const foliot_world *, foliot__lockstep_client_world, const foliot__lockstep_client *l)
NONE(uint64_t, foliot__lockstep_client_backlog, const foliot__lockstep_client *l)
NONE(bool, foliot__lockstep_client_ready, const foliot__lockstep_client *l)
NONE(uint64_t, foliot__lockstep_client_undecided, const foliot__lockstep_client *l)
NONE(uint64_t, foliot__lockstep_client_input_tick, const foliot__lockstep_client *l,
     uint64_t now_ns, double tick_ns, uint32_t input_delay)
NONE(size_t, foliot__lockstep_client_repeat, foliot__lockstep_client *l, uint64_t now_ns,
     uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
NONE(size_t, foliot__lockstep_client_packet, foliot__lockstep_client *l, uint64_t now_ns,
     uint64_t tick, foliot__own_inputs own, const foliot_input *controls, bool *decided,
     uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
NONE(size_t, foliot__lockstep_client_go_back, foliot__lockstep_client *l, uint32_t steps,
     uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX])
NONE(bool, foliot__lockstep_client_own_known, const foliot__lockstep_client *l)
NOTHING(foliot__lockstep_client_receive_ticks, foliot__lockstep_client *l,
        const foliot__ticks_part *part)
NONE(bool, foliot__lockstep_client_receive_state, foliot__lockstep_client *l,
     const foliot__keyframe_part *part)
NOTHING(foliot__lockstep_client_receive_diverged, foliot__lockstep_client *l,
        const foliot__diverged *found)
NOTHING(foliot__lockstep_client_receive_commands, foliot__lockstep_client *l,
        const foliot__commands_part *part)
NONE(size_t, foliot__lockstep_client_respond, foliot__lockstep_client *l,
     const foliot__search_message *request, uint8_t response[FOLIOT_SEARCH_RESPONSE_BYTES_MAX])
NOTHING(foliot__lockstep_client_receive_status, foliot__lockstep_client *l, const uint8_t *bytes,
        size_t length, uint64_t now_ns, double tick_ns)
NOTHING(foliot__lockstep_client_receive_relay, foliot__lockstep_client *l, const uint8_t *bytes,
        size_t length)
NONE(const uint8_t *, foliot__lockstep_client_state_of, const foliot__lockstep_client *l,
     uint64_t tick, size_t *length)
NONE(bool, foliot__lockstep_client_step, foliot__lockstep_client *l)
NOTHING(foliot__lockstep_client_restart, foliot__lockstep_client *l)
NOTHING(foliot__lockstep_client_drop_case, foliot__lockstep_client *l)
NONE(bool, foliot__lockstep_client_input_time, const foliot__lockstep_client *l, uint64_t now_ns,
     double tick_ns, uint32_t input_delay, double *tick)
NONE(foliot_status, foliot__predict_begin, foliot_client *c)
NOTHING(foliot__predict_forget, foliot_client *c)
NOTHING(foliot__predict_end, foliot_client *c)
NOTHING(foliot__predict_leave, foliot_client *c)
NONE(bool, foliot__predict_leads, const foliot_client *c)
NOTHING(foliot__predict_tick, foliot_client *c)
NONE(uint64_t, foliot__predict_input_tick, const foliot_client *c)
NONE(uint64_t, foliot__predict_wake_ns, const foliot_client *c)
NOTHING(foliot__predict_decided, foliot_client *c, uint64_t tick, const foliot_input *controls)
NONE(uint32_t, foliot__predict_closed_steps, const foliot_client *c)
NONE(bool, foliot__predict_step, foliot_client *c)
NOTHING(foliot__predict_update, foliot_client *c, uint32_t closed_steps)
NOTHING(foliot__predict_receive_relay, foliot_client *c, const uint8_t *bytes, size_t length)
NOTHING(foliot__predict_receive_early, foliot_client *c, const uint8_t *bytes, size_t length)
NONE(bool, foliot__predict_sample, foliot_client *c, uint64_t now_ns, foliot_sample *sample)
NOTHING(foliot__predict_count, const foliot_client *c, foliot_client_statistics *s)
NONE(bool, foliot__prediction_events_predict, foliot__prediction_events *events,
     foliot_client_event *event)
NONE(bool, foliot__prediction_events_confirm, foliot__prediction_events *events,
     foliot_client_event *event)
NONE(const foliot__line *, foliot__prediction_shown, const foliot__prediction *p)
NONE(const foliot_world *, foliot__line_world, const foliot__line *line)
NONE(bool, foliot__prediction_holds, const foliot__prediction *p)
NOTHING(foliot__write_world, foliot__update_writer *w, const foliot_world *world,
        const foliot_scene *scene)
NOTHING(foliot__write_step, foliot__update_writer *w, const foliot__session_state *known,
        const foliot_world *world, const foliot_command_list *commands, foliot__buffer *scratch)
NONE(foliot_status, foliot_snapshot_quantise, const foliot_snapshot_format *format,
     const foliot_world *world, foliot_snapshot *snapshot)
NONE(bool, foliot__fingerprint_fits, const foliot_scene *scene, foliot_digest theirs)
NONE(const foliot_simulation *, foliot_client_get_predicted, const foliot_client *client)
NONE(uint64_t, foliot_simulation_get_tick, const foliot_simulation *simulation)
NONE(bool, foliot_simulation_kind_valid, const foliot_simulation_kind *kind)
NONE(foliot_world_config, foliot_world_config_default, const foliot_scene *scene)
NONE(size_t, foliot_world_config_get_bytes, const foliot_world_config *config)
NONE(uint32_t, foliot_world_get_body_count, const foliot_world *world)
NONE(uint32_t, foliot_world_get_body_prototype, const foliot_world *world, uint32_t slot)
NONE(const foliot_event *, foliot_world_get_events, const foliot_world *world, uint32_t *count)
NONE(const foliot_hit_event *, foliot_world_get_hit_events, const foliot_world *world,
     uint32_t *count)
NONE(uint64_t, foliot_world_get_tick, const foliot_world *world)
NONE(bool, foliot_world_get_var, const foliot_world *world, const char *key, foliot_var *var)
