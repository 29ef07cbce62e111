// SPDX-License-Identifier: MIT
// fuzz_connections.c: whole connections to the HTTP service: many requests on each, cut anywhere,
// with bodies early and late. A service that does not answer an honest request afterwards hangs.
#include <pthread.h>
#include <stdint.h>

#include "base/assert.h"
#include "http_connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!http_service.http)
        http_begin();
    http_run(data, size < 256 ? size : 256);
    FOLIOT_ASSERT(http_is_alive());
    return 0;
}
