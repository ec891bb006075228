/* parse_lane: what one thread keeps for the parse jobs that it runs one after the other: a line
 * parser, and for each stream a row builder, whose tables stay in the processor's caches between
 * jobs. */
#ifndef DAYBOOK_INGEST_PARSE_PARSE_LANE_H
#define DAYBOOK_INGEST_PARSE_PARSE_LANE_H

#include "ingest/parse/line_parser.h"
#include "ingest/parse/part_pool.h"

enum { PARSE_LANE_PIECE_ROWS = 1000 }; /* of a piece, some 0.1 ms; then the thread yields */

struct parse_lane {
    struct line_parser parser;
    const struct ingest_stream *streams;           /* these outlive it */
    uint32_t stream_count;
    struct row_builder **builders;     /* by the stream's place in `streams`; NULL: not made yet */
    void (*yield)(void);               /* between pieces */
    uint64_t rows;                     /* since it yielded */
};

struct parse_lane *parse_lane_new(const struct ingest_stream *streams, uint32_t stream_count,
                                  void (*yield)(void));
void parse_lane_free(struct parse_lane *lane);         /* NULL is fine */

/* The lane's builder for one of `streams`; NULL: the stream's table is gone.  Engine thread; the
 * lane's thread may be using the builder meanwhile. */
struct row_builder *parse_lane_builder(struct parse_lane *lane, struct part_pool *pool,
                                       const struct ingest_stream *stream);

/* `rows` more rows are parsed.  The thread yields, which is two system calls, every
 * PARSE_LANE_PIECE_ROWS rows, however small the batches are. */
static inline void parse_lane_did(struct parse_lane *lane, uint64_t rows)
{
    lane->rows += rows;
    if (lane->rows < PARSE_LANE_PIECE_ROWS)
        return;
    lane->rows = 0;
    lane->yield();
}
#endif
