/* row_builder: turns records into rows of a block, or into rejects; the parsers of CSV, NDJSON and
 * frames share it.
 *
 * A builder does not use the engine: it puts checked values into a block with dictionaries
 * (storage/cell/block.h), so it can be used on any thread.  Each connection has one, which is
 * cleared after each batch and keeps its memory. */
#ifndef DAYBOOK_INGEST_PARSE_ROW_BUILDER_H
#define DAYBOOK_INGEST_PARSE_ROW_BUILDER_H

#include "ingest/parse/day_memo.h"
#include "ingest/parse/intern.h"
#include "ingest/parse/partition_table.h"
#include "ingest/parse/reject.h"
#include "ingest/parse/stream_map.h"

enum {
    RECORD_ID_MAX = 4096,              /* bytes of a reseller's or ad's id */
    RECORD_LINE_MAX = 1 << 20          /* bytes of a line without its end */
};

/* A reseller's last day and partition: a next click of the same day costs one comparison. */
struct partition_memo {
    uint64_t text_low;                 /* the day's ten bytes; zero: it followed from a time */
    uint16_t text_high;
    int32_t day;                       /* INT32_MIN: nothing is known yet */
    uint32_t partition;                /* its code in the block */
};

/* The rows and rejects of some lines. */
struct row_part {
    struct block *block;               /* owned; rows are complete after row_builder_finish */
    struct reject_list rejects;
};

struct row_builder {
    const struct ingest_stream *stream;
    struct block *block;               /* owned; rows are complete after row_builder_finish */
    struct reject_list rejects;
    /* private */
    struct block_column *time, *ad, *amount, *day_derived;     /* day_derived: NULL for none */
    /* Of a stream whose clicks have ids, whose block is of click_dedup_schema's table; else
     * NULL. */
    struct block_column *click_id, *line, *content;
    struct block_dictionary resellers;
    struct intern reseller_intern, ad_intern;
    struct partition_memo *memos;      /* by reseller code */
    uint32_t memo_capacity;
    struct partition_table partitions; /* their codes in the block */
    struct buffer key;
    struct day_memo days;
};

/* `table` is the stream's, or click_dedup_schema's where its clicks have ids; `stream` outlives the
 * builder; `seed` is random.  ERROR_INVALID when the table does not have the stream's columns. */
must_check int row_builder_new(const struct ingest_stream *stream, const struct table *table,
                               uint64_t seed, struct row_builder **builder_out, struct error *err);
void row_builder_free(struct row_builder *builder);            /* NULL is fine */
/* Remove all rows and rejects. */
void row_builder_clear(struct row_builder *builder);
bool row_builder_is_empty(const struct row_builder *builder);
size_t row_builder_bytes(const struct row_builder *builder);   /* of memory */
/* Add the ads of later rows to the dictionary anew, as if they were of another block: so the table
 * in which ads are found stays as small as one batch needs, and within the caches.  The dictionary
 * may then have an ad twice. */
void row_builder_part_ads(struct row_builder *builder);
/* Complete the block before it is used: set the columns that its rows leave absent. */
void row_builder_finish(struct row_builder *builder);
/* Finish, and exchange rows and rejects for those of `part`, which is empty and of the same
 * stream's table.  The builder is empty then. */
void row_builder_emit(struct row_builder *builder, struct row_part *part);

/* Whether `id` may be a reseller's or an ad's. */
bool row_builder_takes_id(struct bytes id);

/* A record as text, without quotes and escapes.  A missing day has size 0. */
struct record {
    struct bytes fields[RECORD_FIELDS_MAX];
};

/* Check `record` and add its row, or a reject of `line` with `content`. */
void row_builder_add(struct row_builder *builder, const struct record *record, uint64_t line,
                     struct bytes content);
void row_builder_reject(struct row_builder *builder, uint64_t line, enum reject_code code,
                        struct bytes text, struct bytes content);
/* Whether `text`, a line without its LF, may be a record; its CR is taken off.  False: it is empty
 * or too long, and was rejected. */
bool row_builder_takes_line(struct row_builder *builder, uint64_t line, struct bytes *text);
/* The line `text` without the CR of a CRLF. */
static inline struct bytes row_builder_without_cr(struct bytes text)
{
    return bytes_of(text.data, text.size - (text.size > 0 && text.data[text.size - 1] == '\r'));
}

/* The same for the common form of a line, without copies.  INTERN_PADDING bytes are readable after
 * every field, the day is empty or has 10 bytes, time and amount are parsed, and the block has room
 * for the row.  False: a value is not plainly valid, and nothing was added; row_builder_add decides
 * about such a line. */
struct plain_record {
    struct bytes reseller, ad, day;
    int64_t time_ms;
    int64_t amount;
    uint8_t amount_scale;
};
bool row_builder_add_plain(struct row_builder *builder, const struct plain_record *record);
#endif
