/* text_commit: what came in goes to the store as one frame, with all that must be there with it.
 *
 * A batch's clicks, its refused lines, its producer's position and how far its file was loaded are
 * one write batch: after a crash all are there or none. */
#ifndef DAYBOOK_INGEST_TEXT_COMMIT_H
#define DAYBOOK_INGEST_TEXT_COMMIT_H

#include "ingest/text_connection.h"

/* The hash of a batch, to which its content is to be added: it starts with the stream's name and
 * `form`, which keeps apart what is written in different ways.  Any thread. */
struct hash128_stream *text_commit_hash(const struct ingest_stream *stream, struct bytes form);

/* Batch `sequence` begins, which announces `lines`; `hash` is the connection's from here on. */
void text_commit_open(struct text_connection *connection, uint64_t sequence, uint64_t lines,
                      struct hash128_stream *hash);

/* Apply the batch whose last line came, or answer it when it is a copy.  The connection is BLOCKED
 * afterwards when the store has no room, REFUSED when it cannot be taken. */
void text_commit_batch(struct text_connection *connection);

/* Apply the lines outside of batches that came so far.  False when there is no room: the
 * connection is BLOCKED, or REFUSED, and must not go on. */
bool text_commit_group(struct text_connection *connection);

/* `ok - accepted ... rejected ...` for all since the last one; the group was committed. */
void text_commit_answer(struct text_connection *connection);

/* The store may have room again: try once more, and let a BLOCKED connection go on. */
void text_commit_retry(struct text_connection *connection);
#endif
