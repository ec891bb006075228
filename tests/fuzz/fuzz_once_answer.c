/* fuzz_once_answer: the kept answer of a conditional write: none, or one that packs to as much. */
#include "query/cql/write/cql_idempotency.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(4096);
    struct buffer packed = {0};
    struct cql_idempotency_answer answer;
    if (cql_idempotency_answer_unpack(bytes_of(data, size), arena, &answer)) {
        check(answer.count > 0 && answer.cells.size >= 4 * (size_t)answer.count);
        cql_idempotency_answer_pack(&answer, &packed);
        check(cql_idempotency_answer_unpack(buffer_view(&packed), arena, &answer));
    }
    buffer_release(&packed);
    arena_free(arena);
    return 0;
}
