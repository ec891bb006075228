/* answer_text: see the header. */
#include "ingest/connection/answer_text.h"

#include <inttypes.h>

static void append_numbered(struct buffer *text, const char *word, uint64_t sequence)
{
    if (sequence == 0)
        buffer_printf(text, "%s -", word);
    else
        buffer_printf(text, "%s %" PRIu64, word, sequence);
}

void answer_text_ok(struct buffer *text, uint64_t sequence, uint64_t accepted, uint64_t rejected,
                    uint64_t duplicates)
{
    append_numbered(text, "ok", sequence);
    buffer_printf(text, " accepted %" PRIu64 " rejected %" PRIu64, accepted, rejected);
    if (duplicates > 0)
        buffer_printf(text, " duplicates %" PRIu64, duplicates);
    buffer_put_u8(text, '\n');
}

void answer_text_error(struct buffer *text, uint64_t sequence, const char *word, const char *detail)
{
    append_numbered(text, "error", sequence);
    buffer_printf(text, detail == NULL ? " %s%s\n" : " %s %s\n", word,
                  detail == NULL ? "" : detail);
}

void answer_text_rejects(struct buffer *text, const struct reject_list *list, uint64_t sequence,
                         uint64_t lines_max, uint64_t *lines_sent, uint64_t sums[REJECT_CODE_COUNT])
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct reject *reject = &list->items[i];

        if (*lines_sent >= lines_max) {
            sums[reject->code]++;
            continue;
        }
        ++*lines_sent;
        append_numbered(text, "reject", sequence);
        buffer_printf(text, " %" PRIu64 " %s ", reject->line, reject_name(reject->code));
        reject_append_json(text, reject_text(list, reject));
        buffer_put_u8(text, '\n');
    }
}

void answer_text_reject_sums(struct buffer *text, uint64_t sequence,
                             const uint64_t sums[REJECT_CODE_COUNT])
{
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++) {
        if (sums[code] == 0)
            continue;
        append_numbered(text, "rejects", sequence);
        buffer_printf(text, " %s %" PRIu64 "\n", reject_name(code), sums[code]);
    }
}
