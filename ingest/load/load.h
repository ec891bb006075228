/* load: `daybook load`: files to a text door, each counted once however often it is loaded.
 *
 * A file is known by its uncompressed content: the store keeps, in the frame of each batch, how far
 * the file was loaded and the hash of its content up to there.  So a load that was interrupted goes
 * on behind its last durable batch, a file that has grown adds its tail, and one that is there
 * already is not counted again, whatever it is called now. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_H
#define DAYBOOK_INGEST_LOAD_LOAD_H

#include "base/cli/command.h"
#include "base/world/network.h"
#include "base/world/world.h"

enum { LOAD_FILES_MAX = 4096 };

struct load_options {
    const char *paths[LOAD_FILES_MAX]; /* "-" is standard input */
    uint32_t path_count;
    const char *as;                    /* load as a file of its own, known by this name; or NULL */
    const char *producer;              /* standard input is known by this name; or NULL */
    const char *stream;                /* NULL: the default one */
    bool is_binary;                    /* parse here, and send columns */
    bool is_strict;                    /* exit status 1 when a line was refused */
};

/* Fills a zeroed struct load_options but for the stream, which every command takes; its texts are
 * those of the words (load_options.c). */
extern const struct argp load_argp;

/* Load the files over `connection`, which is not started yet, speaks the ingest door's protocol,
 * and is owned from here on.  Progress and notes go to the error stream of `output`, a line per
 * file to the other; `output->finish` is last, after the connection was closed.  `world` gives
 * clock and randomness; `options` and `world` live until then.  Files are read on the calling
 * thread. */
void load_start(const struct load_options *options, struct world *world,
                struct connection *connection, bool is_terminal, struct command_output *output);
#endif
