/* answer_text: formats the lines of answers, which docs/PROTOCOL.md explains.
 *
 * `sequence` is a batch's number; 0 means outside of batches and is written as "-". */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_TEXT_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_TEXT_H

#include "ingest/parse/reject.h"

/* ok NUMBER accepted A rejected R [duplicates D] */
void answer_text_ok(struct buffer *text, uint64_t sequence, uint64_t accepted, uint64_t rejected,
                    uint64_t duplicates);
/* error NUMBER word [detail]; `detail` may be NULL. */
void answer_text_error(struct buffer *text, uint64_t sequence, const char *word,
                       const char *detail);

/* Append a line for each reject, and add 1 to *lines_sent for each line.  When *lines_sent has
 * reached `lines_max`, further rejects are counted by code in `sums` instead. */
void answer_text_rejects(struct buffer *text, const struct reject_list *list, uint64_t sequence,
                         uint64_t lines_max, uint64_t *lines_sent,
                         uint64_t sums[REJECT_CODE_COUNT]);
/* Append a line for each code whose sum is not 0. */
void answer_text_reject_sums(struct buffer *text, uint64_t sequence,
                             const uint64_t sums[REJECT_CODE_COUNT]);
#endif
