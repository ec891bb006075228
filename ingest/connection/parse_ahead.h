/* parse_ahead: parses a connection's input on another thread, before the connection takes it.
 *
 * On LANE_COMPUTE, a parse job (parse_job.h) turns a sealed chunk of input (input_queue.h) into
 * spans: records, or whole batches (a batch group).  The connection handles the same bytes as
 * without the job, but where a span begins, it takes the span's rows instead of parsing.  If a span
 * does not fit (the stream has changed, or a batch ends within it), the engine thread parses it.
 *
 * Frames share a dictionary, so they are decoded in order: those of sealed chunks by jobs, those of
 * the back by the engine thread when no other chunk is left. */
#ifndef DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H
#define DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/parse_job.h"

enum {
    PARSE_AHEADS_MAX = 16              /* jobs of an instance that run or have results left; bounds
                                        * memory */
};

void parse_ahead_pool_close(struct parse_ahead_pool *pool);

/* The least bytes for which a job is worth its cost: `first` if the input has one chunk, or `next`
 * if it has more.  The limit `ahead_min`, if set, replaces both. */
size_t parse_ahead_least(const struct ingest_connection *connection, size_t first, size_t next);
void parse_ahead_submit(struct ingest_connection *connection);

/* Whether a job is parsing the front chunk of the input, whose bytes must then not be taken yet. */
bool parse_ahead_is_under_way(const struct ingest_connection *connection);

/* If a span that is no batch group begins at the front of the input, and has at most `lines_max`
 * lines, append its rows and rejects to those of the connection.  `number` is the number of the
 * span's first line.  Returns the span's bytes, which the caller takes from the input, and sets
 * *lines_out.  0: there is no such span. */
size_t parse_ahead_take(struct ingest_connection *connection, uint64_t number, uint64_t lines_max,
                        uint64_t *lines_out);

/* The batch group at the front of the input; its size includes control lines or frame headers.
 * NULL: there is none, or the stream or its header has changed. */
const struct batch_group *parse_ahead_group(const struct ingest_connection *connection);

/* Apply the group at the front of the input, and take its bytes.  Each byte costs `cost` bytes of
 * the turn's budget.  False: nothing was applied or taken. */
bool parse_ahead_commit_group(struct ingest_connection *connection, const struct batch_group *group,
                              size_t cost);

/* The frame at the front of the input, decoded ahead; NULL: it was not decoded ahead.  The caller
 * may take ownership of the frame's part and hash, by setting them to NULL. */
struct decoded_frame *parse_ahead_frame(const struct ingest_connection *connection);

/* Drop the chunks at the front whose bytes are all taken, but not the back.  This may submit the
 * next job. */
void parse_ahead_advance(struct ingest_connection *connection);
/* Free the results of all finished jobs, taken or not. */
void parse_ahead_abandon(struct ingest_connection *connection);
#endif
