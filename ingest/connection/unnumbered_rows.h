/* unnumbered_rows: rows outside of numbered batches: those that gather until they are applied, and
 * the sums since the last `ok -`. */
#ifndef DAYBOOK_INGEST_CONNECTION_UNNUMBERED_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_UNNUMBERED_ROWS_H

#include "ingest/parse/reject.h"

enum {
    UNNUMBERED_ROWS_LINES_MAX = 65536,             /* in one frame of the log, */
    UNNUMBERED_ROWS_BYTES_MAX = 4 << 20,
    UNNUMBERED_ROWS_IN_FLIGHT = 4                  /* then lines gather until there are more */
};

/* All-zero is one of nothing. */
struct unnumbered_rows {
    uint64_t lines;                    /* that gather, */
    uint64_t bytes;                    /* as sent */
    uint32_t in_flight;                /* times that some were applied and are not durable yet */
    bool is_answer_due;                /* a line came since the last `ok -` */
    bool was_answered;                 /* by an `ok -`, or there is a batch to answer */
    uint64_t accepted;
    uint64_t duplicates;               /* of them; only of clicks with ids */
    uint64_t rejected;
    uint64_t reject_lines;             /* sent as lines of their own, */
    uint64_t reject_sums[REJECT_CODE_COUNT];       /* and those that were not */
};

/* So many whole lines came. */
void unnumbered_rows_add(struct unnumbered_rows *rows, uint64_t lines, size_t bytes);
/* Whether they are to be applied before another comes. */
bool unnumbered_rows_are_full(const struct unnumbered_rows *rows);
/* Those that gathered were applied, and came to this. */
void unnumbered_rows_applied(struct unnumbered_rows *rows, uint64_t accepted, uint64_t duplicates,
                             uint64_t rejected);
/* Append `ok - ...` for all since the last one, with the sums of rejects that had no line; sums
 * begin anew. */
void unnumbered_rows_answer(struct unnumbered_rows *rows, struct buffer *text);
#endif
