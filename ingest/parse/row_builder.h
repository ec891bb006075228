/* row_builder: turns records into rows of a block, or into rejects; the parsers of CSV, NDJSON and
 * frames share it.
 *
 * One thread at a time may use a builder. */
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

/* The table of row_builder_schema, for blocks that are not applied themselves: those of clicks with
 * ids, and of `daybook load --binary`.  It has the stream's columns with the same numbers, and the
 * columns below, of which the last three exist only if clicks have ids. */
enum {
    ROW_BUILDER_TABLE = 1,
    ROW_BUILDER_RANK = 1001,           /* the last key column, without values */
    ROW_BUILDER_CLICK_ID,              /* serialized */
    ROW_BUILDER_LINE,                  /* the line's number in the batch */
    ROW_BUILDER_CONTENT
};

/* The text_high of a memo without a text; it is greater than any two bytes. */
enum { MEMO_NO_TEXT = UINT16_MAX + 1 };

/* Of a reseller's last plain_record: the day as a number and as 10 bytes of text; the partition. */
struct partition_memo {
    uint64_t text_low;
    uint32_t text_high;                /* MEMO_NO_TEXT: no text */
    int32_t day;                       /* INT32_MIN: no click yet */
    uint32_t partition;
};

struct row_part {
    struct block *block;
    struct reject_list rejects;
};

struct row_builder {
    const struct ingest_stream *stream;
    struct block *block;               /* owned; complete after row_builder_finish */
    struct reject_list rejects;
    struct block_column *time, *ad, *amount, *day_derived;     /* day_derived may be NULL */
    /* private */
    /* NULL if the stream's clicks have no ids. */
    struct block_column *click_id, *line, *content;
    struct block_dictionary resellers;
    struct intern reseller_intern, ad_intern;
    struct partition_memo *memos;
    uint32_t memo_capacity;
    struct partition_table partitions;
    struct buffer key;
    struct day_memo days;
};

/* The schema of ROW_BUILDER_TABLE; the caller releases it by schema_unref. */
struct schema *row_builder_schema(const struct ingest_stream *stream);
/* `table` is the stream's table in the store, or row_builder_schema's.  `stream` outlives the
 * builder; `seed` is random.  ERROR_INVALID: the table lacks a column of the stream. */
must_check int row_builder_new(const struct ingest_stream *stream, const struct table *table,
                               uint64_t seed, struct row_builder **builder_out, struct error *err);
void row_builder_free(struct row_builder *builder);            /* NULL is fine */
void row_builder_clear(struct row_builder *builder);
bool row_builder_is_empty(const struct row_builder *builder);
size_t row_builder_bytes(const struct row_builder *builder);
/* Forget which ads the dictionary has, so that the hash table of ads stays small between the
 * batches of a group.  Later rows may add an ad a second time. */
void row_builder_part_ads(struct row_builder *builder);
/* Complete the block before it is applied: mark missing values as absent. */
void row_builder_finish(struct row_builder *builder);
/* Finish, and move rows and rejects to `part`, which must be empty and of the same table.  The
 * builder gets the part's memory, and is empty afterwards. */
void row_builder_emit(struct row_builder *builder, struct row_part *part);

bool row_builder_takes_id(struct bytes id);

/* A record's fields as text, by enum record_field, without quotes and escapes.  A missing day is
 * empty. */
struct record {
    struct bytes fields[RECORD_FIELDS_MAX];
};

void row_builder_add(struct row_builder *builder, const struct record *record, uint64_t line,
                     struct bytes content);
/* Remove the CR of a CRLF from `text`.  False: the line is empty or too long, and was rejected. */
bool row_builder_takes_line(struct row_builder *builder, uint64_t line, struct bytes *text);
static inline struct bytes row_builder_without_cr(struct bytes text)
{
    return bytes_of(text.data, text.size - (text.size > 0 && text.data[text.size - 1] == '\r'));
}

/* A record whose time and amount are parsed; the day is empty or has 10 bytes.  INTERN_PADDING
 * bytes are readable from the start of each field on. */
struct plain_record {
    struct bytes reseller, ad, day;
    int64_t time_ms;
    int64_t amount;
    uint8_t amount_scale;
};
/* Add the row of a line in the common form.  The block must have space for the row, and the
 * stream's clicks must have no ids.  False: no row was added, and the line needs
 * row_builder_add. */
bool row_builder_add_plain(struct row_builder *builder, const struct plain_record *record);
/* Add the row of a record whose ids are valid, and may have quotes.  *reseller and *ad are the ids'
 * codes in the builder; INTERN_NONE is replaced by the code.  False: the day is wrong, and no row
 * was added. */
bool row_builder_add_coded(struct row_builder *builder, const struct plain_record *record,
                           int32_t *reseller, int32_t *ad);
#endif
