// SPDX-License-Identifier: MIT
// fuzz_web_viewer.c: the module that everybody loads (web/viewer.c with watches.c in
// place of the simulation), compiled for this machine: any messages, in any order among the other
// calls of the page. Its seeds are sessions with an honest server (fuzz_web_session.c).
#include "partial_tables.h"
#include "web_calls.h"

#define RECORDS_MAX 4000

int web_tables_come(uint32_t bytes);
void page_want_tables(void);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void page_connect(void)
{
}

void page_disconnect(uint32_t reason)
{
    (void)reason;
}

void page_send(uint32_t reliable, const uint8_t *bytes, size_t length)
{
    (void)reliable;
    read_bytes(bytes, length);
}

void page_want_tables(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    records r = {data, size};
    now_ms = 1000;
    web_tables_come(take_byte(&r) % 2 ? sizeof web_tables : 7);
    join_session(0, "ann", "");
    web_update(now_ms);
    for (int i = 0; i < RECORDS_MAX && r.left > 0; i++) {
        uint8_t what = take_byte(&r);
        if (what % 32 == 28)
            web_hand_over();
        else
            call_module(&r, what % 32);
    }
    look_at_all(0);
    web_leave(now_ms);
    web_closed(0);
    web_update(now_ms);
    return 0;
}
