/* streams: the streams of a directory, each with its rollup, behind one commit hook.
 *
 *     store ──hook, every batch──▶ streams ─┬─▶ rollup of `clicks`, which is built in
 *                                           └─▶ a rollup of each defined stream
 *
 * All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_STREAMS_STREAMS_H
#define DAYBOOK_ROLLUP_STREAMS_STREAMS_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"
#include "rollup/streams/stream_definition.h"

enum { STREAMS_MAX = 64 };
enum { STREAMS_FIGURES_BYTES_DEFAULT = 64 << 20 };

struct streams;

struct streams_options {
    /* The caller sets the members from `store` to `is_automatic`.  Only the clicks of the stream
     * `clicks` expire. */
    struct rollup_options rollup;
    size_t figures_bytes;              /* limit of the memory of the figure windows of all readers;
                                        * 0: 64 MiB */
};

/* `opened` may be called before the call returns. */
must_check int streams_open(const struct streams_options *options, store_done opened, void *context,
                            struct streams **streams_out, struct error *err);

/* Finish all work that is under way, then free the streams and call `closed`. */
void streams_close(struct streams *streams, store_done closed, void *context);

void streams_dump(const struct streams *streams, struct buffer *text);

/* The rollup of the stream of that name (NULL: `clicks`); NULL: there is none. */
struct rollup *streams_find(const struct streams *streams, const char *name);
/* The rollup with that number: 0 is the built-in stream; the others follow, oldest first.  NULL:
 * there is none. */
struct rollup *streams_at(const struct streams *streams, uint32_t index);

/* The stream that uses the table, or to which the table belongs; NULL: none. */
const struct click_stream *streams_user(const struct streams *streams, uint32_t table_id);

/* Apply a batch that may change or delete clicks, as store_apply_if does, with increments of the
 * stream's counters.  Such a batch must not be applied in another way, because the counters would
 * be wrong.  While the store is full, the batch waits.  `batch` and the memory of the expectations
 * are borrowed until `done`, which is called once; status 0: the batch is durable.  ERROR_CONFLICT,
 * only if there are `expectations`: the caller must read again, and may then call again with the
 * same batch.  ERROR_INVALID: the batch writes to a rank (a click_id of 0 or more) that no click
 * has.  `has_changed` of the expectations is undefined afterwards. */
void streams_apply(struct streams *streams, struct write_batch *batch,
                   struct store_expectation *expectations, uint32_t expectation_count,
                   store_done done, void *context);

/* Open the rollup of a stream whose definition is durable.  The caller has the store's write
 * lock. */
must_check int streams_add(struct streams *streams, const struct stream_definition *definition,
                           store_done opened, void *context, struct error *err);
/* Close the rollup of a stream, before its tables are dropped.  ERROR_BUSY: a command uses the
 * rollup, or a call of streams_apply is under way. */
must_check int streams_remove(struct streams *streams, const char *name, store_done closed,
                              void *context, struct error *err);

/* For a command: the rollup of the stream of that name (NULL: `clicks`).  The stream is not dropped
 * until rollup_leave.  NULL: there is no such stream, and the command is finished with an error. */
struct rollup *streams_enter(const struct streams *streams, const char *name,
                             struct command_output *output);

/* Mark the days of the rows that are older than the stream, and bring these days up to date.  The
 * stream must exist, and no marking of it be under way.  `done` is called when the figures are
 * durable, or with an error. */
void streams_take_rows(struct streams *streams, const char *name, store_done done, void *context);

/* ERROR_NOT_FOUND: no defined stream has that name. */
must_check int streams_definition(const struct streams *streams, const char *name,
                                  const struct stream_definition **definition_out);
#endif
