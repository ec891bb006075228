/* streams_private: the set of streams, for the files that work on all of them: streams.c,
 * stream_marking.c, click_changes.c. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H

#include "rollup/days/day_lock.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

/* A stream: its rollup, and what only the set knows of it. */
struct stream_entry {
    struct rollup *rollup;
    struct stream_definition *definition;      /* owned; NULL: the built-in one */
    struct click_stream resolved;      /* of the definition, as the schema is now */
    struct stream_marking *marking;    /* of rows that were there before; NULL: all are marked */
    store_done closed;
    void *closed_context;
};

struct streams {
    struct store *store;
    struct world *world;
    struct streams_options options;
    struct quota figures;
    struct stream_entry *all[STREAMS_MAX];     /* the built-in one first, then by age */
    uint32_t count;
    struct arena *arena;               /* of the definitions, while they are opened */
    struct stream_opening *found;      /* in it */
    uint32_t found_count;
    uint32_t found_next;
    uint32_t changes_under_way;        /* streams_apply, */
    struct day_lock_table *locks;      /* and who of them waits for whom */
    uint32_t calls;                    /* depth of calls to waiters: not the time to free */
    struct error err;                  /* of opening or closing: the first failure; code 0: none */
    store_done opened;
    void *opened_context;
    bool is_closing_one;
    store_done closed;
    void *closed_context;
};

/* The stream of that number, from 0. */
static inline const struct click_stream *streams_number(const struct streams *streams,
                                                        uint32_t number)
{
    return rollup_stream(streams->all[number]->rollup);
}

/* stream_marking.c: mark the rows that were there before the stream, from `unmarked` on, which is
 * kept up in the definition's row; `marked` once, when all are, or a page could not be read, which
 * is then marked at the next start.  NULL: nothing waits. */
void stream_marking_start(struct stream_entry *stream, struct bytes unmarked, store_done marked,
                          void *context);

/* The one of that name (NULL: `clicks`); NULL: there is none. */
struct stream_entry *streams_named(const struct streams *streams, const char *name);
void streams_close_if_idle(struct streams *streams);           /* may free the streams */
#endif
