/* fuzz_cql: statement text: what is read must print as text that is read as the same again. */
#include "query/cql/syntax/cql_parse.h"
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/cql_statement_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(4096);
    const struct cql_statement *statement;
    struct buffer printed = {0};
    struct buffer again = {0};
    struct error err;

    if (cql_parse(bytes_of(data, size), arena, NULL, &statement, &err) == 0) {
        cql_statement_print(statement, &printed);
        check(cql_parse(buffer_view(&printed), arena, NULL, &statement, &err) == 0);
        cql_statement_print(statement, &again);
        check(bytes_equal(buffer_view(&printed), buffer_view(&again)));
    } else {
        check(bytes_valid_utf8(bytes_text(err.text)));
    }
    buffer_release(&again);
    buffer_release(&printed);
    arena_free(arena);
    return 0;
}
