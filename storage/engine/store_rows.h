/* store_rows: reads all pages of a request, and calls a function for each row or each page. */
#ifndef DAYBOOK_STORAGE_ENGINE_STORE_ROWS_H
#define DAYBOOK_STORAGE_ENGINE_STORE_ROWS_H

#include "storage/engine/store.h"

/* Returns 0 to continue, 1 to end the read, or a negative error with `err` filled. */
typedef int (*store_rows_each)(void *context, const struct table *table,
                               const struct page_row *row, struct error *err);

/* Read page after page from request->position on: call `each` for every row, and then `done` once,
 * also if the store refuses the read.  All these calls may be made before this function returns.
 * The request, and all that it points to, is copied. */
void store_rows_read(struct store *store, const struct read_request *request, store_rows_each each,
                     store_done done, void *context);

/* As store_rows_each, for each page. */
typedef int (*store_rows_each_page)(void *context, const struct read_page *page,
                                    struct error *err);
void store_rows_read_pages(struct store *store, const struct read_request *request,
                           store_rows_each_page each, store_done done, void *context);

/* `key` NULL: a scan. */
struct read_request store_rows_request(uint32_t table_id, const struct bytes *key,
                                       enum read_view view);
#endif
