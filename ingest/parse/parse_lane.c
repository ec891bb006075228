/* parse_lane: see the header. */
#include "ingest/parse/parse_lane.h"

#include "base/memory.h"

struct parse_lane *parse_lane_new(const struct ingest_stream *streams, uint32_t stream_count,
                                  void (*yield)(void))
{
    struct parse_lane *lane = memory_zeroed(1, sizeof *lane);

    lane->streams = streams;
    lane->stream_count = stream_count;
    lane->yield = yield;
    lane->builders = memory_zeroed(stream_count, sizeof(struct row_builder *));
    line_parser_init(&lane->parser);
    return lane;
}

void parse_lane_free(struct parse_lane *lane)
{
    if (lane == NULL)
        return;
    for (uint32_t i = 0; i < lane->stream_count; i++)
        row_builder_free(lane->builders[i]);
    memory_free(lane->builders);
    line_parser_release(&lane->parser);
    memory_free(lane);
}

struct row_builder *parse_lane_builder(struct parse_lane *lane, struct part_pool *pool,
                                       const struct ingest_stream *stream)
{
    struct row_builder **builder = &lane->builders[stream - lane->streams];
    struct error err = {0};

    check(stream >= lane->streams && stream < lane->streams + lane->stream_count);
    if (*builder == NULL && part_pool_builder(pool, stream, builder, &err) != 0)
        return NULL;
    return *builder;
}
