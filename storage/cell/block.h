/* block: many rows of one event table as columns, as a parser makes them and a frame holds them.
 *
 * Every text column is a dictionary and codes, and so are the partition keys.  A block therefore
 * needs nothing of the engine: any thread can make one, the engine looks up a few hundred strings
 * instead of one for each row, and the log keeps the block unchanged.  Rows are in arrival order.
 *
 * Columns are the table's clustering columns (without the rank) and its regular columns, in the
 * table's order.  What the vector of a column holds depends on the column's type:
 *   timestamp, bigint, int, smallint, tinyint, time   integers
 *   date                                              integers: the serialized unsigned number
 *   boolean                                           integers 0 and 1
 *   decimal                                           unscaled integers, each with a scale
 *   text, blob, uuid and everything else              codes into a dictionary of serialized values
 * Integers thus have the order of their type.  Where a row has no value, its integer, scale or code
 * is 0.  Serialized form: FORMATS.md "Block". */
#ifndef DAYBOOK_STORAGE_CELL_BLOCK_H
#define DAYBOOK_STORAGE_CELL_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/reader.h"
#include "storage/schema/schema.h"

enum {
    BLOCK_ROWS_MAX = 1 << 20,
    BLOCK_COLUMNS_MAX = 64,
    BLOCK_STRING_MAX = 65535,          /* bytes of one dictionary entry or partition key */
    BLOCK_SCALE_MAX = 18
};

/* Strings by code; entry i is text[offsets[i] .. offsets[i + 1]).  Partition keys are distinct; a
 * column's strings need not be. */
struct block_dictionary {
    struct buffer text;
    uint32_t *offsets;                 /* count + 1 items */
    uint32_t count;
    uint32_t capacity;
};

enum vector_kind { VECTOR_INTEGER, VECTOR_CODE, VECTOR_DECIMAL };

struct block_column {
    uint32_t column_id;
    enum vector_kind kind;
    int64_t *integers;                 /* INTEGER and DECIMAL (unscaled); `capacity` long */
    uint8_t *scales;                   /* DECIMAL: 0..18 */
    uint32_t *codes;                   /* CODE */
    uint8_t *absent;                   /* 1: the row has no value; NULL: every row has one */
    struct block_dictionary dictionary;/* CODE */
};

struct block {
    uint32_t table_id;
    uint32_t rows;
    uint32_t capacity;
    uint32_t column_count;
    struct block_column *columns;
    struct block_dictionary partitions;/* serialized partition keys */
    uint32_t *partition_codes;         /* by row */
    bool is_checked;                   /* the maker of the block checked its rows against the types
                                        * of the columns and, for a table of a stream of clicks, the
                                        * rules of the stream; false: write_batch_check and the
                                        * store's commit check (store.h) do that */
};

enum vector_kind block_vector_kind(const struct type *type);

/* How many columns a block of the table has, and which: the clustering columns without the rank,
 * then the regular columns. */
uint32_t block_column_count(const struct table *table);
const struct column *block_column_of(const struct table *table, uint32_t index);

/* block_vector_put appends the serialized value of an integer or decimal; block_vector_get reads
 * one.  ERROR_INVALID when the value is not of the type, or is a decimal whose unscaled value needs
 * over 64 bits or whose scale is negative or over BLOCK_SCALE_MAX.  `scale_out` is 0 for
 * integers. */
void block_vector_put(const struct type *type, int64_t integer, uint8_t scale,
                      struct buffer *buffer);
must_check int block_vector_get(const struct type *type, struct bytes value, int64_t *integer_out,
                                uint8_t *scale_out);

/* A block for `table` (TABLE_OF_EVENTS) with memory for `capacity` rows. */
struct block *block_new(const struct table *table, uint32_t capacity);
/* A block without rows for the same table. */
struct block *block_new_like(const struct block *block);
void block_free(struct block *block);
void block_clear(struct block *block);      /* keeps the memory of rows and strings */
/* Make room for `more` further rows. */
void block_reserve(struct block *block, uint32_t more);
struct block_column *block_column_at(struct block *block, uint32_t column_id);   /* NULL: none */
/* ERROR_CORRUPT unless the keys and strings of the block are values of their columns' types. */
must_check int block_check(const struct block *block, const struct schema *schema,
                           struct error *err);
/* Note that the row has no value in the column. */
void block_set_absent(struct block *block, struct block_column *column, uint32_t row);

/* Copy rows `first` to `end` - 1 of `from` to `to`, with the strings that their codes name and no
 * others.  `to` must have no rows and be of the same table. */
void block_copy_rows(const struct block *from, uint32_t first, uint32_t end, struct block *to);

/* Append a string of at most BLOCK_STRING_MAX bytes and return its code.  A partition key must not
 * be in the dictionary yet. */
uint32_t block_dictionary_add(struct block_dictionary *dictionary, struct bytes text);
struct bytes block_dictionary_get(const struct block_dictionary *dictionary, uint32_t code);

size_t block_memory(const struct block *block);        /* bytes that the block holds */
size_t block_bytes_max(const struct block *block);     /* bytes that block_serialize appends, at
                                                        * most */

void block_serialize(const struct block *block, struct buffer *buffer);
/* Read a block of a table of `schema`.  A regular column that the block does not have, because it
 * was added to the table later, is absent in every row.  ERROR_CORRUPT for an unknown table or
 * column, a wrong kind, a code or scale out of range, and an impossible count. */
must_check int block_deserialize(struct reader *reader, const struct schema *schema,
                                 struct block **block_out, struct error *err);
#endif
