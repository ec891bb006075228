/* string_table: distinct strings, each with a number: 0, 1, 2, … in the order they first come.
 *
 * A memtable numbers the ids of its rows with it, a segment writer those of its dictionary.  Adding
 * a string that is there is the hot path: a lookup touches one entry of the table, which holds
 * strings up to 16 bytes itself and the 128-bit hash of longer ones, and many strings are looked up
 * at once so that their cache misses overlap. */
#ifndef DAYBOOK_STORAGE_CELL_STRING_TABLE_H
#define DAYBOOK_STORAGE_CELL_STRING_TABLE_H

#include "storage/cell/block.h"

#define STRING_NONE UINT32_MAX

struct arena;
struct string_table;

/* The text and the table itself are kept in `arena`, which outlives it. */
struct string_table *string_table_new(struct arena *arena);
void string_table_free(struct string_table *table);            /* NULL is fine */

uint32_t string_table_count(const struct string_table *table);
size_t string_table_bytes(const struct string_table *table);   /* beside the arena's */
/* By number; moves when a string is added, what it points to does not. */
const struct bytes *string_table_strings(const struct string_table *table);

/* The string's number; a new one is copied. */
uint32_t string_table_add(struct string_table *table, struct bytes string);
/* string_table_add of every string of a dictionary: numbers_out by code. */
void string_table_add_all(struct string_table *table, const struct block_dictionary *dictionary,
                          uint32_t *numbers_out);
#endif
