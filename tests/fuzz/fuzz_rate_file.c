/* fuzz_rate_file: rates as CSV: edits in order, or a text per wrong line. */
#include "rollup/commands/rate_file.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer errors = {0};
    struct rate_file *file = rate_file_parse(bytes_of(data, size), &errors);
    check((file == NULL) == (errors.size > 0));
    if (file != NULL) {
        uint32_t count;
        const struct rate_edit *edits = rate_file_edits(file, &count);
        for (uint32_t i = 1; i < count; i++) {
            int order = bytes_compare(edits[i - 1].reseller, edits[i].reseller);
            check(order < 0 || (order == 0 && edits[i - 1].since > edits[i].since));
        }
    }
    rate_file_free(file);
    buffer_release(&errors);
    return 0;
}
