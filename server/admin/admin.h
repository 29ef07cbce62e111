// SPDX-License-Identifier: MIT
// admin.h: the admin API (docs/reference/admin-api.yaml). Three threads handle a call in turn: the
// HTTP thread reads its body, the loop's thread acts, a worker of the API does slow work (files,
// scenes) and prints the answer. So a call delays a tick only by a table lookup.
#ifndef FOLIOT_SERVER_ADMIN_H
#define FOLIOT_SERVER_ADMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "bans.h"
#include "base/json.h"
#include "command/command_json.h"
#include "foliot/server.h"
#include "http/http.h"

#define FOLIOT__CALL_TEXT_BYTES 512
#define FOLIOT__CALL_PATIENCE_NS 5000000000u // for a moment without a step

struct foliot__app;
struct foliot__hosted;
struct foliot__life_order;
typedef struct foliot__call foliot__call;

typedef enum foliot__outcome {
    FOLIOT__CALL_DONE,  // the answer is `status` with what `print` prints, or `problem`
    FOLIOT__CALL_AGAIN, // after the next update
    FOLIOT__CALL_SLOW,  // `work` first; then `act` with the next stage
} foliot__outcome;

typedef struct foliot__action {
    const char *method, *path;
    const char *keys; // allowed in the body: "name scene "; NULL: a command, read as such
    foliot__outcome (*act)(foliot__call *call);               // on the loop's thread
    void (*work)(foliot__call *call);                         // on the worker
    void (*print)(const foliot__call *call, foliot__json *j); // on the worker; NULL: {"ok": true}
} foliot__action;

// call.c: arguments of the path and of the body.
typedef struct foliot__call_body {
    char session[FOLIOT__HTTP_ARGUMENT_BYTES], subject[FOLIOT__HTTP_ARGUMENT_BYTES];
    char name[FOLIOT__CALL_TEXT_BYTES], scene[FOLIOT__CALL_TEXT_BYTES],
        reason[FOLIOT__CALL_TEXT_BYTES], text[FOLIOT_MESSAGE_BYTES_MAX + 1],
        address[FOLIOT__CALL_TEXT_BYTES], client[FOLIOT__BAN_CLIENT_BYTES];
    uint64_t seconds, player;
    bool has_player, has_record, record;
    foliot__command_line *command;
} foliot__call_body;

struct foliot__call {
    foliot__call *next;
    struct foliot__app *app;
    const foliot__action *action;
    uint64_t request;   // its id; 0: no answer is expected
    foliot__http *http; // that received it
    uint64_t until_ns;
    uint32_t stage;
    foliot__call_body body;
    // The result.
    int status; // 200 unless something is wrong
    char problem[FOLIOT__CALL_TEXT_BYTES];
    void *items;
    uint32_t count;
    uint64_t sequence;
    char file[FOLIOT__CALL_TEXT_BYTES];
    struct foliot__hosted *hosted; // a session that is being opened
    foliot_recording *recording;
    foliot__bans bans;     // read again
    uint32_t bans_changes; // when that began
};

typedef struct foliot__admin {
    bool runs, ending;
    bool terminal; // standard error was one at the start
    uv_async_t asked;
    uv_signal_t hangup;
    uv_thread_t thread;
    uv_mutex_t mutex; // of the two queues alone
    uv_cond_t filled;
    foliot__call *arrived, **arrived_last; // for the loop's thread
    foliot__call *todo, **todo_last;       // for the worker
    foliot__call *waiting;                 // of the loop's thread: AGAIN
    foliot__bans bans;                     // of the loop's thread
    uint32_t bans_changes;                 // additions and removals, of the loop's thread
    bool opening;                          // a session is: one at a time
    uint64_t begun_ns;
} foliot__admin;

extern const foliot__action foliot__actions[]; // a NULL method ends them

// Adds the routes to a table that ends with an empty one and has room.
void foliot__admin_add_routes(foliot__http_route *routes, uint32_t capacity);
// A request of one of its routes, from the thread of the service that received it.
void foliot__admin_receive(struct foliot__app *app, foliot__http *http,
                           const foliot__http_request *request);
int foliot__admin_open(struct foliot__app *app);    // behind the loop; an exit code
void foliot__admin_start(struct foliot__app *app);  // the server is there
void foliot__admin_update(struct foliot__app *app); // after each update: what waits is tried again
void foliot__admin_close(struct foliot__app *app);  // its handle of the loop
// After the loop: its worker ends, then HTTP ends, then the remaining calls are freed.
void foliot__admin_stop(struct foliot__app *app);
void foliot__admin_destroy(struct foliot__app *app);
// A session has ended by itself; if sessions come and go, its recording and place are released.
void foliot__admin_session_ended(struct foliot__app *app, const char *session);

// Hosts a session without HTTP; foliot__life_order_done gets the result. False: no memory.
bool foliot__admin_host(struct foliot__app *app, const struct foliot__life_order *order);

// call.c: a call without an HTTP request, given to the loop's thread; and parsing a call's body.
foliot__call *foliot__call_create(struct foliot__app *app, const foliot__action *action);
bool foliot__call_read(foliot__call *call, const char *body, size_t length);
void foliot__call_destroy(foliot__call *call);
// Returns DONE.
foliot__outcome foliot__call_fail(foliot__call *call, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void foliot__call_print(const foliot__call *call, FILE *out);

// -- actions of the table that are in hosting.c: sessions that come and go, and recordings; and the
// cleanup of an unfinished action.

foliot__outcome foliot__act_create(foliot__call *call);
void foliot__work_create(foliot__call *call);
void foliot__call_discard_hosted(foliot__call *call); // a session that was opened for nothing
void foliot__print_created(const foliot__call *call, foliot__json *json);
foliot__outcome foliot__act_record(foliot__call *call);
void foliot__work_record(foliot__call *call);
foliot__outcome foliot__act_stop_recording(foliot__call *call);
void foliot__work_stop_recording(foliot__call *call);
void foliot__print_recording(const foliot__call *call, foliot__json *json);

#endif
