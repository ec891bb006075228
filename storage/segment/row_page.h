/* row_page: one page of packed items: rows and bounds of range deletions (`struct unfiltered`).
 *
 * A page has entries, each with consecutive items of one partition.  An entry has the range
 * deletion in force before its first item, so that a reader can begin in any page.  An item has its
 * size and kind in front, so that it can be skipped without unpacking.  docs/FORMATS.md "Narrow
 * page" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_ROW_PAGE_H
#define DAYBOOK_STORAGE_SEGMENT_ROW_PAGE_H

#include "base/compressor.h"
#include "base/decompressor.h"
#include "storage/cell/row.h"

/* ---- writing ---- */

/* All-zero: no entries. */
struct row_page_builder {
    struct buffer entries;
    struct buffer ends;                /* u32 each: where an entry ends in `entries` */
    struct buffer plain;
};
void row_page_builder_release(struct row_page_builder *builder);

/* Append an item to `items`, the packed items of an entry that is being collected. */
void row_page_put_item(const struct unfiltered *item, struct buffer *scratch, struct buffer *items);
/* `open` is the range deletion in force before the entry's items.  Returns the entry's number. */
uint32_t row_page_add(struct row_page_builder *builder, struct deletion open, struct bytes items);
uint32_t row_page_entry_count(const struct row_page_builder *builder);
size_t row_page_size(const struct row_page_builder *builder);  /* bytes, not compressed */
/* Encode the entries into `page`, which is cleared first, and empty the builder.  ERROR_LIMIT: the
 * entries are too large for a page; the builder keeps them. */
must_check int row_page_encode(struct row_page_builder *builder, struct compressor *compressor,
                               struct buffer *page);

/* ---- reading ---- */

enum row_item_kind { ITEM_ROW = 0, ITEM_BOUND = 1, ITEM_STATIC = 2 };      /* written to disk */

struct row_item {
    uint32_t offset;                   /* of its packed form in the entry's bytes */
    uint32_t size;
    enum row_item_kind kind;
};

/* All-zero: no items. */
struct row_entry {
    struct bytes bytes;                /* a view into the plain page */
    struct deletion open;              /* in force before the first item; TIMESTAMP_NONE: none */
    struct row_item *items;            /* owned */
    uint32_t item_count;
    uint32_t item_capacity;
};
void row_page_entry_release(struct row_entry *entry);

/* Expand an encoded page into `plain`, which is cleared first.  ERROR_CORRUPT. */
must_check int row_page_expand(struct bytes page, struct decompressor *decompressor,
                               struct buffer *plain);
/* Decode entry `index` of a plain page, which must outlive the entry.  ERROR_CORRUPT. */
must_check int row_page_entry_decode(struct bytes plain, uint32_t index, struct row_entry *entry);
/* Values are views into the entry; arrays come from `arena`.  ERROR_CORRUPT.  Clustering and
 * columns are not checked against a table. */
must_check int row_page_entry_unpack(const struct row_entry *entry, uint32_t item,
                                     struct arena *arena, struct unfiltered *unfiltered_out);

/* ---- labels: the position of a page's first item ---- */

/* A row's position lies between those of the bounds BOUND_BEFORE and BOUND_AFTER with the row's
 * clustering. */
void row_page_label_pack(const struct unfiltered *item, struct buffer *label);
/* Compare a label with a bound: <0, 0, >0 in *order_out.  ERROR_CORRUPT. */
must_check int row_page_label_compare(const struct table *table, struct bytes label,
                                      const struct bound *bound, int *order_out);
/* As row_page_label_compare, for an item that is not static and whose clustering fits the table. */
int row_page_item_compare(const struct table *table, const struct unfiltered *item,
                          const struct bound *bound);
#endif
