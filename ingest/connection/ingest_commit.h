/* ingest_commit: applies the rows and rejects of a connection, and answers when they are durable.
 *
 * A batch's clicks, its rejected lines, its producer's position and its file's progress are one
 * write batch, so after a crash either all of them are in the store or none. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_COMMIT_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/batch_group.h"

/* Open a numbered batch of `lines` lines.  Takes ownership of `hash`. */
void ingest_commit_open(struct ingest_connection *connection, uint64_t sequence, uint64_t lines,
                        struct hash128_stream *hash);

/* Apply the open batch, which must be complete.  A copy of an earlier batch is only answered.  The
 * connection becomes BLOCKED if the batch must wait, and REFUSED if it cannot be applied. */
void ingest_commit_batch(struct ingest_connection *connection);

/* Apply a group as a whole.  No batch may be open, and no lines outside of batches may be
 * unapplied.  False: nothing was applied.  A BLOCKED connection tries the group again later; any
 * other connection takes the batches one by one. */
bool ingest_commit_batch_group(struct ingest_connection *connection,
                               const struct batch_group *group);

/* Apply the lines outside of batches that have come so far.  False: no input may be taken now,
 * because the connection is BLOCKED or REFUSED. */
bool ingest_commit_unnumbered(struct ingest_connection *connection);

/* Answer `ok - accepted ... rejected ...` for all lines outside of batches since the last such
 * answer.  All these lines must be applied. */
void ingest_commit_answer(struct ingest_connection *connection);

/* Apply and answer the lines outside of batches, after all input was taken.  The connection becomes
 * ENDING, BLOCKED or REFUSED. */
void ingest_commit_last(struct ingest_connection *connection);

/* Try again to apply the batch or the lines that had to wait.  The caller has set the connection to
 * RECORDS; the connection may become BLOCKED again. */
void ingest_commit_retry(struct ingest_connection *connection);
#endif
