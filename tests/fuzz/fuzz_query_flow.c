/* fuzz_query_flow: a file of queries, drawn over the built-in tables. */
#include "query/model/chebotko.h"
#include "base/arena.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(4096);
    struct query_flow flow;
    struct buffer svg = {0};
    struct error err = {0};

    if (query_flow_parse(bytes_of(data, size), arena, &flow, &err) == 0 &&
        chebotko_draw(fuzz_schema(), "daybook", &flow, &svg, &err) == 0)
        check(svg.size > 0 && bytes_valid_utf8(buffer_view(&svg)));
    else
        check(err.code < 0);
    buffer_release(&svg);
    arena_free(arena);
    return 0;
}
