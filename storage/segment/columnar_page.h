/* columnar_page: rows of some partitions as coded columns: the unit a columnar segment is made of.
 *
 * A page has entries, each a piece of one partition: a whole small one, or a part of a large one.
 * Strings are not in it: an entry lists, most frequent first, the numbers its strings have in the
 * segment's dictionary, and its rows refer to the list by place.
 * Layout: FORMATS.md "Columnar page". */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PAGE_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PAGE_H

#include "storage/cell/columnar_rows.h"

enum { COLUMNAR_PAGE_ROWS_MAX = 1 << 16 };

struct columnar_page_entry {
    uint32_t first;                    /* its rows are [first, first + rows) of the page */
    uint32_t rows;
    int64_t timestamp_us;              /* of rows without one of their own */
};

/* The string numbers of one column's entries: entry i has numbers[starts[i] .. starts[i + 1]). */
struct columnar_page_list {
    int64_t *numbers;
    uint32_t count;
    uint32_t capacity;
    uint32_t *starts;                  /* entry_count + 1 */
};

/* A page before it is encoded and after it was decoded.  In `rows`, codes are places in the entry's
 * list, strings are not set, and timestamps_us NULL means the entries' own. */
struct columnar_page {
    struct columnar_rows rows;
    uint32_t dictionary;               /* of the segment's, the one its numbers are of */
    struct columnar_page_entry *entries;
    uint32_t entry_count;
    uint32_t entry_capacity;
    struct columnar_page_list *lists;  /* by column; unused for columns without codes */
    uint64_t wanted;                   /* bits by column: what is decoded from now on.  With some
                                        * columns alone, rows look as if they had no timestamps and
                                        * ranks, and the other columns are only read past: their
                                        * vectors hold nothing */
};

#define COLUMNAR_PAGE_ALL UINT64_MAX   /* as after columnar_page_init */

void columnar_page_init(struct columnar_page *page, const struct table *table);
void columnar_page_release(struct columnar_page *page);
void columnar_page_clear(struct columnar_page *page);          /* keeps the memory */

/* Encodes pages; its working memory serves one thread at a time. */
struct columnar_page_encoder;
struct columnar_page_encoder *columnar_page_encoder_new(void);
void columnar_page_encoder_free(struct columnar_page_encoder *encoder);
/* Gives the dictionary's number of a string; called once for each code that a piece uses. */
typedef uint32_t (*columnar_page_number)(void *context, uint32_t column, uint32_t code,
                                         struct bytes string);

/* Add rows [from, from + count) of a sorted partition as an entry, for which the page has room; and
 * encode the page.  Both go in steps, each of some COLUMNAR_STEP_ROWS values of a column, or, of a
 * large page, a part of one column.  All that was given to begin stays until a step returns false,
 * which means that the entry is in the page, or the page in the target. */
void columnar_page_add_begin(struct columnar_page_encoder *encoder, struct columnar_page *page,
                             const struct columnar_rows *rows, uint32_t from, uint32_t count,
                             columnar_page_number number, void *context);
bool columnar_page_add_step(struct columnar_page_encoder *encoder);
void columnar_page_encode_begin(struct columnar_page_encoder *encoder,
                                const struct columnar_page *page, struct buffer *target);
bool columnar_page_encode_step(struct columnar_page_encoder *encoder);

struct columnar_page_decoder;
struct columnar_page_decoder *columnar_page_decoder_new(void);
void columnar_page_decoder_free(struct columnar_page_decoder *decoder);
/* Into `page` (cleared first), made for the table.  Columns that the page has and the table no
 * longer has are left out, those it lacks are absent.  ERROR_CORRUPT; then the page is clear. */
must_check int columnar_page_decode(struct columnar_page_decoder *decoder, struct bytes encoded,
                                    struct columnar_page *page, struct error *err);
#endif
