/* loaded_file: how far files were loaded: the table `loaded_file`, and the control lines about it.
 *
 * A file's progress is written with the batch that it is about, in one frame of the log, so that a
 * load goes on behind its last durable batch, and counts nothing twice. */
#ifndef DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H
#define DAYBOOK_INGEST_CONNECTION_LOADED_FILE_H

#include "ingest/connection/ingest_connection_private.h"
#include "ingest/parse/control_line.h"

/* #file KEY BYTES HASH LINES lf|cut: the next batch is of that file; false: the words are wrong. */
must_check bool loaded_file_name(struct loaded_file *file, const struct control_words *words);

/* #files KEY: answer what is known of files that begin so; no other connection may ask for the same
 * until this one is gone.  False: the words are wrong. */
must_check bool loaded_file_list(struct ingest_connection *connection,
                                 const struct control_words *words);

/* The row of the connection's file, which is named, to the instance's write batch: batch `sequence`
 * takes it so far. */
void loaded_file_add(struct ingest_connection *connection, uint64_t sequence);
#endif
