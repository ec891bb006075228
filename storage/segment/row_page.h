/* row_page: one page of packed unfiltereds: entries, each a run of one partition's.
 *
 * An entry knows the range deletion that is in force before its first item, so that a reader can
 * begin in any page, in either direction.  Items carry their size and kind in front, so that one
 * can be skipped, and a table of them made, without unpacking.  Layout: FORMATS.md "Narrow page".
 */
#ifndef DAYBOOK_STORAGE_SEGMENT_ROW_PAGE_H
#define DAYBOOK_STORAGE_SEGMENT_ROW_PAGE_H

#include "base/compressor.h"
#include "base/decompressor.h"
#include "storage/cell/row.h"

/* ---- writing ---- */

/* All-zero is an empty one. */
struct row_page_builder {
    struct buffer entries;             /* back to back */
    struct buffer ends;                /* u32 each: where an entry ends in `entries` */
    struct buffer plain;               /* work space of row_page_encode */
};
void row_page_builder_release(struct row_page_builder *builder);

/* Append an item to those of an entry that is being collected. */
void row_page_put_item(const struct unfiltered *item, struct buffer *scratch, struct buffer *items);
/* Add an entry; `open` is the range deletion in force before its items.  Returns its number. */
uint32_t row_page_add(struct row_page_builder *builder, struct deletion open, struct bytes items);
uint32_t row_page_entry_count(const struct row_page_builder *builder);
size_t row_page_size(const struct row_page_builder *builder);          /* plain, so far */
/* The finished page into `page` (cleared first); the builder is empty again.  ERROR_LIMIT when the
 * entries are more than a page holds. */
must_check int row_page_encode(struct row_page_builder *builder, struct compressor *compressor,
                               struct buffer *page);

/* ---- reading ---- */

enum row_item_kind { ITEM_ROW = 0, ITEM_BOUND = 1, ITEM_STATIC = 2 };      /* written to disk */

struct row_item {
    uint32_t offset;                   /* of its packed form in the entry's bytes */
    uint32_t size;
    enum row_item_kind kind;
};

/* One entry, decoded so far that any of its items can be unpacked.  All-zero is an empty one. */
struct row_entry {
    struct bytes bytes;                /* a view into the plain page */
    struct deletion open;              /* in force before the first item; TIMESTAMP_NONE: none */
    struct row_item *items;            /* owned */
    uint32_t item_count;
    uint32_t item_capacity;
};
void row_page_entry_release(struct row_entry *entry);

/* The plain page of an encoded one into `plain` (cleared first).  ERROR_CORRUPT. */
must_check int row_page_expand(struct bytes page, struct decompressor *decompressor,
                               struct buffer *plain);
/* Decode entry number `index` of a plain page, which must outlive it.  ERROR_CORRUPT. */
must_check int row_page_entry_decode(struct bytes plain, uint32_t index, struct row_entry *entry);
/* Unpack an item: views into the entry, arrays from `arena`.  ERROR_CORRUPT; the clustering and the
 * columns are not checked against a table. */
must_check int row_page_entry_unpack(const struct row_entry *entry, uint32_t item,
                                     struct arena *arena, struct unfiltered *unfiltered_out);

/* ---- labels: the position of a page's first item ---- */

/* A position is a bound, or a row's clustering, which lies between the bounds around it. */
void row_page_label_pack(const struct unfiltered *item, struct buffer *label);
/* Compare a label with a bound: <0, 0, >0 in *order_out.  ERROR_CORRUPT. */
must_check int row_page_label_compare(const struct table *table, struct bytes label,
                                      const struct bound *bound, int *order_out);
/* The same for an unpacked item that is not static; its clustering must fit the table. */
int row_page_item_compare(const struct table *table, const struct unfiltered *item,
                          const struct bound *bound);
#endif
