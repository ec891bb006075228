/* fuzz_client_answers: what a server says to the client library, in pieces of any size: it is never
 * taken for more than was sent, and is answered with a code of the library's.
 *
 * Input: a byte, the size of a piece less one, then frames of answers. */
#include "client/daybook_private.h"
#include "tests/fuzz/fuzz.h"

static void count_rejected(void *context, const struct daybook_rejected *rejected)
{
    size_t *bytes = context;
    *bytes += strlen(rejected->code) + strlen(rejected->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    size_t piece = 1 + fuzz_take_byte(&input);
    size_t told = 0;
    struct daybook_options options = {
        .producer = (const uint8_t *)"0123456789abcdef",
        .rejected = count_rejected,
        .context = &told,
    };
    struct daybook *daybook;
    int rc = 0;
    check(daybook_open(&options, &daybook) == 0);
    daybook->written = 3;
    daybook->gathering = 4;
    for (size_t at = 0; at < input.size && rc == 0; at += piece) {
        size_t count = input.size - at < piece ? input.size - at : piece;
        bool progress = false;
        rc = daybook_take_answers(daybook, input.data + at, count, &progress);
        check(rc == 0 || rc == DAYBOOK_UNREACHABLE || rc == DAYBOOK_REFUSED);
        check(rc == 0 || daybook_error(daybook)[0] != '\0');
        check(daybook->totals.acknowledged <= 3);
    }
    check(told <= input.size);
    daybook_close(daybook);
    return 0;
}
