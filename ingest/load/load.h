/* load: the command `daybook load`, which sends files over an ingest connection.  A file counts
 * once, however often it is loaded.
 *
 * A file is identified by its uncompressed content.  With each batch the store keeps how many bytes
 * of the file were loaded, and their hash.  So a load that was interrupted continues after its last
 * durable batch; if a file has grown, only the new lines are loaded; and a file that was loaded
 * before is not counted again, even if its name has changed. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_H
#define DAYBOOK_INGEST_LOAD_LOAD_H

#include "base/cli/command.h"
#include "base/world/network.h"
#include "base/world/world.h"

enum { LOAD_FILES_MAX = 4096 };

struct load_options {
    const char *paths[LOAD_FILES_MAX]; /* "-" is standard input */
    uint32_t path_count;
    const char *as;                    /* load as a separate file with this identity; or NULL */
    const char *producer;              /* the identity of standard input; or NULL */
    const char *stream;                /* NULL: the default stream */
    bool is_binary;                    /* parse in this process, and send columns */
    bool is_strict;                    /* exit status 1 when a line was refused */
};

/* The command's arguments (load_options.c).  The parser fills a zeroed struct load_options, except
 * `stream`, which is an option of all commands.  The texts are views of the arguments. */
extern const struct argp load_argp;

/* Load the files over `connection`, an ingest connection that is not started yet; takes ownership
 * of it.  Progress and notes are written to the error stream of `output`; `is_terminal` is whether
 * that stream is a terminal.  One line for each file that has records is written to the
 * output stream.
 * `output->finish` is called last, after the connection was closed; `options` and `world` live
 * until then.  Files are read on the calling thread. */
void load_start(const struct load_options *options, struct world *world,
                struct connection *connection, bool is_terminal, struct command_output *output);
#endif
