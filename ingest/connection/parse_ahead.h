/* parse_ahead: parses a connection's input on another thread, before the connection takes it.
 *
 * A sealed chunk of input (input_queue.h) goes to LANE_COMPUTE as a parse job (parse_job.h).  The
 * job turns the chunk into spans of records and batch groups.  The connection then handles the same
 * bytes as without the job: control lines, batches, counts.  But at the start of a span it takes
 * the span's rows instead of parsing.  So the meaning of lines is decided in one place.  If a span
 * does not fit (the stream has changed, or a batch ends within the span), it is not used, and the
 * engine thread parses its lines.  A chunk of lines ends before a control line if possible, so that
 * its last batch is whole.
 *
 * If the input is frames, a job decodes all STRINGS and BATCH frames of its chunk, because they
 * share a dictionary.  The engine thread decodes only frames at the back of the input, when no
 * other chunk is left.  If a batch group cannot be applied, each frame's rows are copied out of
 * it. */
#ifndef DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H
#define DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/parse_job.h"

enum {
    PARSE_AHEADS_MAX = 16              /* jobs of an instance that run or whose results are not all
                                        * taken; bounds memory.  The engine thread parses the
                                        * rest */
};

void parse_ahead_pool_close(struct parse_ahead_pool *pool);

/* The least bytes for which a job is worth its cost: `first`, or `next` if another chunk is before
 * the back, so that these bytes have to wait in any case.  If the limit `ahead_min` is set, it
 * replaces both. */
size_t parse_ahead_least(const struct ingest_connection *connection, size_t first, size_t next);
/* Seal the input at the back and submit a job for it, if it is large enough. */
void parse_ahead_submit(struct ingest_connection *connection);

/* Whether a job is parsing the front of the input.  Then the front must not be taken yet. */
bool parse_ahead_is_under_way(const struct ingest_connection *connection);

/* If a span that is no batch group begins at the front of the input, and has at most `lines_max`
 * lines, append its rows and rejects to those of the connection.  `number` is the number of the
 * span's first line.  Returns how many bytes the span has, which the caller takes from the input,
 * and sets *lines_out to its lines; 0: there is no such span. */
size_t parse_ahead_take(struct ingest_connection *connection, uint64_t number, uint64_t lines_max,
                        uint64_t *lines_out);

/* The batch group at the front of the input; its size includes control lines or frame headers.
 * NULL: there is none, or the stream or its header has changed since the group was parsed. */
const struct batch_group *parse_ahead_group(const struct ingest_connection *connection);

/* Apply the group at the front of the input, and take its bytes.  Each byte costs `cost` bytes of
 * the turn's budget.  False: nothing was applied or taken. */
bool parse_ahead_commit_group(struct ingest_connection *connection, const struct batch_group *group,
                              size_t cost);

/* The result of decoding the frame at the front of the input; NULL: it was not decoded ahead.  The
 * caller may take ownership of the result's part and hash, by setting them to NULL. */
struct decoded_frame *parse_ahead_frame(const struct ingest_connection *connection);

/* Drop the chunks at the front whose bytes are all taken, but not the back.  If a chunk was
 * dropped, parse_ahead_submit is called again. */
void parse_ahead_advance(struct ingest_connection *connection);
/* Free the results of all finished jobs, taken or not; running jobs are not affected. */
void parse_ahead_abandon(struct ingest_connection *connection);
#endif
