/* loaded_file: keeps the progress of loaded files in the table `loaded_file`, and executes the
 * control lines #file and #files.
 *
 * The progress of a file is written in the same frame of the log as each of its batches.  So a load
 * that is repeated continues after its last durable batch, and counts no click twice. */
#ifndef DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H
#define DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/control_line.h"

/* Execute `#file KEY BYTES HASH LINES lf|cut`: the next batch is of this file.  False: the words
 * are wrong. */
must_check bool loaded_file_name(struct ingest_connection *connection,
                                 const struct control_words *words);

/* Execute `#files KEY`: answer the progress of the files with this key.  Until this connection ends
 * or requests another key, other connections that request the same key are refused.  While batches
 * of an earlier load may be in flight, or an earlier lookup of this connection is under way, the
 * connection is BLOCKED: it is woken when that ends, and loaded_file_retry is called.  False: the
 * words are wrong. */
must_check bool loaded_file_list(struct ingest_connection *connection,
                                 const struct control_words *words);

void loaded_file_retry(struct ingest_connection *connection);

/* Add the row of the connection's file, which #file has named, to the instance's write batch: the
 * file is loaded up to the end of batch `sequence`. */
void loaded_file_add(struct ingest_connection *connection, uint64_t sequence);

/* Give back the key that the connection holds, if any, and wake the connections that wait for
 * it. */
void loaded_file_leave(struct ingest_connection *connection);
#endif
