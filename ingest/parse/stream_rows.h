/* stream_rows: the stream that records are for, how they are read, and the rows that they became
 * and that are not in the store yet.
 *
 * A connection has one.  Another stream begins it anew: nothing of what was said of the columns
 * holds any more. */
#ifndef DAYBOOK_INGEST_PARSE_STREAM_ROWS_H
#define DAYBOOK_INGEST_PARSE_STREAM_ROWS_H

#include "ingest/parse/click_dedup.h"
#include "ingest/parse/ndjson.h"
#include "ingest/parse/row_parts.h"

enum record_format { RECORDS_UNKNOWN, RECORDS_CSV, RECORDS_NDJSON };

struct stream_rows {
    struct part_pool *pool;            /* outlives it */
    const struct ingest_stream *stream;
    struct line_columns columns;
    uint64_t settings;                 /* another number after each change of what records mean */
    enum record_format format;
    bool is_first;                     /* no record came yet: a header may */
    struct line_parser parser;
    struct ndjson *ndjson;             /* NULL before the first line of JSON */
    struct click_dedup *dedup;         /* of a stream whose clicks have ids; else NULL */
    struct row_parts parts;            /* has a builder from the first record on */
};

void stream_rows_open(struct stream_rows *rows, struct part_pool *pool);
void stream_rows_release(struct stream_rows *rows);

/* Records are for `stream` from here on; all before were committed.  False: the stream's table is
 * not there. */
must_check bool stream_rows_choose(struct stream_rows *rows, const struct ingest_stream *stream);
/* Have a builder; ERROR_INVALID where the stream's table is not there, or is not the stream's. */
must_check int stream_rows_prepare(struct stream_rows *rows, struct error *err);
/* The reader of JSON, which is made when it is first asked for. */
struct ndjson *stream_rows_ndjson(struct stream_rows *rows);

/* Rows and rejects go; the builder, and what was said, stay. */
void stream_rows_clear(struct stream_rows *rows);
/* The builder's memory goes, too, until the next stream_rows_prepare. */
void stream_rows_spare(struct stream_rows *rows);
/* Whether there is a builder, and no row or reject. */
bool stream_rows_is_idle(const struct stream_rows *rows);
#endif
