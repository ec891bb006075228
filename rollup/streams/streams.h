/* streams: the streams of a directory, each with its rollup, behind one commit hook.
 *
 *     store ──hook, every batch──▶ streams ─┬─▶ rollup of `clicks`, which is built in
 *                                           └─▶ a rollup of each defined stream
 *
 * Defined streams are rows of the hidden table daybook_system.stream (stream_definition.h).  They
 * are opened with the directory, and made and dropped by changes of the schema.  CQL and `daybook
 * clicks` write by streams_apply, whatever tables they write, so they need not find out which
 * tables belong to a stream.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"
#include "rollup/streams/stream_definition.h"

enum { STREAMS_MAX = 64 };             /* in a directory, the built-in one included */
enum { STREAMS_FIGURES_BYTES_DEFAULT = 64 << 20 };

struct streams;

struct streams_options {
    /* Only the members `store` to `is_automatic` are set.  They are the same for each stream, but a
     * definition may name another zone, and only the clicks of the stream `clicks` expire. */
    struct rollup_options rollup;
    size_t figures_bytes;              /* limit of the memory of the figure windows of all readers;
                                        * 0: 64 MiB */
};

/* Register the commit hook, and open the rollups of all streams; `opened` is called when they are
 * ready, perhaps before the call returns. */
must_check int streams_open(const struct streams_options *options, store_done opened, void *context,
                            struct streams **streams_out, struct error *err);

/* Finish all work that is under way (in a server also a last refresh), then free the streams and
 * call `closed`. */
void streams_close(struct streams *streams, store_done closed, void *context);

/* Append the state of each stream's rollup (rollup_dump). */
void streams_dump(const struct streams *streams, struct buffer *text);

/* The rollup of the stream of that name (NULL: `clicks`); NULL: there is none. */
struct rollup *streams_find(const struct streams *streams, const char *name);
/* The rollup with that number.  Number 0 is that of the built-in stream; the others follow by age.
 * NULL: there is no such number. */
struct rollup *streams_at(const struct streams *streams, uint32_t index);

/* The stream that uses a table, for clicks, rates or counters, or as a table of its own; NULL: no
 * stream does. */
const struct click_stream *streams_user(const struct streams *streams, uint32_t table_id);

/* store_apply_if for writers that may change clicks.  If the batch changes rows of clicks, the
 * increments of the counters that the stream keeps are added to the batch.  The increments are
 * computed from the rows before and after the batch, and committed only if the rows are unchanged;
 * else the rows are read again.  (A batch that is applied in another way leaves the counters as
 * they are, which `verify` reports.)  Waits while the store is full.  `batch`, and the memory that
 * the expectations point to, are borrowed until `done`, which is called once, with 0 when the batch
 * is durable.  ERROR_CONFLICT, only if there are `expectations`: one of them does not hold, or the
 * clicks changed between reading and writing; the caller then reads again, and calls again with the
 * same batch.  ERROR_INVALID: the batch writes to a rank (a click_id of 0 or more) that no click
 * has.  The batch may be applied with a copy of the expectations, so their `has_changed` says
 * nothing afterwards. */
void streams_apply(struct streams *streams, struct write_batch *batch,
                   struct store_expectation *expectations, uint32_t expectation_count,
                   store_done done, void *context);

/* Open the rollup of a stream whose definition is durable, while the caller has the store's write
 * lock.  No other stream has its name. */
must_check int streams_add(struct streams *streams, const struct stream_definition *definition,
                           store_done opened, void *context, struct error *err);
/* Close the rollup of a stream that is to be dropped, before its tables are dropped.  ERROR_BUSY: a
 * command uses the rollup, or a call of streams_apply is under way. */
must_check int streams_remove(struct streams *streams, const char *name, store_done closed,
                              void *context, struct error *err);

/* For a command: the rollup of the stream of that name (NULL: `clicks`).  The stream is not dropped
 * until rollup_leave.  Returns NULL if there is no such stream: then the command has been finished
 * with an error. */
struct rollup *streams_enter(const struct streams *streams, const char *name,
                             struct command_output *output);

/* Mark the days of the rows that are older than the stream of that name, and bring these days up to
 * date.  The stream must exist.  `done` is called when the figures are durable. */
void streams_take_rows(struct streams *streams, const char *name, store_done done, void *context);

/* The definition of a defined stream.  ERROR_NOT_FOUND: no defined stream has that name. */
must_check int streams_definition(const struct streams *streams, const char *name,
                                  const struct stream_definition **definition_out);
#endif
