/* parse_ahead: input that is parsed on another thread before its connection gets there.
 *
 * A sealed chunk of input goes to LANE_COMPUTE as a parse job (parse_job.h), which makes spans of
 * records and batch groups of it.  The connection then goes over the same bytes as ever: control
 * lines, batches, counts.  Where it stands at the start of a span it takes that instead of parsing.
 * What lines mean is thus decided in one place; a span that does not fit there (another stream
 * since, a batch that ends within it) is left, and its lines are parsed when their turn is.  A
 * chunk of lines ends before a control line if it can, so that its last batch is whole, too.
 *
 * Of a connection that speaks in frames all STRINGS and BATCH frames of a chunk are decoded, for
 * the dictionary that they share goes from one to the next.  So the engine thread decodes nothing
 * but what lies at the back, when no chunk is before it.  Where a batch group cannot be taken, each
 * frame's rows are copied out of it. */
#ifndef DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H
#define DAYBOOK_INGEST_CONNECTION_PARSE_AHEAD_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/parse_job.h"

enum {
    PARSE_AHEADS_MAX = 16              /* of the instance, under way or not yet taken, which bounds
                                        * memory; the engine thread parses what comes beyond */
};

void parse_ahead_pool_close(struct parse_ahead_pool *pool);

/* How many bytes are worth handing over: `first`, but only `next` of them where they would have to
 * wait for what was handed over before. */
size_t parse_ahead_least(const struct ingest_connection *connection, size_t first, size_t next);
/* Hand the input over if it is worth it. */
void parse_ahead_submit(struct ingest_connection *connection);

/* Whether the front of the input is being parsed: it must not be taken yet. */
bool parse_ahead_is_under_way(const struct ingest_connection *connection);

/* The span of records that starts at the front of the input and has at most `lines_max` lines; its
 * rows and rejects are appended to the connection's, the first line's number being `number`.
 * Returns its bytes, which are still to be taken, and its lines; 0: there is none. */
size_t parse_ahead_take(struct ingest_connection *connection, uint64_t number, uint64_t lines_max,
                        uint64_t *lines_out);

/* The batch group that starts at the front of the input, with its control lines or frames; NULL:
 * there is none, or it is not to be taken under what holds now. */
const struct batch_group *parse_ahead_group(const struct ingest_connection *connection);

/* Apply the group, which begins at the front of the input, and take its bytes, each of which is
 * `cost` of the turn's.  False: nothing was taken. */
bool parse_ahead_commit_group(struct ingest_connection *connection, const struct batch_group *group,
                              size_t cost);

/* What the frame at the front of the input came to; NULL: it was not decoded ahead.  Its part and
 * its hash may be taken from it. */
struct decoded_frame *parse_ahead_frame(const struct ingest_connection *connection);

/* The front of the input gives way to the next chunk when all of it is taken. */
void parse_ahead_advance(struct ingest_connection *connection);
/* What was made and not taken is not wanted; what is under way stays until it is done. */
void parse_ahead_abandon(struct ingest_connection *connection);
#endif
