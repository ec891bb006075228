/* streams_private: the set of streams, for those who work on all of them. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H

#include "rollup/days/day_turn.h"
#include "rollup/days/figure_window.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

struct streams {
    struct store *store;
    struct world *world;
    struct streams_options options;
    struct figure_room figures;
    struct rollup *rollups[STREAMS_MAX];       /* the built-in one first, then by age */
    uint32_t count;
    struct arena *arena;               /* of the definitions, while they are opened */
    struct stream_opening *found;      /* in it */
    uint32_t found_count;
    uint32_t found_next;
    uint32_t changes_under_way;        /* streams_apply, */
    struct day_turns *turns;           /* and who of them waits for whom */
    uint32_t calls;                    /* depth of calls to waiters: not the time to free */
    int status;                        /* of opening or closing: the first failure */
    struct error err;
    store_done opened;
    void *opened_context;
    bool is_closing_one;
    store_done closed;
    void *closed_context;
};

/* The streams by number, from 0. */
static inline uint32_t streams_count(const struct streams *streams)
{
    return streams->count;
}

static inline const struct click_stream *streams_number(const struct streams *streams,
                                                        uint32_t number)
{
    return streams->rollups[number]->stream;
}

void streams_close_if_idle(struct streams *streams);           /* may free the streams */
#endif
