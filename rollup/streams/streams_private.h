/* streams_private: the set of streams, shared by streams.c, stream_marking.c and
 * click_changes.c. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_PRIVATE_H

#include "rollup/days/day_lock.h"
#include "rollup/days/rollup_private.h"
#include "rollup/streams/streams.h"

struct stream_entry {
    struct rollup *rollup;
    struct stream_definition *definition;      /* owned; NULL: the built-in one */
    struct click_stream resolved;      /* tables and columns by the present schema */
    struct stream_marking *marking;    /* of older rows; NULL: none under way */
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
    struct arena *arena;
    struct stream_opening *found;
    uint32_t found_count;
    uint32_t found_next;
    uint32_t changes_under_way;
    struct day_lock_table *locks;
    uint32_t calls;                    /* callbacks that are running; the streams must not be freed
                                        * meanwhile */
    struct error err;                  /* the first failure; code 0: none */
    store_done opened;
    void *opened_context;
    bool is_closing_one;
    store_done closed;
    void *closed_context;
};

static inline const struct click_stream *streams_number(const struct streams *streams,
                                                        uint32_t number)
{
    return rollup_stream(streams->all[number]->rollup);
}

/* stream_marking.c: mark the days of the rows that are older than the stream, from the position
 * `unmarked` on.  `marked` (may be NULL) is called once: at the end, at the first failure, or when
 * the rollup closes.  If the stream is being marked already, marking begins again and `marked` is
 * not called. */
void stream_marking_start(struct stream_entry *stream, struct bytes unmarked, store_done marked,
                          void *context);
/* End a pause of the marking, so that the pause does not delay the closing of the stream. */
void stream_marking_hurry(const struct stream_entry *stream);

/* The stream of that name (NULL: `clicks`); NULL: there is none. */
struct stream_entry *streams_named(const struct streams *streams, const char *name);
void streams_close_if_idle(struct streams *streams);           /* may free the streams */
#endif
