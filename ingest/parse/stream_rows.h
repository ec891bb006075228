/* stream_rows: the stream that a connection's records are for, how they are parsed, and their rows
 * that are not in the store yet.
 *
 * Choosing another stream begins anew: a header that was given before does not hold any more. */
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
    uint64_t settings;                 /* counts changes of how records are parsed */
    enum record_format format;
    bool is_first;                     /* no record came yet, so that a header may come */
    struct line_parser parser;
    struct ndjson *ndjson;             /* NULL before the first line of JSON */
    struct click_dedup *dedup;         /* of a stream whose clicks have ids; else NULL */
    struct row_parts parts;            /* has a builder after stream_rows_prepare */
};

void stream_rows_open(struct stream_rows *rows, struct part_pool *pool);
void stream_rows_release(struct stream_rows *rows);

/* Records are for `stream` from here on; all rows before were applied.  False: the stream's table
 * does not exist. */
must_check bool stream_rows_choose(struct stream_rows *rows, const struct ingest_stream *stream);
/* Make a builder if there is none; ERROR_INVALID where the stream's table does not exist, or does
 * not have the stream's columns. */
must_check int stream_rows_prepare(struct stream_rows *rows, struct error *err);
/* The parser of JSON, which the first call makes. */
struct ndjson *stream_rows_ndjson(struct stream_rows *rows);

/* Remove rows and rejects; the builder, the stream and its header stay. */
void stream_rows_clear(struct stream_rows *rows);
/* Free the builder, too, until the next stream_rows_prepare. */
void stream_rows_spare(struct stream_rows *rows);
/* Whether there is a builder, and no row or reject. */
bool stream_rows_is_idle(const struct stream_rows *rows);
#endif
