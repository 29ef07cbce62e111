// SPDX-License-Identifier: MIT
// scene_rules.h: how the check of a scene reports a problem and its place: places, ranges as
// tables, names. For the files of scene_check alone.
#ifndef FOLIOT_SIM_SCENE_SCENE_RULES_H
#define FOLIOT_SIM_SCENE_SCENE_RULES_H

#include "sim/scene/scene.h"

// The place of a value in the scene: list[index].key; list.key if index is FOLIOT__NOWHERE; or key.
#define FOLIOT__NOWHERE UINT32_MAX
typedef struct foliot__scene_place {
    const char *list;
    uint32_t index;
} foliot__scene_place;
#define FOLIOT__AT_TOP ((foliot__scene_place){NULL, FOLIOT__NOWHERE})

typedef struct foliot__checker {
    const foliot_scene *scene;
    foliot_error *error;
    foliot_status status; // sticky: the first problem stays
} foliot__checker;

void foliot__complain(foliot__checker *c, foliot_status status, foliot__scene_place at,
                      const char *key, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// X(kind, condition on x, sentence)
#define FOLIOT__RANGE_LIST(X)                                                                      \
    X(FINITE, true, "must be a finite number")                                                     \
    X(COORDINATE, x >= -FOLIOT_POSITION_MAX && x <= FOLIOT_POSITION_MAX,                           \
      "must lie between -2^40 and 2^40")                                                           \
    X(POSITIVE, x > 0, "must be a finite number greater than 0")                                   \
    X(NOT_NEGATIVE, x >= 0, "must be a finite number, 0 or greater")                               \
    X(UNIT, x >= 0 && x <= 1, "must lie between 0 and 1")                                          \
    X(SHARE, x > 0 && x <= 1, "must be greater than 0 and at most 1")                              \
    X(FRACTION, x > 0 && x < 1, "must be greater than 0 and less than 1")

typedef enum foliot__range {
#define FOLIOT__RANGE_ENUM(kind, condition, text) FOLIOT__##kind,
    FOLIOT__RANGE_LIST(FOLIOT__RANGE_ENUM)
#undef FOLIOT__RANGE_ENUM
} foliot__range;

bool foliot__in_range(foliot__range kind, double x); // no NaN, no infinity is
const char *foliot__range_text(foliot__range kind);

// `count` doubles at `offset` of a definition.
typedef struct foliot__rule {
    const char *key;
    size_t offset;
    unsigned count;
    foliot__range kind;
} foliot__rule;

// clang-format off
#define FOLIOT__RULE(type, member, key, count, kind) {key, offsetof(type, member), count, FOLIOT__##kind}
#define FOLIOT__RULE_END {NULL, 0, 0, FOLIOT__FINITE}
// clang-format on

// Rules up to the one without a key.
void foliot__check_rules(foliot__checker *c, foliot__scene_place at, const foliot__rule *rules,
                         const void *definition);

// NULL where the name may be shown on a terminal and fits; else what is wrong with it.
const char *foliot__name_fault(const char *name);

// scene_check_bodies.c; scene_check_links.c: forces and constraints, which name bodies that have
// been checked.
void foliot__check_body(foliot__checker *c, foliot__scene_place at,
                        const foliot_body_definition *body);
void foliot__check_bodies(foliot__checker *c);
void foliot__check_prototypes(foliot__checker *c);
void foliot__check_forces(foliot__checker *c);
void foliot__check_constraints(foliot__checker *c);

#endif
