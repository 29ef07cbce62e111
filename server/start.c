// SPDX-License-Identifier: MIT
// start.c: opens the sessions, the transport and the server that the command line asks for.
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "arguments.h"
#include "base/exit_code.h"

#define PEERS_EXTRA 16 // connections beyond players and spectators: those who are refused

static int open_listed(foliot__app *a, const foliot__arguments *arguments,
                       const foliot__host_options *options)
{
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < foliot__given.resumes.count; i++) {
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return foliot__options_wrong(&foliot__server_program, arguments, "at most %d sessions",
                                         FOLIOT_SESSIONS_MAX);
        code = foliot__hosted_resume(&a->hosted[a->hosted_count++], foliot__given.resumes.items[i],
                                     options);
    }
    bool alone = options->simulation && a->hosted_count == 0 && foliot__given.sessions.count == 0;
    if (code == 0 && (arguments->operand_count == 1 || alone))
        code =
            foliot__hosted_open(&a->hosted[a->hosted_count++], NULL,
                                arguments->operand_count ? arguments->operands[0] : NULL, options);
    for (uint32_t i = 0; code == 0 && i < foliot__given.sessions.count; i++) {
        char name[FOLIOT_NAME_BYTES];
        const char *file = foliot__session_name(arguments, foliot__given.sessions.items[i], name);
        if (!file)
            return FOLIOT__EXIT_USAGE;
        if (a->hosted_count == FOLIOT_SESSIONS_MAX)
            return foliot__options_wrong(&foliot__server_program, arguments, "at most %d sessions",
                                         FOLIOT_SESSIONS_MAX);
        code = foliot__hosted_open(&a->hosted[a->hosted_count++], name, file, options);
    }
    return code;
}

static int check_names(const foliot__app *a)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(a->hosted[i].name, a->hosted[k].name) == 0) {
                fprintf(stderr, "foliot-server: there are two sessions named '%s'\n",
                        a->hosted[i].name);
                return FOLIOT__EXIT_USAGE;
            }
    return 0;
}

// A resumed session keeps its mode unless --mode is given.
bool foliot__app_lockstep(const foliot__hosted *h)
{
    return h->simulation_module ? true
           : foliot__given.mode ? strcmp(foliot__given.mode, "lockstep") == 0
                                : h->resumed && h->lockstep;
}

// A recording of lockstep goes on in lockstep.
static int check_interest(const foliot__app *a, const foliot__arguments *arguments)
{
    for (uint32_t i = 0; i < a->hosted_count; i++)
        if (foliot__given.interest_text && foliot__app_lockstep(&a->hosted[i]))
            return foliot__options_wrong(&foliot__server_program, arguments,
                                         "--interest is for --mode snapshot: the session '%s' goes "
                                         "on in lockstep",
                                         a->hosted[i].name);
    return 0;
}

int foliot__app_read_signer(foliot__app *a)
{
    char problem[512];
    if (!foliot__given.sign || foliot_signer_read(foliot__given.sign, &a->signer, problem,
                                                  sizeof problem) == FOLIOT_STATUS_OK)
        return 0;
    fprintf(stderr, "foliot-server: --sign: %s\n", problem);
    return FOLIOT__EXIT_ERROR;
}

int foliot__app_open_sessions(foliot__app *a, const foliot__arguments *arguments,
                              const foliot__host_options *options)
{
    int code = open_listed(a, arguments, options);
    if (code == 0)
        code = check_names(a);
    if (code == 0)
        code = check_interest(a, arguments);
    return code;
}

int foliot__app_open_transport(foliot__app *a)
{
    foliot_transport_config config = foliot_transport_config_default();
    char problem[256];
    uint32_t peers = PEERS_EXTRA + (uint32_t)foliot__given.spectators;
    for (uint32_t i = 0; i < a->hosted_count; i++)
        peers += 2 * foliot__hosted_player_limit(&a->hosted[i]);
    config.bind = foliot__given.bind;
    config.port = (uint16_t)foliot__given.port;
    config.batches = true;
    config.peers_max = peers < FOLIOT_PEERS_MAX ? peers : FOLIOT_PEERS_MAX;
    config.peers_per_address_max = (uint32_t)foliot__given.per_address;
    if (foliot__given.impair && foliot_impairment_parse(foliot__given.impair, &config.send, problem,
                                                        sizeof problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "foliot-server: --impair: %s\n", problem);
        return FOLIOT__EXIT_USAGE;
    }
    config.receive = config.send;
    foliot_status status =
        foliot_transport_create_enet(&config, foliot__app_now_ns(), &a->transport);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    if (status == FOLIOT_STATUS_INVALID) {
        fprintf(stderr, "foliot-server: --bind: '%s' is no IPv4 address\n", foliot__given.bind);
        return FOLIOT__EXIT_USAGE;
    }
    if (status == FOLIOT_STATUS_NOT_FOUND || status == FOLIOT_STATUS_REFUSED) {
        fprintf(stderr,
                status == FOLIOT_STATUS_REFUSED
                    ? "foliot-server: port %u needs rights that this user does not have\n"
                    : "foliot-server: port %u on %s: this machine has no such address\n",
                config.port, foliot__given.bind);
        return FOLIOT__EXIT_ERROR;
    }
    fprintf(stderr, "foliot-server: port %u on %s is busy; --port 0 takes a free one\n",
            config.port, foliot__given.bind);
    return FOLIOT__EXIT_AGAIN;
}

int foliot__app_add_session(foliot__app *a, foliot__hosted *h)
{
    foliot_session_config session = {.name = h->name,
                                     .scene = h->scene,
                                     .world = h->world,
                                     .recording = h->recording,
                                     .pace_hz = h->pace_hz,
                                     .ticks = foliot__given.ticks,
                                     .host = &a->host,
                                     .rules = h->rules,
                                     .follows_next = true,
                                     .mode = foliot__app_lockstep(h) ? FOLIOT_SESSION_LOCKSTEP
                                                                     : FOLIOT_SESSION_SNAPSHOTS,
                                     .input_delay = (uint32_t)foliot__given.input_delay,
                                     .spectator_delay_s = foliot__given.spectator_delay,
                                     .interest = foliot__given.interest,
                                     .refuses_forced = foliot__given.no_force};
    if (h->simulation_module) {
        session.simulation = &h->simulation;
        session.player_limit = h->terms.player_limit;
    }
    foliot_status status = foliot_server_add_session(a->server, &session, foliot__app_now_ns());
    if (status == FOLIOT_STATUS_OK)
        return 0;
    fprintf(stderr, "foliot-server: the session '%s' cannot be hosted: %s\n", h->name,
            foliot_status_get_text(status));
    return FOLIOT__EXIT_ERROR;
}

int foliot__app_start_server(foliot__app *a)
{
    foliot_server_config config = foliot_server_config_default();
    config.transport = a->transport;
    config.start = foliot__app_start_step;
    config.start_user = a;
    config.snapshot_hz = foliot__given.snapshot_hz;
    config.players_per_address_max = (uint32_t)foliot__given.players_per_address;
    if (!foliot__given.players_per_address &&
        (foliot__given.impair || strncmp(foliot__given.bind, "127.", 4) == 0))
        config.players_per_address_max = FOLIOT_PLAYERS_MAX; // all are of one address
    if (foliot_server_create(&config, foliot__app_now_ns(), &a->server) != FOLIOT_STATUS_OK)
        return FOLIOT__EXIT_ERROR;
    if (foliot__given.threads > 1 &&
        !(a->pool = foliot__pool_create((uint32_t)foliot__given.threads)))
        return foliot__app_lacks("so many threads");
    a->host = (foliot_host){.run = a->pool ? foliot__pool_run : NULL,
                            .run_user = a->pool,
                            .threads = (uint32_t)foliot__given.threads,
                            .yield = foliot__pool_yield};
    int code = 0;
    for (uint32_t i = 0; code == 0 && i < a->hosted_count; i++)
        code = foliot__app_add_session(a, &a->hosted[i]);
    return code;
}
