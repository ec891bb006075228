/* block: many rows of one event table as columns, as a parser makes them and a frame holds them.
 *
 * Every text column has a dictionary and codes, and so have the partition keys.  Rows are in
 * arrival order.
 *
 * Columns are the table's clustering columns (without the rank) and its regular columns, in the
 * table's order.  The vector of a column depends on the column's type:
 *   timestamp, bigint, int, smallint, tinyint, time   integers
 *   date                                              integers: the serialized unsigned number
 *   boolean                                           integers 0 and 1
 *   decimal                                           unscaled integers, each with a scale
 *   text, blob, uuid and everything else              codes into a dictionary of serialized values
 * Integers have the order of their type.  Where a row has no value, its integer, scale or code is
 * 0.  docs/FORMATS.md "Block" has the serialized form. */
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
    BLOCK_STRING_MAX = 65535,          /* bytes */
    BLOCK_SCALE_MAX = 18
};

/* Strings by code; entry i is text[offsets[i] .. offsets[i + 1]).  Partition keys are distinct; a
 * column's strings need not be. */
struct block_dictionary {
    struct buffer text;
    uint32_t *offsets;
    uint32_t count;
    uint32_t capacity;
};

enum vector_kind { VECTOR_INTEGER, VECTOR_CODE, VECTOR_DECIMAL };

struct block_column {
    uint32_t column_id;
    enum vector_kind kind;
    int64_t *integers;                 /* INTEGER and DECIMAL (unscaled) */
    uint8_t *scales;                   /* DECIMAL: 0..18 */
    uint32_t *codes;                   /* CODE */
    uint8_t *absent;                   /* 1: no value; NULL: every row has one */
    struct block_dictionary dictionary;/* CODE */
};

struct block {
    uint32_t table_id;
    uint32_t rows;
    uint32_t capacity;
    uint32_t column_count;
    struct block_column *columns;
    struct block_dictionary partitions;/* serialized keys */
    uint32_t *partition_codes;
    bool is_checked;                   /* the maker checked the rows against the columns' types and
                                        * the rules of the rollup; false: write_batch_check and the
                                        * store's commit check do it */
};

enum vector_kind block_vector_kind(const struct type *type);

/* How many columns a block of the table has, and which: the clustering columns without the rank,
 * then the regular columns. */
uint32_t block_column_count(const struct table *table);
const struct column *block_column_of(const struct table *table, uint32_t index);

/* Convert an integer or decimal to its serialized value, or back.  *scale_out is 0 for integers.
 * ERROR_INVALID: the value is not of the type, or is a decimal of more than 64 bits, or has a scale
 * outside of 0 to BLOCK_SCALE_MAX. */
void block_vector_put(const struct type *type, int64_t integer, uint8_t scale,
                      struct buffer *buffer);
must_check int block_vector_get(const struct type *type, struct bytes value, int64_t *integer_out,
                                uint8_t *scale_out);

/* `table` must have the flag TABLE_OF_EVENTS. */
struct block *block_new(const struct table *table, uint32_t capacity);
struct block *block_new_like(const struct block *block);
void block_free(struct block *block);
void block_clear(struct block *block);      /* keeps the memory */
void block_reserve(struct block *block, uint32_t more);
struct block_column *block_column_at(struct block *block, uint32_t column_id);   /* NULL: none */
/* ERROR_CORRUPT: a key or string is not a value of its column's type. */
must_check int block_check(const struct block *block, const struct schema *schema,
                           struct error *err);
void block_set_absent(struct block *block, struct block_column *column, uint32_t row);

/* Copy rows [first, end), with only the strings that they use.  `to` must have no rows and be of
 * the same table. */
void block_copy_rows(const struct block *from, uint32_t first, uint32_t end, struct block *to);

/* Returns the code.  The string has at most BLOCK_STRING_MAX bytes.  A partition key must be
 * new. */
uint32_t block_dictionary_add(struct block_dictionary *dictionary, struct bytes text);
struct bytes block_dictionary_get(const struct block_dictionary *dictionary, uint32_t code);

size_t block_memory(const struct block *block);
size_t block_bytes_max(const struct block *block);     /* the most that block_serialize appends */

void block_serialize(const struct block *block, struct buffer *buffer);
/* A regular column that was added to the table later is absent in every row.  ERROR_CORRUPT: the
 * bytes are damaged or do not fit the schema. */
must_check int block_deserialize(struct reader *reader, const struct schema *schema,
                                 struct block **block_out, struct error *err);
#endif
