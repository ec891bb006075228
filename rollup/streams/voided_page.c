/* voided_page_look reads all rows of ad_click from the page's first click to its last, which may be
 * much of a day. */
#include "rollup/streams/voided_page.h"

#include "base/key_map.h"
#include "storage/engine/store_rows.h"
#include "rollup/tables.h"
#include "base/arena.h"
#include "base/memory.h"

enum {
    ARENA_CHUNK = 64 * 1024,
    CLICK_VALUES = 3 /* time, ad and id: the first of voided_click's four clustering columns */
};

struct voided_row {
    struct page_row row;
    uint32_t id;
    bool is_repeated; /* an earlier row, perhaps of the page before, has the same id */
};

struct voided_page {
    struct store *store;
    struct arena *arena;
    struct voided_row *rows;
    uint32_t count, capacity;
    struct key_map *ids; /* ids of the rows; each with a bool: a click has this id */
    bool is_looked_up;
    struct buffer last;
    struct store_version version;
    bool has_version;
    store_done done;
    void *context;
};

struct voided_page *voided_page_new(struct store *store)
{
    struct voided_page *page = memory_zeroed(1, sizeof(*page));
    page->store = store;
    page->arena = arena_new(ARENA_CHUNK);
    page->ids = key_map_new_of(sizeof(bool));
    return page;
}

void voided_page_free(struct voided_page *page)
{
    if (page == NULL)
        return;
    arena_free(page->arena);
    key_map_free(page->ids);
    buffer_release(&page->last);
    memory_free(page->rows);
    memory_free(page);
}

void voided_page_clear(struct voided_page *page)
{
    arena_reset(page->arena);
    key_map_free(page->ids);
    page->ids = key_map_new_of(sizeof(bool));
    page->is_looked_up = false;
    page->has_version = false;
    page->count = 0;
}

void voided_page_end(struct voided_page *page, bool has_next)
{
    uint32_t count = page->count;
    if (!has_next || count > 0)
        buffer_clear(&page->last);
    if (has_next && count > 0)
        buffer_append_bytes(&page->last, key_map_key(page->ids, page->rows[count - 1].id));
    voided_page_clear(page);
}

static void pack_id(const struct row *row, struct buffer *id)
{
    struct clustering clustering = row->clustering;
    check(clustering.count >= CLICK_VALUES);
    clustering.count = CLICK_VALUES;
    row_clustering_pack(&clustering, id);
}

void voided_page_add(struct voided_page *page, const struct page_row *row)
{
    struct buffer id = {0};
    uint32_t ids = key_map_count(page->ids);
    page->rows = memory_make_room(page->rows, page->count, &page->capacity, sizeof(*page->rows));
    struct voided_row *added = &page->rows[page->count++];
    added->row = *row;
    added->row.key = arena_copy(page->arena, row->key);
    row_copy(&row->row, page->arena, &added->row.row);
    pack_id(&row->row, &id);
    added->id = key_map_add(page->ids, buffer_view(&id));
    added->is_repeated = added->id < ids || bytes_equal(buffer_view(&id), buffer_view(&page->last));
    buffer_release(&id);
}

/* ---- the look ---- */

static int take_clicks(void *context, const struct read_page *clicks, struct error *err)
{
    struct voided_page *page = context;
    struct buffer id = {0};
    (void)err;
    if (!page->has_version)
        page->version = clicks->version;
    page->has_version = true;
    for (uint32_t i = 0; i < clicks->row_count; i++) {
        buffer_clear(&id);
        pack_id(&clicks->rows[i].row, &id);
        uint32_t number = key_map_find(page->ids, buffer_view(&id));
        if (number != KEY_MAP_NONE)
            *(bool *)key_map_value(page->ids, number) = true;
    }
    buffer_release(&id);
    return 0;
}

static void look_done(void *context, int status, const struct error *err)
{
    const struct voided_page *page = context;
    page->done(page->context, status, err);
}

static struct bound bound_at(const struct voided_row *row, enum bound_side side)
{
    struct bound bound = {.prefix = row->row.row.clustering, .side = side};
    bound.prefix.count = CLICK_VALUES;
    return bound;
}

void voided_page_look(struct voided_page *page, enum read_view view, store_done done, void *context)
{
    check(page->count > 0 && !page->is_looked_up);
    struct read_request request = store_rows_request(TABLE_AD_CLICK, &page->rows[0].row.key, view);
    request.slice = (struct slice){.start = bound_at(&page->rows[page->count - 1], BOUND_BEFORE),
                                   .end = bound_at(&page->rows[0], BOUND_AFTER)};
    page->is_looked_up = true;
    page->done = done;
    page->context = context;
    store_rows_read_pages(page->store, &request, take_clicks, look_done, page);
}

/* ---- what was found ---- */

uint32_t voided_page_count(const struct voided_page *page)
{
    return page->count;
}

const struct page_row *voided_page_row(const struct voided_page *page, uint32_t number)
{
    check(number < page->count);
    return &page->rows[number].row;
}

bool voided_page_is_taken(const struct voided_page *page, uint32_t number)
{
    check(number < page->count);
    const struct voided_row *row = &page->rows[number];
    return page->is_looked_up &&
           (row->is_repeated || *(const bool *)key_map_value(page->ids, row->id));
}

struct store_version voided_page_version(const struct voided_page *page)
{
    return page->version;
}
