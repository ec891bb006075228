/* fuzz_cql_page: a paging state, whatever statement it says it is of: none, or one that is written
 * as what reads the same again. */
#include "query/cql/read/cql_page.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t statement_hash = size >= 9 ? load_u64(data + 1) : 0;
    struct buffer written = {0};
    struct cql_page_state state;
    struct cql_page_state again;
    if (cql_page_read(bytes_of(data, size), statement_hash, &state) == 0) {
        cql_page_write(&state, &written);
        check(cql_page_read(buffer_view(&written), statement_hash, &again) == 0);
        check(again.key_hash == state.key_hash && again.by_index == state.by_index);
        check(again.index_column_id == state.index_column_id && again.index_of == state.index_of);
        check(again.unit == state.unit && again.limit_left == state.limit_left);
        check(again.partition_rows == state.partition_rows);
        check(bytes_equal(again.partition_key, state.partition_key));
        check(bytes_equal(again.position, state.position));
    }
    buffer_release(&written);
    return 0;
}
