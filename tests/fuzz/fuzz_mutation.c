/* fuzz_mutation: packed writes; what is unpacked is packed and unpacked the same. */
#include "base/arena.h"
#include "storage/cell/mutation.h"
#include "tests/fuzz/fuzz.h"

static void check_repacked(const struct mutation *mutation, struct arena *arena)
{
    struct buffer first = {0}, second = {0};
    struct mutation again;
    mutation_pack(mutation, &first);
    struct reader reader = reader_of(buffer_view(&first));
    check(mutation_unpack(&reader, fuzz_schema(), arena, NULL, &again, NULL) == 0);
    mutation_pack(&again, &second);
    check(bytes_equal(buffer_view(&first), buffer_view(&second)));
    buffer_release(&first);
    buffer_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader reader = reader_of(bytes_of(data, size));
    struct arena *arena = arena_new(1 << 16);
    struct mutation mutation;
    while (reader_left(&reader) > 0 &&
           mutation_unpack(&reader, fuzz_schema(), arena, NULL, &mutation, NULL) == 0) {
        check_repacked(&mutation, arena);
    }
    arena_free(arena);
    return 0;
}
