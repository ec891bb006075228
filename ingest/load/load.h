/* load: the command `daybook load`, which sends files over an ingest connection.
 *
 * A file is identified by its uncompressed content, and counts once, however often it is loaded.
 * With each batch the store keeps how many bytes of the file were loaded, and their hash.  So a
 * repeated load sends only what was not loaded before. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_H
#define DAYBOOK_INGEST_LOAD_LOAD_H

#include "base/cli/command.h"
#include "base/world/network.h"
#include "base/world/world.h"

enum { LOAD_FILES_MAX = 4096 };

struct load_options {
    const char *paths[LOAD_FILES_MAX]; /* "-" is standard input */
    uint32_t path_count;
    const char *as;                    /* the file counts as a separate file of this name; or
                                        * NULL */
    const char *producer;              /* the identity of standard input; or NULL */
    const char *stream;
    bool is_binary;
    bool is_strict;
};

/* The command's arguments (load_options.c).  The parser fills a zeroed struct load_options, except
 * `stream`, an option of all commands.  The texts are views of the arguments. */
extern const struct argp load_argp;

/* Load the files over `connection`, an ingest connection that is not started yet; takes ownership
 * of it.  Progress and notes go to the error stream of `output`; `is_terminal`: that stream is a
 * terminal.  The output stream gets one line for each file that has records.  `output->finish` is
 * called last; `options` and `world` live until then.  Files are read on the calling thread. */
void load_start(const struct load_options *options, struct world *world,
                struct connection *connection, bool is_terminal, struct command_output *output);
#endif
