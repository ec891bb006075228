/* answer_text: the lines of answers; docs/PROTOCOL.md says what they mean.
 *
 * Pure functions.  A batch's number is 0 for "outside of batches", which is written as "-". */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_TEXT_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_TEXT_H

#include "ingest/parse/reject.h"

/* ok NUMBER accepted A rejected R [duplicates D] */
void answer_text_ok(struct buffer *text, uint64_t sequence, uint64_t accepted, uint64_t rejected,
                    uint64_t duplicates);
/* error NUMBER word [detail]; `detail` may be NULL. */
void answer_text_error(struct buffer *text, uint64_t sequence, const char *word,
                       const char *detail);

/* Append a line for each reject as long as `*lines_sent`, to which each line adds 1, is below
 * `lines_max`.  The rejects after that get no line and are counted by their code in `sums`. */
void answer_text_rejects(struct buffer *text, const struct reject_list *list, uint64_t sequence,
                         uint64_t lines_max, uint64_t *lines_sent,
                         uint64_t sums[REJECT_CODE_COUNT]);
/* A line for each code whose sum is above 0. */
void answer_text_reject_sums(struct buffer *text, uint64_t sequence,
                             const uint64_t sums[REJECT_CODE_COUNT]);
#endif
