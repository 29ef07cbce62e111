// SPDX-License-Identifier: MIT
// test_details.c: how much work a picture's contacts may cost (web/details.c), whatever the server
// says about its bodies: heaps are drawn that hold one contact, which is found last or not at all.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "page.h"

enum { JOINTS = 1, CONTACTS = 2 };

void *web_details_room(uint32_t bytes);
uint32_t web_details_draw(uint32_t what, double length);
uint32_t web_details_contacts(void);
uint32_t web_details_cut(void);

static web_detail_body *begin(uint32_t bodies, uint32_t joints)
{
    size_t bytes = sizeof(web_details) + bodies * sizeof(web_detail_body) +
                   joints * sizeof(foliot_constraint_definition);
    web_details *head = web_details_room((uint32_t)bytes);
    assert_non_null(head);
    memset(head, 0, bytes);
    *head = (web_details){(uint32_t)bytes, bodies, joints, 0, 0};
    return (web_detail_body *)(head + 1);
}

static void place(web_detail_body *body, foliot_shape shape, double x, double y)
{
    *body = (web_detail_body){.shape = shape, .category = 1, .mask = 1};
    body->state.flags = FOLIOT_BODY_ALIVE;
    body->state.position[0] = x;
    body->state.position[1] = y;
    body->state.orientation[0] = 1;
}

// Far from all others along the axis that bodies are sorted by.
static void place_pair_that_touches(web_detail_body *body)
{
    const foliot_shape ball = {.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    place(&body[0], ball, 1e6, 0);
    place(&body[1], ball, 1e6 + 0.9, 0);
}

// Capsules next to each other, askew: bounds of all meet, and no two touch.
static void place_sheaf(web_detail_body *body, uint32_t count)
{
    const foliot_shape needle = {.kind = FOLIOT_SHAPE_CAPSULE, .radius = 0.001, .half = {0, 0, 50}};
    for (uint32_t i = 0; i < count; i++) {
        place(&body[i], needle, 0.01 * i, 0);
        body[i].state.orientation[0] = 0.9238795325112867; // by 45 degrees around y
        body[i].state.orientation[2] = 0.3826834323650898;
    }
}

TEST(a_heap_whose_bounds_overlap_is_searched_whole_while_it_is_small)
{
    web_detail_body *body = begin(202, 0);
    place_sheaf(body, 200);
    place_pair_that_touches(body + 200);
    check_eq(web_details_draw(CONTACTS, 1), 1);
    check_eq(web_details_contacts(), 1);
    check_eq(web_details_cut(), 0);
}

// 499,500 pairs, each of which counts as much as 65 looks.
TEST(looking_for_points_of_contact_has_a_bound)
{
    web_detail_body *body = begin(1002, 0);
    place_sheaf(body, 1000);
    place_pair_that_touches(body + 1000);
    check_eq(web_details_draw(CONTACTS, 1), 0);
    check_eq(web_details_cut(), 1);
}

// 24 million pairs of bodies that stand still, of which nothing is asked but whether bounds meet.
TEST(looking_at_pairs_of_bounds_has_a_bound)
{
    web_detail_body *body = begin(7002, 0);
    place_sheaf(body, 7000);
    for (uint32_t i = 0; i < 7000; i++)
        body[i].state.flags |= FOLIOT_BODY_STATIC;
    place_pair_that_touches(body + 7000);
    check_eq(web_details_draw(CONTACTS, 1), 0);
    check_eq(web_details_cut(), 1);
}

TEST(looking_at_planes_has_a_bound)
{
    const foliot_shape floor = {.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}, .offset = -1e9};
    web_detail_body *body = begin(9002, 0);
    place_sheaf(body, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        body[i].state.flags |= FOLIOT_BODY_STATIC;
    for (uint32_t i = 5000; i < 9000; i++) {
        place(&body[i], floor, 0, 0);
        body[i].state.flags |= FOLIOT_BODY_STATIC;
    }
    place_pair_that_touches(body + 9000);
    check_eq(web_details_draw(CONTACTS, 1), 0);
    check_eq(web_details_cut(), 1);
}

TEST(more_contacts_than_are_drawn_are_cut)
{
    const foliot_shape ball = {.kind = FOLIOT_SHAPE_SPHERE, .radius = 1};
    web_detail_body *body = begin(400, 0); // 79,800 pairs
    for (uint32_t i = 0; i < 400; i++)
        place(&body[i], ball, 0.001 * i, 0);
    check_eq(web_details_draw(CONTACTS, 1), 65536);
    check_eq(web_details_contacts(), 65536);
    check_eq(web_details_cut(), 1);
}

// Joints come first, and may take all the room there is.
TEST(contacts_that_find_no_room_behind_joints_are_cut)
{
    const uint32_t joints = 70000;
    web_detail_body *body = begin(2, joints);
    place_pair_that_touches(body);
    foliot_constraint_definition *joint = (foliot_constraint_definition *)(body + 2);
    for (uint32_t i = 0; i < joints; i++)
        joint[i] = (foliot_constraint_definition){
            .kind = FOLIOT_CONSTRAINT_ROD, .a = 0, .b = FOLIOT_NO_BODY};
    uint32_t before = web_details_draw(JOINTS, 1);
    check_eq(web_details_draw(JOINTS | CONTACTS, 1), before);
    check_eq(web_details_contacts(), 0);
    check_eq(web_details_cut(), 1);
    check_eq(web_details_draw(CONTACTS, 1), 1);
    check_eq(web_details_cut(), 0);
}
