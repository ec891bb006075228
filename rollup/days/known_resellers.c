/* known_resellers: see the header. */
#include "rollup/days/known_resellers.h"

#include "base/memory.h"
#include "storage/engine/store_rows.h"

void known_resellers_init(struct known_resellers *known, struct store *store,
                          const struct click_stream *stream)
{
    *known = (struct known_resellers){.store = store, .stream = stream, .map = key_map_new()};
}

void known_resellers_release(struct known_resellers *known)
{
    key_map_free(known->map);
}

void known_resellers_add(struct known_resellers *known, struct bytes reseller)
{
    key_map_add(known->map, reseller);
}

/* One scan of the figures; in a read-only store also a scan of the marks, which are not in
 * memory. */
struct listing {
    struct known_resellers *known;
    bool is_of_marks;
    uint32_t last; /* the number of the reseller that was added last; KEY_MAP_NONE: none was */
    store_done done;
    void *context;
};

static int note_reseller(void *context, const struct table *table, const struct page_row *row,
                         struct error *err)
{
    struct listing *listing = context;
    struct key_map *resellers = listing->known->map;
    (void)table;
    (void)err;
    if (listing->last == KEY_MAP_NONE ||
        !bytes_equal(key_map_key(resellers, listing->last), row->key))
        listing->last = key_map_add(resellers, row->key);
    return 0;
}

static void rows_listed(void *context, int status, const struct error *err);

static void list_resellers(struct listing *listing)
{
    const struct click_stream *stream = listing->known->stream;
    const struct read_request request =
        store_rows_request(listing->is_of_marks ? stream->dirty_table_id : stream->figures_table_id,
                           NULL, READ_DURABLE);
    store_rows_read(listing->known->store, &request, note_reseller, rows_listed, listing);
}

static void rows_listed(void *context, int status, const struct error *err)
{
    struct listing *listing = context;
    struct known_resellers *known = listing->known;
    store_done done = listing->done;
    void *done_context = listing->context;
    bool is_read_only = known->store->capabilities.read_only;
    if (status == 0 && is_read_only && !listing->is_of_marks) {
        listing->is_of_marks = true;
        list_resellers(listing);
        return;
    }
    memory_free(listing);
    known->is_complete = known->is_complete || status == 0;
    done(done_context, status, err);
}

void known_resellers_read(struct known_resellers *known, store_done done, void *context)
{
    check(done != NULL);
    if (known->is_complete) {
        done(context, 0, NULL);
        return;
    }
    struct listing *listing = memory_zeroed(1, sizeof(*listing));
    *listing =
        (struct listing){.known = known, .last = KEY_MAP_NONE, .done = done, .context = context};
    list_resellers(listing);
}
