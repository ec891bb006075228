/* parse_lane: the line parser and row builders that the parse jobs of one thread share. */
#ifndef DAYBOOK_INGEST_PARSE_PARSE_LANE_H
#define DAYBOOK_INGEST_PARSE_PARSE_LANE_H

#include "ingest/parse/line_parser.h"
#include "ingest/parse/part_pool.h"

enum { PARSE_LANE_PIECE_ROWS = 1000 }; /* rows, about 0.1 ms, between two yields */

struct parse_lane {
    struct line_parser parser;
    const struct ingest_stream *streams;           /* outlive the lane */
    uint32_t stream_count;
    struct row_builder **builders;     /* by the stream's index; NULL: not made yet */
    void (*yield)(void);               /* lets other threads run */
    uint64_t rows;                     /* rows parsed since the last yield */
};

struct parse_lane *parse_lane_new(const struct ingest_stream *streams, uint32_t stream_count,
                                  void (*yield)(void));
void parse_lane_free(struct parse_lane *lane);         /* NULL is fine */

/* The lane's builder for one of `streams`; NULL: the stream's table does not exist, or lacks a
 * column.  Called on the engine thread, also while the lane's thread uses the builder, because the
 * call only returns the pointer, or makes the builder. */
struct row_builder *parse_lane_builder(struct parse_lane *lane, struct part_pool *pool,
                                       const struct ingest_stream *stream);

/* Count `rows` parsed rows, and yield after every PARSE_LANE_PIECE_ROWS rows.  A yield costs two
 * system calls, so it is not done once for each small batch. */
static inline void parse_lane_did(struct parse_lane *lane, uint64_t rows)
{
    lane->rows += rows;
    if (lane->rows < PARSE_LANE_PIECE_ROWS)
        return;
    lane->rows = 0;
    lane->yield();
}
#endif
