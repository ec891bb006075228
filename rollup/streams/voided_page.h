/* voided_page: a page of voided clicks, and which of them may come back.
 *
 *     rows of voided_click, newest void first
 *       ─▶ what ad_click has between the first and the last
 *       ─▶ each row
 *            free    no click has its time, ad and id, and no row before it had: it comes back
 *            taken   one has: it was sent again, or a newer void of it comes back
 *
 * A look is for clicks with ids of the clients' own.  Those that the store ranks come back under
 * ids that are drawn, and are all free.
 *
 * What decides correctness: the look has a version, under which the rows that come back are written
 * (store_apply_if); so no click comes in between that they would take the place of. */
#ifndef DAYBOOK_ROLLUP_STREAMS_VOIDED_PAGE_H
#define DAYBOOK_ROLLUP_STREAMS_VOIDED_PAGE_H

#include "storage/engine/store.h"

struct voided_page;

struct voided_page *voided_page_new(struct store *store);
void voided_page_free(struct voided_page *page);               /* NULL is fine; no look runs */

/* Forget the rows, to take the page anew. */
void voided_page_clear(struct voided_page *page);
/* The rows are done.  Of the last one's id all rows of the day's next page are taken. */
void voided_page_end(struct voided_page *page, bool has_next);
/* A row of voided_click, in the reverse of the table's order, of one partition; copied. */
void voided_page_add(struct voided_page *page, const struct page_row *row);

/* Find out which rows are taken by clicks in `view`; `done` comes once, perhaps before the call
 * returns.  Only with rows. */
void voided_page_look(struct voided_page *page, enum read_view view, store_done done,
                      void *context);

uint32_t voided_page_count(const struct voided_page *page);
const struct page_row *voided_page_row(const struct voided_page *page, uint32_t number);
/* Without a look none is. */
bool voided_page_is_taken(const struct voided_page *page, uint32_t number);
/* Of the clicks, as they were looked at. */
struct store_version voided_page_version(const struct voided_page *page);
#endif
