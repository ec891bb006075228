/* loaded_file: keeps the progress of loaded files in the table `loaded_file`, and executes the
 * control lines #file and #files.
 *
 * Each batch and the progress of its file are in one frame of the log.  So a repeated load
 * continues after the file's last durable batch. */
#ifndef DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H
#define DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/control_line.h"

/* Execute `#file KEY BYTES HASH LINES lf|cut`: the next batch is of this file.  False: the words
 * are wrong. */
must_check bool loaded_file_name(struct ingest_connection *connection,
                                 const struct control_words *words);

/* Execute `#files KEY`: answer the progress of the files with this key.  Other connections that
 * request the key are refused until this connection ends or requests another key.  The connection
 * is BLOCKED, and loaded_file_retry must follow, while another lookup or batches of an earlier load
 * are under way.  False: the words are wrong. */
must_check bool loaded_file_list(struct ingest_connection *connection,
                                 const struct control_words *words);

void loaded_file_retry(struct ingest_connection *connection);

/* Add to the write batch the row that says that the file is loaded up to the end of batch
 * `sequence`. */
void loaded_file_add(struct ingest_connection *connection, uint64_t sequence);

/* Release the key that the connection holds, if any. */
void loaded_file_leave(struct ingest_connection *connection);
#endif
