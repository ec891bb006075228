/* unnumbered_rows: see the header. */
#include "ingest/connection/unnumbered_rows.h"

#include "ingest/connection/answer_text.h"

void unnumbered_rows_add(struct unnumbered_rows *rows, uint64_t lines, size_t bytes)
{
    rows->lines += lines;
    rows->bytes += bytes;
    rows->is_answer_due |= lines > 0;
}

bool unnumbered_rows_are_full(const struct unnumbered_rows *rows)
{
    return rows->lines >= UNNUMBERED_ROWS_LINES_MAX || rows->bytes >= UNNUMBERED_ROWS_BYTES_MAX;
}

void unnumbered_rows_applied(struct unnumbered_rows *rows, uint64_t accepted, uint64_t duplicates,
                             uint64_t rejected)
{
    rows->lines = 0;
    rows->bytes = 0;
    rows->accepted += accepted;
    rows->duplicates += duplicates;
    rows->rejected += rejected;
}

void unnumbered_rows_answer(struct unnumbered_rows *rows, struct buffer *text)
{
    answer_text_reject_sums(text, 0, rows->reject_sums);
    answer_text_ok(text, 0, rows->accepted, rows->rejected, rows->duplicates);
    *rows = (struct unnumbered_rows){
        .lines = rows->lines,
        .bytes = rows->bytes,
        .in_flight = rows->in_flight,
        .was_answered = true,
    };
}
