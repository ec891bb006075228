/* string_table: distinct strings, numbered 0, 1, 2, … in the order in which they were added. */
#ifndef DAYBOOK_STORAGE_CELL_STRING_TABLE_H
#define DAYBOOK_STORAGE_CELL_STRING_TABLE_H

#include "storage/cell/block.h"

#define STRING_NONE UINT32_MAX

struct arena;
struct string_table;

/* Strings and entries are in `arena`, which must outlive the table. */
struct string_table *string_table_new(struct arena *arena);
void string_table_free(struct string_table *table);            /* NULL is fine */

uint32_t string_table_count(const struct string_table *table);
size_t string_table_bytes(const struct string_table *table);   /* bytes, without the arena's */
/* The strings by number.  The array is valid until a string is added, the text as long as the
 * arena. */
const struct bytes *string_table_strings(const struct string_table *table);

uint32_t string_table_add(struct string_table *table, struct bytes string);
/* string_table_add for every string of a dictionary; `numbers_out` is by code. */
void string_table_add_all(struct string_table *table, const struct block_dictionary *dictionary,
                          uint32_t *numbers_out);
#endif
