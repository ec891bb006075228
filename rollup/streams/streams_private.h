/* streams_private: the set of streams, shared by streams.c, stream_marking.c and
 * click_changes.c. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H

#include "rollup/days/day_lock.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

/* A stream of the set. */
struct stream_entry {
    struct rollup *rollup;
    struct stream_definition *definition;      /* owned; NULL: the built-in one */
    struct click_stream resolved;      /* the definition's tables and columns, as the schema is
                                        * now */
    struct stream_marking *marking;    /* the marking of older rows that is under way; NULL: none
                                        * is */
    store_done closed;
    void *closed_context;
};

struct streams {
    struct store *store;
    struct world *world;
    struct streams_options options;
    struct quota figures;
    struct stream_entry *all[STREAMS_MAX];     /* the built-in stream first, then by age */
    uint32_t count;
    struct arena *arena;               /* memory of the definitions that were read, while their
                                        * streams are opened */
    struct stream_opening *found;      /* the definitions that were read, in the arena */
    uint32_t found_count;
    uint32_t found_next;               /* the next definition whose stream is to be opened */
    uint32_t changes_under_way;        /* calls of streams_apply */
    struct day_lock_table *locks;      /* for the days that these calls change */
    uint32_t calls;                    /* how many callbacks are running, one within the other; the
                                        * streams must not be freed meanwhile */
    struct error err;                  /* the first failure of opening or closing; code 0: none */
    store_done opened;
    void *opened_context;
    bool is_closing_one;               /* a stream's rollup is closing */
    store_done closed;
    void *closed_context;
};

/* The stream of that number, from 0. */
static inline const struct click_stream *streams_number(const struct streams *streams,
                                                        uint32_t number)
{
    return rollup_stream(streams->all[number]->rollup);
}

/* stream_marking.c: mark the days of the rows that are older than the stream, from the position
 * `unmarked` on.  The definition's row keeps the position.  `marked` (may be NULL) is called once:
 * when all days are marked, when the rollup is closing, or when a page could not be read.  In the
 * last two cases marking continues later: in a server that goes on, after a pause, and else when
 * the directory is opened again.  If the stream is being marked already, marking begins again at
 * the first page, and `marked` is not called. */
void stream_marking_start(struct stream_entry *stream, struct bytes unmarked, store_done marked,
                          void *context);
/* Let no pause hold up the closing of the stream. */
void stream_marking_hurry(const struct stream_entry *stream);

/* The stream of that name (NULL: `clicks`); NULL: there is none. */
struct stream_entry *streams_named(const struct streams *streams, const char *name);
void streams_close_if_idle(struct streams *streams);           /* may free the streams */
#endif
