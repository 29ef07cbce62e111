// SPDX-License-Identifier: MIT
// header_decoder.c: reads one key of a HEADER after the other. Which keys must be there is
// record_decoder.c's.
#include "recording/record_decoder.h"

#include "base/unpack.h"

#include <stdlib.h>
#include <string.h>

void foliot__unpack_bin16(foliot__reader *r, uint8_t out[16])
{
    uint32_t length;
    const uint8_t *bytes = foliot__unpack_bin(r, &length);
    if (length == 16)
        memcpy(out, bytes, 16);
    else
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

static void unpack_text(foliot__reader *r, char *out, size_t capacity)
{
    uint32_t length;
    const char *text = foliot__unpack_str(r, &length);
    if (length >= capacity)
        length = (uint32_t)capacity - 1;
    for (uint32_t i = 0; i < length; i++) // it will be printed
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    out[length] = 0;
}

// The text of a script, closed by a zero.
static void unpack_rules_text(foliot__reader *r, foliot__recording_header *header)
{
    uint32_t length;
    const uint8_t *bytes = foliot__unpack_bin(r, &length);
    if (length > FOLIOT_RULES_SCRIPT_BYTES_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (r->status != FOLIOT_STATUS_OK)
        return;
    free(header->rules_text);
    header->rules_text = calloc(1, (size_t)length + 1);
    header->rules_text_bytes = length;
    if (!header->rules_text)
        foliot__reader_fail(r, FOLIOT_STATUS_MEMORY);
    else if (length)
        memcpy(header->rules_text, bytes, length);
}

static uint32_t unpack_u32(foliot__reader *r)
{
    uint64_t value = foliot__unpack_uint(r);
    if (value > UINT32_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return (uint32_t)value;
}

// Names, each once. The first that nobody knows is kept for the message.
static void unpack_features(foliot__reader *r, foliot__recording_header *header)
{
    uint32_t count = foliot__unpack_array(r);
    for (uint32_t i = 0; i < count && r->status == FOLIOT_STATUS_OK; i++) {
        foliot__reader before = *r;
        uint32_t length;
        const char *name = foliot__unpack_str(r, &length);
        if (r->status != FOLIOT_STATUS_OK)
            return;
        uint32_t feature = foliot__recording_feature_of(name, length);
        if (length == 0 || (header->features & feature))
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (!feature && !header->unknown_feature[0])
            unpack_text(&before, header->unknown_feature, sizeof header->unknown_feature);
        header->features |= feature;
    }
}

// The keys in the order of foliot__header_key.
static const char *const keys[] = {
    "features",   "version",    "tick",          "fingerprint", "build",      "scene",
    "integrator", "dt",         "seed",          "capacities",  "simulation", "simulation_version",
    "setup",      "rules_name", "rules_version", "rules_text",  "rules_build"};
#define KEYS (sizeof keys / sizeof keys[0])

unsigned foliot__decode_header_key(foliot__reader *r, foliot__recording_header *header)
{
    uint32_t length;
    unsigned key = 0;
    const char *text = foliot__unpack_str(r, &length);
    while (key < KEYS && !(text && strlen(keys[key]) == length && !memcmp(keys[key], text, length)))
        key++;
    switch (key) {
    case FOLIOT__HEADER_FEATURES:
        unpack_features(r, header);
        break;
    case FOLIOT__HEADER_VERSION:
        unpack_text(r, header->version, sizeof header->version);
        break;
    case FOLIOT__HEADER_TICK:
        header->tick = foliot__unpack_uint(r);
        break;
    case FOLIOT__HEADER_FINGERPRINT:
        foliot__unpack_bin16(r, header->fingerprint);
        break;
    case FOLIOT__HEADER_BUILD:
        unpack_text(r, header->build, sizeof header->build);
        break;
    case FOLIOT__HEADER_SCENE:
    case FOLIOT__HEADER_SETUP: {
        const uint8_t *bytes = foliot__unpack_bin(r, &header->scene_bytes);
        free(header->scene);
        header->scene = malloc(header->scene_bytes + 1);
        if (!header->scene)
            foliot__reader_fail(r, FOLIOT_STATUS_MEMORY);
        else if (bytes)
            memcpy(header->scene, bytes, header->scene_bytes);
        break;
    }
    case FOLIOT__HEADER_INTEGRATOR:
        unpack_text(r, header->integrator, sizeof header->integrator);
        break;
    case FOLIOT__HEADER_DT:
        header->dt = foliot__unpack_f64(r);
        break;
    case FOLIOT__HEADER_SEED:
        header->seed = foliot__unpack_uint(r);
        break;
    case FOLIOT__HEADER_CAPACITIES: {
        uint32_t count = foliot__unpack_array(r);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t value = foliot__unpack_uint(r);
            if (value > UINT32_MAX)
                foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            else if (i < 6)
                header->capacities[i] = (uint32_t)value;
        }
        if (count < 6)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        break;
    }
    case FOLIOT__HEADER_SIMULATION:
        unpack_text(r, header->simulation, sizeof header->simulation);
        break;
    case FOLIOT__HEADER_SIMULATION_VERSION:
        header->simulation_version = unpack_u32(r);
        break;
    case FOLIOT__HEADER_RULES_NAME:
        unpack_text(r, header->rules_name, sizeof header->rules_name);
        break;
    case FOLIOT__HEADER_RULES_VERSION:
        header->rules_version = unpack_u32(r);
        break;
    case FOLIOT__HEADER_RULES_TEXT:
        unpack_rules_text(r, header);
        break;
    case FOLIOT__HEADER_RULES_BUILD:
        unpack_text(r, header->rules_build, sizeof header->rules_build);
        break;
    default:
        foliot__unpack_skip(r);
        return 0;
    }
    return 1u << key;
}
