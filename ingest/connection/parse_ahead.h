/* parse_ahead: input that is parsed on another thread before its connection takes it.
 *
 * A sealed chunk of input goes to LANE_COMPUTE as a parse job (parse_job.h), which turns it into
 * spans of records and batch groups.  The connection then goes over the same bytes as without the
 * job: control lines, batches, counts.  At the start of a span it takes the span's rows instead of
 * parsing.  So the meaning of lines is decided in one place.  A span that does not fit (the stream
 * has changed, a batch ends within it) is not used, and its lines are parsed by the engine thread.
 * A chunk of lines ends before a control line where possible, so that its last batch is whole.
 *
 * Of a connection whose input is frames, all STRINGS and BATCH frames of a chunk are decoded,
 * because each changes or uses the dictionary that they share.  So the engine thread decodes only
 * frames at the back of the input, when no chunk is before it.  Where a batch group cannot be
 * applied, each frame's rows are copied out of it. */
#ifndef DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H
#define DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/parse_job.h"

enum {
    PARSE_AHEADS_MAX = 16              /* jobs of an instance, under way or not yet taken, which
                                        * bounds memory; the engine thread parses further input */
};

void parse_ahead_pool_close(struct parse_ahead_pool *pool);

/* How many bytes a chunk needs to be worth a job: `first`, or `next` where another chunk is before
 * it, so that its bytes would have to wait in any case. */
size_t parse_ahead_least(const struct ingest_connection *connection, size_t first, size_t next);
/* Submit a job for the input at the back if it is worth one. */
void parse_ahead_submit(struct ingest_connection *connection);

/* Whether the front of the input is being parsed: it must not be taken yet. */
bool parse_ahead_is_under_way(const struct ingest_connection *connection);

/* Use the span of records that starts at the front of the input, if it has at most `lines_max`
 * lines: its rows and rejects are appended to the connection's, the first line's number being
 * `number`.  Returns its bytes, which are still to be taken, and its lines; 0: there is none. */
size_t parse_ahead_take(struct ingest_connection *connection, uint64_t number, uint64_t lines_max,
                        uint64_t *lines_out);

/* The batch group that starts at the front of the input, with its control lines or frames; NULL:
 * there is none, or the stream or its columns have changed since. */
const struct batch_group *parse_ahead_group(const struct ingest_connection *connection);

/* Apply the group, which begins at the front of the input, and take its bytes, each of which spends
 * `cost` bytes of the turn's budget.  False: nothing was taken. */
bool parse_ahead_commit_group(struct ingest_connection *connection, const struct batch_group *group,
                              size_t cost);

/* The frame at the front of the input as it was decoded ahead; NULL: it was not.  The caller may
 * take its part and its hash out of it. */
struct decoded_frame *parse_ahead_frame(const struct ingest_connection *connection);

/* Drop chunks at the front that are taken whole. */
void parse_ahead_advance(struct ingest_connection *connection);
/* Drop the results that were not taken; jobs under way stay until they are done. */
void parse_ahead_abandon(struct ingest_connection *connection);
#endif
