/* stream_rows: the stream of a connection's records, the parsers of these records, and the rows and
 * rejects that are not applied yet.
 *
 *     part ─ part ─ part ─ builder          in the order of their lines
 *
 * Lines that the engine thread parses are added to the builder.  Lines that were parsed ahead
 * (parse_ahead.h) are appended as parts.
 *
 * When another stream is chosen, an earlier header is no longer used. */
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
    struct line_columns columns;       /* views of `names` */
    struct buffer names;
    uint64_t settings;                 /* how often the stream or its header has changed */
    enum record_format format;
    bool is_first;                     /* before the stream's first record: a header may come */
    struct line_parser parser;
    struct ndjson *ndjson;             /* NULL before the first line of JSON */
    struct click_dedup *dedup;         /* of a stream whose clicks have ids; else NULL */
    struct row_builder *builder;       /* owned; NULL before stream_rows_prepare */
    struct row_part **parts;           /* owned; their lines precede the builder's */
    uint32_t part_count, part_capacity;
};

void stream_rows_open(struct stream_rows *rows, struct part_pool *pool);
void stream_rows_release(struct stream_rows *rows);

/* Set the stream of later records.  All earlier rows must have been applied.  False: the stream's
 * table does not exist, or does not have the stream's columns. */
must_check bool stream_rows_choose(struct stream_rows *rows, const struct ingest_stream *stream);
/* Make a builder if there is none.  ERROR_INVALID: the stream's table does not exist, or does not
 * have the stream's columns. */
must_check int stream_rows_prepare(struct stream_rows *rows, struct error *err);
/* The parser of JSON, which the first call makes. */
struct ndjson *stream_rows_ndjson(struct stream_rows *rows);

/* An empty part, owned by the caller.  The stream's table must exist, as it does if a builder was
 * made for the stream. */
struct row_part *stream_rows_part(struct stream_rows *rows);
/* Append `part` and take ownership of it; its lines follow all others.  A builder must exist. */
void stream_rows_append(struct stream_rows *rows, struct row_part *part);
size_t stream_rows_bytes(const struct stream_rows *rows);      /* memory of rows, rejects
                                                                * and what dedup keeps of them */
/* Whether there is a builder, and no row or reject. */
bool stream_rows_is_idle(const struct stream_rows *rows);

/* Complete the builder's block, and move all rejects to one list.  Returns that list.  Called
 * before a commit. */
const struct reject_list *stream_rows_finish(struct stream_rows *rows);
uint64_t stream_rows_accepted(const struct stream_rows *rows);
void stream_rows_add_blocks(const struct stream_rows *rows, struct write_batch *batch);

/* Remove rows and rejects; the builder, the stream and its header stay. */
void stream_rows_clear(struct stream_rows *rows);
/* Remove rows and rejects, and free the builder; stream_rows_prepare makes another. */
void stream_rows_spare(struct stream_rows *rows);
#endif
