/* fuzz_row_page: pages of packed rows: all entries and items of one, and what is unpacked packs
 * and unpacks the same. */
#include "base/arena.h"
#include "storage/segment/row_page.h"
#include "tests/fuzz/fuzz.h"

enum { ENTRIES_MAX = 64 };

static void check_repacked(const struct unfiltered *item, struct arena *arena)
{
    struct buffer first = {0}, second = {0};
    struct unfiltered again;
    row_unfiltered_pack(item, &first);
    struct reader reader = reader_of(buffer_view(&first));
    check(row_unfiltered_unpack(&reader, arena, &again) == 0 && reader_left(&reader) == 0);
    row_unfiltered_pack(&again, &second);
    check(bytes_equal(buffer_view(&first), buffer_view(&second)));
    buffer_release(&first);
    buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decompressor *decompressor = decompressor_new();
    struct arena *arena = arena_new(1 << 16);
    struct buffer plain = {0};
    struct row_entry entry = {0};
    int rc = row_page_expand(bytes_of(data, size), decompressor, &plain);
    for (uint32_t index = 0; rc == 0 && index < ENTRIES_MAX; index++) {
        if (row_page_entry_decode(buffer_view(&plain), index, &entry) != 0)
            continue;
        for (uint32_t i = 0; i < entry.item_count; i++) {
            struct unfiltered item;
            if (row_page_entry_unpack(&entry, i, arena, &item) == 0)
                check_repacked(&item, arena);
            arena_reset(arena);
        }
    }
    row_page_entry_release(&entry);
    buffer_release(&plain);
    arena_free(arena);
    decompressor_free(decompressor);
    return 0;
}
