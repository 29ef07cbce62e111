// SPDX-License-Identifier: MIT
// admin.h: what the host of a server sees of its sessions and players, and does to them: pause,
// end, let nobody in, kick, refuse, record. Nothing here waits: where a step is running that a call
// would disturb, it returns FOLIOT_STATUS_AGAIN, and the host calls again after the next update.
//
// All of it is called from the thread that uses the server. Times are those of server.h.
#ifndef FOLIOT_ADMIN_H
#define FOLIOT_ADMIN_H

#include "foliot/server.h"
#include "foliot/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_ADDRESS_BYTES 64 // of an address as text, with its closing zero

typedef struct foliot_session_info {
    char name[FOLIOT_NAME_BYTES];
    foliot_session_mode mode;
    bool ended, paused, closed; // closed: nobody new is let in
    bool records;               // has a recording that takes ticks
    uint64_t first_tick, tick;  // the next to close
    double pace_hz;
    uint32_t body_count; // of the scene; 0: a simulation that is no world
    uint32_t player_limit, players, absent, spectators;
} foliot_session_info;

typedef struct foliot_player_info {
    uint32_t player;
    char name[FOLIOT_NAME_BYTES];
    char address[FOLIOT_ADDRESS_BYTES]; // "127.0.0.1:40312"; "": its connection is gone
    bool present;                       // has a connection
    bool steps;                         // computes the session itself; else it watches
    uint64_t round_trip_ns;             // 0: unknown
} foliot_player_info;

uint32_t foliot_server_get_session_count(const foliot_server *server);
// By index. FOLIOT_STATUS_NOT_FOUND: beyond the last, or it was removed.
FOLIOT_MUST_CHECK foliot_status foliot_server_get_session_info(const foliot_server *server,
                                                               uint32_t index,
                                                               foliot_session_info *info);
// FOLIOT_STATUS_NOT_FOUND: no such session.
FOLIOT_MUST_CHECK foliot_status foliot_server_find_session(const foliot_server *server,
                                                           const char *session, uint32_t *index);
// Fills at most `capacity`; *count is how many there are. FOLIOT_STATUS_NOT_FOUND: no such session.
FOLIOT_MUST_CHECK foliot_status foliot_server_get_players(const foliot_server *server,
                                                          const char *session,
                                                          foliot_player_info *players,
                                                          uint32_t capacity, uint32_t *count);

// While a session is paused none of its ticks is due, and its peers stay connected. Afterwards it
// goes on at its pace; the time between is not made up for. FOLIOT_STATUS_NOT_FOUND: no such
// session; FOLIOT_STATUS_INVALID: it has ended.
FOLIOT_MUST_CHECK foliot_status foliot_server_pause_session(foliot_server *server,
                                                            const char *session, bool paused,
                                                            uint64_t now_ns);
// Ends one session with FOLIOT_SERVER_GAME_ENDED: its peers are told why, its recording is whole up
// to the last tick. FOLIOT_STATUS_AGAIN: a step runs; FOLIOT_STATUS_INVALID: it has ended already.
FOLIOT_MUST_CHECK foliot_status foliot_server_end_session(foliot_server *server,
                                                          const char *session, const char *why,
                                                          uint64_t now_ns);
// A session that has ended is forgotten, and its world destroyed: its name and place are free. What
// was lent for it is the host's again. FOLIOT_STATUS_AGAIN: a peer is still in it;
// FOLIOT_STATUS_INVALID: it goes on; FOLIOT_STATUS_NOT_FOUND.
FOLIOT_MUST_CHECK foliot_status foliot_server_remove_session(foliot_server *server,
                                                             const char *session);
// Nobody new is let in; who has a place keeps it, and comes back to it. `session` "": all that
// there are, and all that will be added.
FOLIOT_MUST_CHECK foliot_status foliot_server_close_session(foliot_server *server,
                                                            const char *session, bool closed);
// The player leaves for good, and is told why. FOLIOT_STATUS_NOT_FOUND: no such session or player.
FOLIOT_MUST_CHECK foliot_status foliot_server_kick(foliot_server *server, const char *session,
                                                   uint32_t player, const char *why);

// Asked for each newcomer before a place is looked for, with its name, its address as above and
// what it proved. False refuses it with the sentence in `why`. NULL: all may enter. Called inside
// foliot_server_update.
void foliot_server_set_admission(foliot_server *server,
                                 bool (*admit)(void *user, const char *session, const char *name,
                                               const char *address,
                                               const foliot_peer_identity *identity, char why[160]),
                                 void *user);

// Another recording, opened on the session's world at its present tick, or NULL for none. The one
// before it is no longer lent. Players who are there are noted in the new one: it can be resumed as
// one from the start can. FOLIOT_STATUS_AGAIN: a step runs; FOLIOT_STATUS_INVALID: the session has
// ended; or what the notes returned.
FOLIOT_MUST_CHECK foliot_status foliot_server_set_recording(foliot_server *server,
                                                            const char *session,
                                                            foliot_recording *recording);

#ifdef __cplusplus
}
#endif

#endif
