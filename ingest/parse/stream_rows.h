/* stream_rows: a connection's stream, its parsers, and the rows and rejects that are not applied
 * yet.
 *
 *     part ─ part ─ part ─ builder          in the order of their lines
 *
 * The engine thread parses lines into the builder.  Lines that were parsed ahead (parse_ahead.h)
 * are parts. */
#ifndef DAYBOOK_INGEST_PARSE_STREAM_ROWS_H
#define DAYBOOK_INGEST_PARSE_STREAM_ROWS_H

#include "ingest/parse/click_dedup.h"
#include "ingest/parse/ndjson.h"
#include "ingest/parse/part_pool.h"
#include "storage/cell/write_batch.h"

enum record_format { RECORDS_UNKNOWN, RECORDS_CSV, RECORDS_NDJSON };

struct stream_rows {
    struct part_pool *pool;            /* outlives the struct */
    const struct ingest_stream *stream;
    struct line_columns columns;
    struct buffer names;
    uint64_t settings;                 /* counts changes of the stream or its header */
    enum record_format format;
    bool is_first;
    struct line_parser parser;
    struct ndjson *ndjson;
    struct click_dedup *dedup;         /* if the stream's clicks have ids; else NULL */
    struct row_builder *builder;       /* owned; NULL before stream_rows_prepare */
    struct row_part **parts;           /* owned; their lines precede the builder's */
    uint32_t part_count, part_capacity;
};

void stream_rows_open(struct stream_rows *rows, struct part_pool *pool);
void stream_rows_release(struct stream_rows *rows);

/* Set the stream of later records, and forget the header.  All earlier rows must have been applied.
 * False: the stream's table does not exist, or lacks a column. */
must_check bool stream_rows_choose(struct stream_rows *rows, const struct ingest_stream *stream);
/* Make a builder if there is none.  ERROR_INVALID: the stream's table does not exist, or lacks a
 * column. */
must_check int stream_rows_prepare(struct stream_rows *rows, struct error *err);
struct ndjson *stream_rows_ndjson(struct stream_rows *rows);

/* An empty part, owned by the caller.  The stream must have had a builder. */
struct row_part *stream_rows_part(struct stream_rows *rows);
/* Append `part` behind all other lines, and take ownership of it.  A builder must exist. */
void stream_rows_append(struct stream_rows *rows, struct row_part *part);
size_t stream_rows_bytes(const struct stream_rows *rows);
bool stream_rows_is_idle(const struct stream_rows *rows);

/* Complete the builder's block, and gather all rejects in the returned list.  To be called before a
 * commit. */
const struct reject_list *stream_rows_finish(struct stream_rows *rows);
uint64_t stream_rows_accepted(const struct stream_rows *rows);
void stream_rows_add_blocks(const struct stream_rows *rows, struct write_batch *batch);

/* Remove rows and rejects; builder, stream and header stay. */
void stream_rows_clear(struct stream_rows *rows);
void stream_rows_spare(struct stream_rows *rows);
#endif
