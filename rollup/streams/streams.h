/* streams: the streams of a directory, each with a rollup of its own, behind one commit hook.
 *
 *     store ──hook, every batch──▶ streams ─┬─▶ rollup of `clicks`, which is built in
 *                                           └─▶ a rollup of each defined stream
 *
 * Defined streams are rows of the hidden table daybook_system.stream (stream_definition.h): they
 * are opened with the directory, and come and go with changes of the schema.  Whoever writes goes
 * by streams_apply, whatever tables it writes, and so no door needs to know which of them belong to
 * a stream.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"
#include "rollup/streams/stream_definition.h"

enum { STREAMS_MAX = 64 };             /* in a directory, the built-in one included */
enum { STREAMS_FIGURES_BYTES_DEFAULT = 64 << 20 };

struct streams;

struct streams_options {
    /* Of each stream: `store` to `is_automatic`; what follows is filled for each.  A definition may
     * name another zone, and only the clicks of `clicks` expire. */
    struct rollup_options rollup;
    size_t figures_bytes;              /* of memory, for figures of all readers that wait to be
                                        * given in order; 0: 64 MiB */
};

/* Register the commit hook, open the rollups of all streams; `opened` when they are ready. */
must_check int streams_open(const struct streams_options *options, store_done opened, void *context,
                            struct streams **streams_out, struct error *err);

/* Finish what is under way (the automatic mode's last work too), then free and call `closed`. */
void streams_close(struct streams *streams, store_done closed, void *context);

/* Append what each stream's rollup is at. */
void streams_dump(const struct streams *streams, struct buffer *text);

/* By name; NULL as a name is `clicks`.  NULL: there is none. */
struct rollup *streams_find(const struct streams *streams, const char *name);
/* The built-in one first, then by age; NULL past the last. */
struct rollup *streams_at(const struct streams *streams, uint32_t index);

/* The stream that uses a table, for its clicks, rates or counters or for what it keeps; NULL: none
 * does. */
const struct click_stream *streams_user(const struct streams *streams, uint32_t table_id);

/* store_apply_if for every door but ingest's: what the batch's mutations do to rows of clicks is
 * added to it as increments of the counters that their stream keeps, worked out from the rows'
 * state before and after, and committed only if that state is unchanged; else it is read again.  (A
 * batch that goes past it leaves the counters as they are, which `verify` tells.)  Waits while the
 * store is full.  `batch` and what the expectations point to are borrowed until `done`, which comes
 * once: 0 when the batch is durable; ERROR_CONFLICT, only if there are `expectations`, when one of
 * them does not hold or the clicks changed between reading and writing; then read again, and call
 * again with the same batch.  ERROR_INVALID: it writes a click whose rank (a click_id of 0 or more)
 * is not there. */
void streams_apply(struct streams *streams, struct write_batch *batch,
                   const struct store_expectation *expectations, uint32_t expectation_count,
                   store_done done, void *context);

/* A stream whose definition is durable: open its rollup while nobody else writes.  Its name is new.
 */
must_check int streams_add(struct streams *streams, const struct stream_definition *definition,
                           store_done opened, void *context, struct error *err);
/* One that is to be dropped: its rollup stops, before its tables go.  Nobody asks it any more;
 * ERROR_BUSY while somebody does. */
must_check int streams_remove(struct streams *streams, const char *name, store_done closed,
                              void *context, struct error *err);

/* For a command: the rollup of the stream of that name (NULL: `clicks`), which is not dropped until
 * rollup_leave.  NULL when there is none, with the command failed. */
struct rollup *streams_enter(const struct streams *streams, const char *name,
                             struct command_output *output);

/* The rows that were there before the stream was laid over them: mark their days and work them off;
 * `done` when the figures are durable.  There is a stream of that name. */
void streams_take_rows(struct streams *streams, const char *name, store_done done, void *context);

/* The definition of a defined stream, and how it is to be marked; ERROR_NOT_FOUND. */
must_check int streams_definition(const struct streams *streams, const char *name,
                                  const struct stream_definition **definition_out);
#endif
