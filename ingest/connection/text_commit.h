/* text_commit: what came in goes to the store as one frame, with all that must be there with it.
 *
 * A batch's clicks, its refused lines, its producer's position and how far its file was loaded are
 * one write batch: after a crash all are there or none. */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_COMMIT_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_COMMIT_H

#include "ingest/connection/text_connection.h"
#include "ingest/parse/batch_group.h"

/* Batch `sequence` begins, which announces `lines`; `hash` is the connection's from here on. */
void text_commit_open(struct text_connection *connection, uint64_t sequence, uint64_t lines,
                      struct hash128_stream *hash);

/* Apply the batch whose last line came, or answer it when it is a copy.  The connection is BLOCKED
 * afterwards when the store has no room, REFUSED when it cannot be taken. */
void text_commit_batch(struct text_connection *connection);

enum text_group_result {
    TEXT_GROUP_TAKEN,                  /* applied: its part is not needed any more */
    TEXT_GROUP_LATER,                  /* no room: the connection is BLOCKED; ask again */
    TEXT_GROUP_SPLIT                   /* its batches are to be taken one by one */
};

/* Apply a group, no batch being open and no lines outside of one waiting: all of it or nothing. */
enum text_group_result text_commit_bundle(struct text_connection *connection,
                                           const struct batch_group *bundle);

/* Apply the lines outside of batches that came so far.  False when there is no room: the
 * connection is BLOCKED, or REFUSED, and must not go on. */
bool text_commit_group(struct text_connection *connection);

/* `ok - accepted ... rejected ...` for all since the last one; the group was committed. */
void text_commit_answer(struct text_connection *connection);

/* The store may have room again: try once more, and let a BLOCKED connection go on. */
void text_commit_retry(struct text_connection *connection);
#endif
