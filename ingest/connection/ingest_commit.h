/* ingest_commit: what came in goes to the store as one frame, with all that must be there with it.
 *
 * A batch's clicks, its refused lines, its producer's position and how far its file was loaded are
 * one write batch: after a crash all are there or none. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/batch_group.h"

/* Batch `sequence` begins, which announces `lines`; `hash` is the connection's from here on. */
void ingest_commit_open(struct ingest_connection *connection, uint64_t sequence, uint64_t lines,
                        struct hash128_stream *hash);

/* Apply the batch whose last line came, or answer it when it is a copy.  The connection is BLOCKED
 * afterwards when the store has no room, REFUSED when it cannot be taken. */
void ingest_commit_batch(struct ingest_connection *connection);

/* Apply a group, no batch being open and no lines outside of one waiting: all of it or nothing.
 * False: nothing was applied.  The connection is BLOCKED then, where there is no room and the group
 * is to be tried again; else its batches are to be taken one by one. */
bool ingest_commit_batch_group(struct ingest_connection *connection,
                               const struct batch_group *group);

/* Apply the lines outside of batches that came so far.  False when there is no room: the
 * connection is BLOCKED, or REFUSED, and must not go on. */
bool ingest_commit_unnumbered(struct ingest_connection *connection);

/* `ok - accepted ... rejected ...` for all since the last one; the group was committed. */
void ingest_commit_answer(struct ingest_connection *connection);

/* All that the client sent was taken: apply the lines outside of batches and answer what is to be
 * answered.  The connection is ENDING afterwards, or BLOCKED or REFUSED. */
void ingest_commit_last(struct ingest_connection *connection);

/* Try once more what had to wait: the batch that is complete, or the rows outside of batches.  The
 * connection is not BLOCKED, and may be again afterwards. */
void ingest_commit_retry(struct ingest_connection *connection);
#endif
