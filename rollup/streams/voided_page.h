/* voided_page: a page of voided clicks, and which of them may be restored.
 *
 *     rows of voided_click, of each click the newest void first
 *       ─▶ what ad_click has between the first and the last
 *       ─▶ each row
 *            free    no click and no earlier row has its time, ad and id: it is restored
 *            taken   the click was sent again, or a newer void of it is restored
 *
 * Only clicks whose ids come from clients are looked up.  Other clicks are restored with new random
 * ids, so all of them are free.
 *
 * Restored rows are written only if the day's version is the one that was read (store_apply_if). */
#ifndef DAYBOOK_ROLLUP_STREAMS_VOIDED_PAGE_H
#define DAYBOOK_ROLLUP_STREAMS_VOIDED_PAGE_H

#include "storage/engine/store.h"

struct voided_page;

struct voided_page *voided_page_new(struct store *store);
/* `page` may be NULL.  No voided_page_look may be under way. */
void voided_page_free(struct voided_page *page);

void voided_page_clear(struct voided_page *page);
/* Empty the page.  `has_next`: another page of the day follows, in which rows with the id of this
 * page's last row count as taken. */
void voided_page_end(struct voided_page *page, bool has_next);
/* Add a copy of a row of voided_click.  Rows must be of one partition, and be added in the reverse
 * of the table's order. */
void voided_page_add(struct voided_page *page, const struct page_row *row);

/* Look up which rows are taken by clicks in `view`.  `done` is called once, perhaps before the call
 * returns.  The page must have rows. */
void voided_page_look(struct voided_page *page, enum read_view view, store_done done,
                      void *context);

uint32_t voided_page_count(const struct voided_page *page);
const struct page_row *voided_page_row(const struct voided_page *page, uint32_t number);
/* False for all rows if they were not looked up. */
bool voided_page_is_taken(const struct voided_page *page, uint32_t number);
/* The version of the clicks when they were looked up. */
struct store_version voided_page_version(const struct voided_page *page);
#endif
