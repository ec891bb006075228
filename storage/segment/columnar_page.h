/* columnar_page: rows of some partitions as coded columns: the pages of a columnar segment.
 *
 * A page has entries; each entry is a whole small partition or a part of a large one.  For each
 * column an entry has a list of its strings' numbers in the dictionary, the most frequent string
 * first.  Rows name strings by their places in the list.  docs/FORMATS.md "Wide page" has the
 * layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PAGE_H
#define DAYBOOK_STORAGE_SEGMENT_COLUMNAR_PAGE_H

#include "storage/cell/columnar_rows.h"
#include "storage/segment/vector_codec.h"

enum { COLUMNAR_PAGE_ROWS_MAX = 1 << 16 };

struct columnar_page_entry {
    uint32_t first;                    /* rows [first, first + rows) of the page */
    uint32_t rows;
    int64_t timestamp_us;              /* of its rows, unless each has its own */
};

/* The string numbers of one column's entries: entry i has numbers[starts[i] .. starts[i + 1]). */
struct columnar_page_list {
    int64_t *numbers;
    uint32_t count;
    uint32_t capacity;
    uint32_t *starts;                  /* entry_count + 1 */
};

/* In `rows`, codes are places in the entry's list, and strings are not used.  If timestamps_us is
 * NULL, rows have the timestamp of their entry. */
struct columnar_page {
    struct columnar_rows rows;
    uint32_t dictionary;
    struct columnar_page_entry *entries;
    uint32_t entry_count;
    uint32_t entry_capacity;
    struct columnar_page_list *lists;  /* by column; unused for columns without codes */
    uint64_t wanted;                   /* a bit for each column to decode.  Unless it is
                                        * COLUMNAR_PAGE_ALL, `rows` gets no timestamps and ranks */
    struct vector_decoder vectors;     /* private, as are the next two */
    int64_t *values;
    uint32_t values_capacity;
};

#define COLUMNAR_PAGE_ALL UINT64_MAX

void columnar_page_init(struct columnar_page *page, const struct table *table);
void columnar_page_release(struct columnar_page *page);
void columnar_page_clear(struct columnar_page *page);          /* keeps the memory */
/* Free the memory that only decoding needs; *page keeps what was decoded. */
void columnar_page_trim(struct columnar_page *page);
size_t columnar_page_bytes(const struct columnar_page *page);  /* of a trimmed page */

/* One thread at a time may use an encoder. */
struct columnar_page_encoder;
struct columnar_page_encoder *columnar_page_encoder_new(void);
void columnar_page_encoder_free(struct columnar_page_encoder *encoder);
/* Returns a string's number in the dictionary; called once for each distinct code of an entry. */
typedef uint32_t (*columnar_page_number)(void *context, uint32_t column, uint32_t code,
                                         struct bytes string);

/* Add rows [from, from + count) of a sorted partition as an entry, for which the page must have
 * space. */
void columnar_page_add(struct columnar_page_encoder *encoder, struct columnar_page *page,
                       const struct columnar_rows *rows, uint32_t from, uint32_t count,
                       columnar_page_number number, void *context);
void columnar_page_encode(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                          struct buffer *target);

/* Clear `page` and decode into it.  Columns that are not wanted, or were dropped, are left out;
 * regular columns that the page lacks are absent.  On ERROR_CORRUPT the page is clear. */
must_check int columnar_page_decode(struct columnar_page *page, struct bytes encoded,
                                    struct error *err);
#endif
