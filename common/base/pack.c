// SPDX-License-Identifier: MIT
// pack.c: msgpack-c's packer over foliot's buffer. It always uses the shortest encoding.
#include "base/pack.h"

#include <msgpack.h>
#include <string.h>

static int append_bytes(void *buffer, const char *bytes, size_t count)
{
    foliot__pack_raw(buffer, bytes, count);
    return 0;
}

static msgpack_packer packer_of(foliot__buffer *buffer)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, buffer, append_bytes);
    return packer;
}

void foliot__pack_uint(foliot__buffer *buffer, uint64_t value)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_uint64(&packer, value);
}

void foliot__pack_int(foliot__buffer *buffer, int64_t value)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_int64(&packer, value);
}

void foliot__pack_f64(foliot__buffer *buffer, double value)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_double(&packer, value);
}

void foliot__pack_array(foliot__buffer *buffer, uint32_t count)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_array(&packer, count);
}

void foliot__pack_map(foliot__buffer *buffer, uint32_t pairs)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_map(&packer, pairs);
}

void foliot__pack_str(foliot__buffer *buffer, const char *text)
{
    msgpack_packer packer = packer_of(buffer);
    size_t length = strlen(text);
    msgpack_pack_str(&packer, length);
    msgpack_pack_str_body(&packer, text, length);
}

void foliot__pack_bin(foliot__buffer *buffer, const void *bytes, uint32_t count)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_bin(&packer, count);
    msgpack_pack_bin_body(&packer, bytes, count);
}

void foliot__pack_u64_fixed(foliot__buffer *buffer, uint64_t value)
{
    msgpack_packer packer = packer_of(buffer);
    msgpack_pack_fix_uint64(&packer, value);
}
