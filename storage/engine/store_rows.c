#include "storage/engine/store_rows.h"

#include "base/arena.h"
#include "base/memory.h"

enum { ARENA_CHUNK = 4096, PAGE_ROWS = 2000 };

struct rows {
    struct store *store;
    struct arena *arena;
    struct read_request request;
    struct buffer position;
    store_rows_each each; /* NULL: each_page is set */
    store_rows_each_page each_page;
    store_done done;
    void *context;
    int status; /* negative: failed; 1: `each` ended the read */
    struct error err;
};

struct read_request store_rows_request(uint32_t table_id, const struct bytes *key,
                                       enum read_view view)
{
    struct read_request request = {.table_id = table_id,
                                   .is_scan = key == NULL,
                                   .slice = stream_slice_all(),
                                   .row_limit = PAGE_ROWS,
                                   .view = view};
    if (key != NULL)
        request.key = *key;
    return request;
}

static void rows_finish(struct rows *rows)
{
    store_done done = rows->done;
    void *context = rows->context;
    struct error err = rows->err;
    int status = rows->status < 0 ? rows->status : 0;
    arena_free(rows->arena);
    buffer_release(&rows->position);
    memory_free(rows);
    done(context, status, status < 0 ? &err : NULL);
}

static void rows_next(struct rows *rows);

static void rows_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct rows *rows = context;
    rows->status = status;
    if (status < 0 && err != NULL)
        rows->err = *err;
    if (rows->status == 0 && rows->each_page != NULL)
        rows->status = rows->each_page(rows->context, page, &rows->err);
    for (uint32_t i = 0; rows->status == 0 && rows->each != NULL && i < page->row_count; i++)
        rows->status = rows->each(rows->context, page->table, &page->rows[i], &rows->err);
    if (rows->status != 0 || page->position.size == 0) {
        rows_finish(rows);
        return;
    }
    buffer_clear(&rows->position);
    buffer_append_bytes(&rows->position, page->position);
    rows->request.position = buffer_view(&rows->position);
    rows_next(rows);
}

static void rows_next(struct rows *rows)
{
    struct error err = {0};
    int rc = store_read(rows->store, &rows->request, rows_page, rows, &err);
    if (rc == 0)
        return;
    /* rows->err may have the text of an error that `each` did not return. */
    rows->err = err;
    rows->status = rc;
    rows_finish(rows);
}

static void rows_start(struct store *store, const struct read_request *request,
                       store_rows_each each, store_rows_each_page each_page, store_done done,
                       void *context)
{
    struct rows *rows = memory_zeroed(1, sizeof(*rows));
    rows->store = store;
    rows->arena = arena_new(ARENA_CHUNK);
    rows->request = store_request_copy(request, rows->arena);
    buffer_append_bytes(&rows->position, request->position);
    rows->request.position = buffer_view(&rows->position);
    rows->each = each;
    rows->each_page = each_page;
    rows->done = done;
    rows->context = context;
    rows_next(rows);
}

void store_rows_read(struct store *store, const struct read_request *request, store_rows_each each,
                     store_done done, void *context)
{
    rows_start(store, request, each, NULL, done, context);
}

void store_rows_read_pages(struct store *store, const struct read_request *request,
                           store_rows_each_page each, store_done done, void *context)
{
    rows_start(store, request, NULL, each, done, context);
}
