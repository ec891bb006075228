/* row_builder: turns records into rows of a block, or into rejects; the parsers of CSV, NDJSON and
 * frames share it.
 *
 * A builder puts checked values into a block with dictionaries (storage/cell/block.h).  It does not
 * use the engine, so any thread can use it, one at a time.  It is cleared after each batch and
 * keeps its memory. */
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

/* The table of row_builder_schema, for builders whose rows are not applied as they are.  It has the
 * stream's columns with the same numbers as in the stream's table, and the columns below.  The last
 * three of them exist only if the stream's clicks have ids. */
enum {
    ROW_BUILDER_TABLE = 1,
    ROW_BUILDER_RANK = 1001,           /* the last key column; has no values */
    ROW_BUILDER_CLICK_ID,              /* serialized */
    ROW_BUILDER_LINE,                  /* the line's number in the batch */
    ROW_BUILDER_CONTENT                /* the line, cut to REJECT_CONTENT_MAX, for a reject */
};

/* A memo's text_high if the day was computed from a time, or there is no day yet: greater than any
 * two bytes, so that no text of a line is equal. */
enum { MEMO_NO_TEXT = UINT16_MAX + 1 };

/* A reseller's last day and partition: for the reseller's next click of the same day, one
 * comparison finds the partition. */
struct partition_memo {
    uint64_t text_low;                 /* the day's first 8 bytes */
    uint32_t text_high;                /* its last 2 bytes; MEMO_NO_TEXT: the day has no text */
    int32_t day;                       /* INT32_MIN: the reseller has no click yet */
    uint32_t partition;                /* its code in the block */
};

/* The rows and rejects of some lines. */
struct row_part {
    struct block *block;               /* owned; finished */
    struct reject_list rejects;
};

struct row_builder {
    const struct ingest_stream *stream;
    struct block *block;               /* owned; rows are complete after row_builder_finish */
    struct reject_list rejects;
    struct block_column *time, *ad, *amount, *day_derived;     /* day_derived may be NULL */
    /* private */
    /* Columns of row_builder_schema's table, if the stream's clicks have ids; else NULL. */
    struct block_column *click_id, *line, *content;
    struct block_dictionary resellers;
    struct intern reseller_intern, ad_intern;
    struct partition_memo *memos;      /* by reseller code */
    uint32_t memo_capacity;
    struct partition_table partitions; /* the partitions' codes in the block */
    struct buffer key;
    struct day_memo days;
};

/* The schema of ROW_BUILDER_TABLE; the caller releases it by schema_unref. */
struct schema *row_builder_schema(const struct ingest_stream *stream);
/* `table` is the stream's table in the store, or row_builder_schema's.  `stream` outlives the
 * builder; `seed` is random.  ERROR_INVALID: the table does not have the stream's columns. */
must_check int row_builder_new(const struct ingest_stream *stream, const struct table *table,
                               uint64_t seed, struct row_builder **builder_out, struct error *err);
void row_builder_free(struct row_builder *builder);            /* NULL is fine */
/* Remove all rows and rejects. */
void row_builder_clear(struct row_builder *builder);
bool row_builder_is_empty(const struct row_builder *builder);
size_t row_builder_bytes(const struct row_builder *builder);   /* of memory */
/* Forget which ads the dictionary has: later rows add their ads again, so the dictionary may have
 * an ad twice.  Called between the batches of a group, so that the hash table of ads stays as small
 * as one batch needs, and stays in the processor's caches. */
void row_builder_part_ads(struct row_builder *builder);
/* Complete the block before it is applied: mark the values that its rows do not have as absent. */
void row_builder_finish(struct row_builder *builder);
/* Finish, and move rows and rejects to `part`, which must be empty and of the same table.  The
 * builder gets the part's memory in exchange, and is empty afterwards. */
void row_builder_emit(struct row_builder *builder, struct row_part *part);

/* Whether `id` is valid as the id of a reseller or an ad. */
bool row_builder_takes_id(struct bytes id);

/* A record's fields as text, by enum record_field, without quotes and escapes.  A missing day has
 * size 0. */
struct record {
    struct bytes fields[RECORD_FIELDS_MAX];
};

/* Check `record`, and add a row, or else a reject with the number `line` and the line `content`. */
void row_builder_add(struct row_builder *builder, const struct record *record, uint64_t line,
                     struct bytes content);
/* Remove the CR from `text`, a line without its LF.  False: the line is empty or too long, and a
 * reject was added. */
bool row_builder_takes_line(struct row_builder *builder, uint64_t line, struct bytes *text);
/* The line `text` without the CR of a CRLF. */
static inline struct bytes row_builder_without_cr(struct bytes text)
{
    return bytes_of(text.data, text.size - (text.size > 0 && text.data[text.size - 1] == '\r'));
}

/* A record whose time and amount are parsed already; the day is empty or has 10 bytes.
 * INTERN_PADDING bytes are readable from the start of every field on. */
struct plain_record {
    struct bytes reseller, ad, day;
    int64_t time_ms;
    int64_t amount;
    uint8_t amount_scale;
};
/* The fast way for the common form of a line: add the row without copies.  The block must have room
 * for it, and the stream's clicks must have no ids.  False: a value needs the checks of
 * row_builder_add, and no row was added. */
bool row_builder_add_plain(struct row_builder *builder, const struct plain_record *record);
/* The same for a record whose ids are valid (row_builder_takes_id), and may have quotes; the cost
 * does not depend on their size if their codes in the builder are given.  A code that is
 * INTERN_NONE is set.  False: the day is wrong, and no row was added. */
bool row_builder_add_coded(struct row_builder *builder, const struct plain_record *record,
                           int32_t *reseller, int32_t *ad);
#endif
