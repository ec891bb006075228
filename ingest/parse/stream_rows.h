/* stream_rows: the stream of a connection's records, the parsers of these records, and the rows
 * that are not applied yet.
 *
 * When another stream is chosen, an earlier header is no longer used. */
#ifndef DAYBOOK_INGEST_PARSE_STREAM_ROWS_H
#define DAYBOOK_INGEST_PARSE_STREAM_ROWS_H

#include "ingest/parse/click_dedup.h"
#include "ingest/parse/ndjson.h"
#include "ingest/parse/row_parts.h"

enum record_format { RECORDS_UNKNOWN, RECORDS_CSV, RECORDS_NDJSON };

struct stream_rows {
    struct part_pool *pool;            /* outlives this */
    const struct ingest_stream *stream;
    struct line_columns columns;
    uint64_t settings;                 /* a counter: changes of the stream or the header */
    enum record_format format;
    bool is_first;                     /* before the first record: it may be a header */
    struct line_parser parser;
    struct ndjson *ndjson;             /* NULL before the first line of JSON */
    struct click_dedup *dedup;         /* of a stream whose clicks have ids; else NULL */
    struct row_parts parts;            /* the rows; a builder after stream_rows_prepare */
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

/* Remove rows and rejects; the builder, the stream and its header stay. */
void stream_rows_clear(struct stream_rows *rows);
/* Remove rows and rejects, and free the builder; stream_rows_prepare makes another. */
void stream_rows_spare(struct stream_rows *rows);
/* Whether there is a builder, and no row or reject. */
bool stream_rows_is_idle(const struct stream_rows *rows);
#endif
