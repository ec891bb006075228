/* loaded_file: how far files were loaded: the table `loaded_file`, and the control lines about it.
 *
 * How far a file was loaded is written in the frame of the batch that is the last so far.  So a
 * load that is repeated continues after its last durable batch, and counts nothing twice. */
#ifndef DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H
#define DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/control_line.h"

/* #file KEY BYTES HASH LINES lf|cut: the next batch is of that file; false: the words are wrong. */
must_check bool loaded_file_name(struct loaded_file *file, const struct control_words *words);

/* #files KEY: answer how far files with this key were loaded.  Until this connection is closed,
 * another one with the same key is refused.  False: the words are wrong. */
must_check bool loaded_file_list(struct ingest_connection *connection,
                                 const struct control_words *words);

/* Add the row of the connection's file, which is named, to the instance's write batch: the file is
 * loaded up to the end of batch `sequence`. */
void loaded_file_add(struct ingest_connection *connection, uint64_t sequence);
#endif
