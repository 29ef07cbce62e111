// SPDX-License-Identifier: MIT
// closing.c: see closing.h. The compaction of a long recording takes seconds, so all ends come
// first: if the server is killed meanwhile, no recording loses its end.
#include "closing.h"

#include <stdlib.h>

#include "base/assert.h"

struct foliot__closing {
    uv_work_t work;
    foliot__closings *owner;
    foliot__closing *next;
    void *item;
};

static void start(foliot__closing *c, uv_work_cb work, uv_after_work_cb after)
{
    int queued = uv_queue_work(c->owner->loop, &c->work, work, after);
    FOLIOT_ASSERT(queued == 0); // it fails for want of a function alone
}

static void compact(uv_work_t *work)
{
    foliot__closing *c = work->data;
    c->owner->compact(c->item);
}

static void compact_next(foliot__closings *all);

static void compacted(uv_work_t *work, int status)
{
    foliot__closing *c = work->data;
    foliot__closings *all = c->owner;
    (void)status;
    all->compacts = false;
    all->closed(c->item);
    free(c);
    compact_next(all);
}

static void compact_next(foliot__closings *all)
{
    foliot__closing *c = all->first;
    if (!c || all->ends > 0 || all->compacts)
        return;
    all->first = c->next;
    all->compacts = true;
    start(c, compact, compacted);
}

static void end(uv_work_t *work)
{
    foliot__closing *c = work->data;
    c->owner->end(c->item);
}

static void ended(uv_work_t *work, int status)
{
    foliot__closing *c = work->data;
    foliot__closings *all = c->owner;
    (void)status;
    all->ends--;
    if (all->first)
        all->last->next = c;
    else
        all->first = c;
    all->last = c;
    compact_next(all);
}

bool foliot__closings_add(foliot__closings *all, void *item)
{
    foliot__closing *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    *c = (foliot__closing){.owner = all, .item = item, .work.data = c};
    all->ends++;
    start(c, end, ended);
    return true;
}
