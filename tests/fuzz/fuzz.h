/* fuzz: what the fuzzers share.
 *
 * Each fuzz_<target>.c is a libFuzzer program for one decoder of bytes from outside or from a
 * disk: it must return, with an error or with something sound, whatever the bytes are.  Programs
 * are linked with checksums that are all the same number (open_checksum.c), or else mutated files
 * would never come past them; the bits that checksums do catch are tests/sim/test_damage.c's. */
#ifndef DAYBOOK_TESTS_FUZZ_H
#define DAYBOOK_TESTS_FUZZ_H

#include "base/world/world.h"
#include "storage/engine/store.h"

/* libFuzzer's entry. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The built-in tables of rollup and ingest, and keyspace `fuzz` with the tables below; made once
 * and never freed. */
struct schema *fuzz_schema(void);
enum { FUZZ_TABLE_WHOLE = 900, FUZZ_TABLE_COUNTER = 901 };

/* Put `content`, filled up with zeros to `size_min`, into a file of the world's disk. */
void fuzz_put_file(struct world *world, const char *path, struct bytes content, size_t size_min);

/* A row of a table that a store returned: its key, then the values of its clustering columns and of
 * its others, each behind a byte with its size; FUZZ_NO_VALUE: there is none.  Values are what the
 * bytes say, not what the table's types would let in.  Cells from `arena`. */
enum { FUZZ_NO_VALUE = 255 };
struct page_row fuzz_take_row(struct bytes *input, const struct table *table, struct arena *arena);
/* The opposite; values have less than FUZZ_NO_VALUE bytes. */
void fuzz_put_row(const struct page_row *row, const struct table *table, struct buffer *target);
/* The row that the batch's mutation of that number inserts; views. */
struct page_row fuzz_row_of(const struct write_batch *batch, uint32_t number);

/* An unsigned number out of the input's first byte, which is taken away; 0 when it is empty. */
unsigned fuzz_take_byte(struct bytes *input);
#endif
