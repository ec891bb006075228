/* unnumbered_rows: counts a connection's rows outside of numbered batches: rows that are gathered
 * and not applied yet, and rows that were applied since the last answer `ok -`. */
#ifndef DAYBOOK_INGEST_CONNECTION_UNNUMBERED_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_UNNUMBERED_ROWS_H

#include "ingest/parse/reject.h"

enum {
    UNNUMBERED_ROWS_LINES_MAX = 65536,             /* lines of text that are applied together */
    UNNUMBERED_ROWS_BYTES_MAX = 4 << 20,           /* bytes of these lines, as sent */
    UNNUMBERED_ROWS_IN_FLIGHT = 4                  /* while so many write batches are not durable,
                                                    * rows are gathered up to these two limits */
};

/* All-zero is valid: there were no rows yet. */
struct unnumbered_rows {
    uint64_t lines;                    /* gathered and not applied yet */
    uint64_t bytes;                    /* of these lines, as sent */
    uint32_t in_flight;                /* write batches that are not durable yet */
    bool is_answer_due;                /* a line came since the last `ok -` */
    bool was_answered;                 /* an `ok -` was sent, or a numbered batch came */
    /* counts of rows that were applied since the last `ok -` */
    uint64_t accepted;
    uint64_t duplicates;               /* of the accepted rows; only for clicks with ids */
    uint64_t rejected;
    uint64_t reject_lines;             /* rejects that were sent as lines of their own */
    uint64_t reject_sums[REJECT_CODE_COUNT];       /* all other rejects, by code */
};

/* Count `lines` whole lines that have come, with `bytes` bytes as sent.  For a part of a line,
 * `lines` is 0. */
void unnumbered_rows_add(struct unnumbered_rows *rows, uint64_t lines, size_t bytes);
/* Whether the gathered rows must be applied before another line is taken. */
bool unnumbered_rows_are_full(const struct unnumbered_rows *rows);
/* The gathered rows were applied, with these counts. */
void unnumbered_rows_applied(struct unnumbered_rows *rows, uint64_t accepted, uint64_t duplicates,
                             uint64_t rejected);
/* Append `ok - ...` for all rows since the last such answer, after lines with the sums of the
 * rejects that had no line of their own; then reset the counts. */
void unnumbered_rows_answer(struct unnumbered_rows *rows, struct buffer *text);
#endif
