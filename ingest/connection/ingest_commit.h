/* ingest_commit: applies what a connection has received, and answers it once it is durable.
 *
 * A batch's clicks, its rejected lines, its producer's position and how far its file was loaded are
 * one write batch: after a crash all are there or none. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/batch_group.h"

/* Batch `sequence` begins, which announces `lines`; `hash` is owned from here on. */
void ingest_commit_open(struct ingest_connection *connection, uint64_t sequence, uint64_t lines,
                        struct hash128_stream *hash);

/* Apply the batch, whose last line has come, or answer it if it is a copy.  Afterwards the
 * connection is BLOCKED where the store has no room, and REFUSED where the batch cannot be applied.
 */
void ingest_commit_batch(struct ingest_connection *connection);

/* Apply a group, no batch being open and no lines outside of one waiting: all of it or nothing.
 * False: nothing was applied.  The connection is BLOCKED then, where there is no room and the group
 * is to be tried again; else its batches are to be taken one by one. */
bool ingest_commit_batch_group(struct ingest_connection *connection,
                               const struct batch_group *group);

/* Apply the lines outside of batches that have come so far.  False: the connection is BLOCKED, as
 * the store has no room, or REFUSED, and no more of its input is to be taken now. */
bool ingest_commit_unnumbered(struct ingest_connection *connection);

/* Answer `ok - accepted ... rejected ...` for all lines outside of batches since the last such
 * answer; they were applied. */
void ingest_commit_answer(struct ingest_connection *connection);

/* All that the client sent was taken: apply the lines outside of batches and answer what is to be
 * answered.  The connection is ENDING afterwards, or BLOCKED or REFUSED. */
void ingest_commit_last(struct ingest_connection *connection);

/* Retry what had to wait: the complete batch, or the rows outside of batches.  The connection was
 * set to RECORDS before, and may be BLOCKED again afterwards. */
void ingest_commit_retry(struct ingest_connection *connection);
#endif
