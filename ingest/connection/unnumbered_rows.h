/* unnumbered_rows: counts a connection's rows outside of numbered batches: those that are not
 * applied yet, and those applied since the last answer `ok -`. */
#ifndef DAYBOOK_INGEST_CONNECTION_UNNUMBERED_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_UNNUMBERED_ROWS_H

#include "ingest/parse/reject.h"

enum {
    UNNUMBERED_ROWS_LINES_MAX = 65536,
    UNNUMBERED_ROWS_BYTES_MAX = 4 << 20,           /* bytes, as sent */
    UNNUMBERED_ROWS_IN_FLIGHT = 4                  /* while so many write batches are not durable,
                                                    * rows are gathered up to the limits above */
};

/* All-zero is valid. */
struct unnumbered_rows {
    uint64_t lines;                    /* lines that are not applied yet */
    uint64_t bytes;
    uint32_t in_flight;
    bool is_answer_due;                /* a line came since the last `ok -` */
    bool was_answered;                 /* an `ok -` was sent, or a numbered batch came */
    /* counts of applied rows, since the last `ok -` */
    uint64_t accepted;
    uint64_t duplicates;               /* of the accepted rows; only for clicks with ids */
    uint64_t rejected;
    uint64_t reject_lines;
    uint64_t reject_sums[REJECT_CODE_COUNT];       /* rejects without an answer line of their own,
                                                    * by code */
};

/* Count `lines` whole lines (0: a part of a line), of `bytes` bytes as sent. */
void unnumbered_rows_add(struct unnumbered_rows *rows, uint64_t lines, size_t bytes);
bool unnumbered_rows_are_full(const struct unnumbered_rows *rows);
void unnumbered_rows_applied(struct unnumbered_rows *rows, uint64_t accepted, uint64_t duplicates,
                             uint64_t rejected);
/* Append `ok - ...` for all rows since the last `ok -`, after the sums of the rejects that had no
 * line of their own.  Reset the counts. */
void unnumbered_rows_answer(struct unnumbered_rows *rows, struct buffer *text);
#endif
