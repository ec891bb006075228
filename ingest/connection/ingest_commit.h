/* ingest_commit: applies the rows and rejects of a connection, and answers when they are durable.
 *
 * A batch's clicks, its rejected lines, its producer's position and its file's progress are one
 * write batch: after a crash either all of them are in the store or none. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/batch_group.h"

/* Open batch `sequence`, which has `lines` lines; takes ownership of `hash`. */
void ingest_commit_open(struct ingest_connection *connection, uint64_t sequence, uint64_t lines,
                        struct hash128_stream *hash);

/* Apply the open batch, whose last line has come, or answer it if it is a copy.  Afterwards the
 * connection is BLOCKED if the batch must wait, and REFUSED if the batch cannot be applied. */
void ingest_commit_batch(struct ingest_connection *connection);

/* Apply a group as a whole.  No batch may be open, and no lines outside of batches may wait.
 * False: nothing was applied; if the connection is BLOCKED, the group must be tried again later,
 * else its batches must be taken one by one. */
bool ingest_commit_batch_group(struct ingest_connection *connection,
                               const struct batch_group *group);

/* Apply the lines outside of batches that have come so far.  False: the connection is BLOCKED,
 * because the lines must wait, or REFUSED; its input must not be taken now. */
bool ingest_commit_unnumbered(struct ingest_connection *connection);

/* Answer `ok - accepted ... rejected ...` for all lines outside of batches since the last such
 * answer.  They must have been applied. */
void ingest_commit_answer(struct ingest_connection *connection);

/* After all input was taken: apply the lines outside of batches, and answer them.  Afterwards the
 * connection is ENDING, BLOCKED or REFUSED. */
void ingest_commit_last(struct ingest_connection *connection);

/* Try again to apply the batch, or the rows outside of batches, that had to wait.  The caller has
 * set the connection to RECORDS; it may be BLOCKED again afterwards. */
void ingest_commit_retry(struct ingest_connection *connection);
#endif
