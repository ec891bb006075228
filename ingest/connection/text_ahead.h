/* text_ahead: lines parsed, and frames decoded, on another thread before the connection gets there.
 *
 * A sealed chunk of input goes to LANE_COMPUTE, which makes a run (a block and rejects) of each
 * stretch of records in it.  The connection then goes over the same bytes as ever: control lines,
 * batches, counts.  Where it stands at the start of a run it takes the run instead of parsing.
 * What lines mean is thus decided in one place, text_door.c; a run that does not fit there (another
 * stream since, a batch that ends within it) is left, and its lines are parsed when their turn is.
 *
 *     chunk   r1,... \n r2,... \n r1,... \n  #batch 8 5000 \n  r3,... \n r1,... \n
 *     runs    |___________ 0 ___________|                   |______ 1 ______|
 *
 * Numbered batches that are whole in a chunk and follow one another become one run, a bundle: their
 * rows are one block, and are applied at once (text_commit.h).  A chunk of lines ends before a
 * control line if it can, so that its last batch is whole, too.
 *
 *     chunk   #batch 7 3 \n  r1,... \n r2,... \n r1,... \n  #batch 8 2 \n  r3,... \n r1,... \n
 *     runs    |______________________________________ 0 ______________________________________|
 *
 * Of a connection that speaks in frames, each STRINGS and BATCH frame of a chunk is a run, and all
 * of them are made (frame_run.h): the dictionary they share goes from one to the next.  So whoever
 * has such a chunk at the front takes runs only, and the engine thread decodes nothing but what
 * lies at the back, when no chunk is before it.  BATCH frames make bundles, too, with STRINGS
 * between them; where a bundle cannot be taken, each frame's rows are copied out of it.
 *
 *     chunk    BATCH 7 │ STRINGS │ BATCH 8 │ CONTROL #file … │ BATCH 9 │ BATCH of no number
 *     bundles  |_____________ 0 ___________|                 |__ 1 ____|                      */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_AHEAD_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_AHEAD_H

#include "ingest/connection/frame_run.h"
#include "ingest/connection/text_commit.h"

enum {
    TEXT_BUNDLE_ROWS_MAX = 4096,       /* some 0.6 ms of the engine thread, */
    TEXT_BUNDLE_ROWS_ASKED = 2048,     /* and half of it while there are questions, which wait */
    TEXT_RUNS_MAX = 12,                /* of a chunk; the lines behind them are not parsed ahead */
    TEXT_AHEAD_BYTES_MIN = 64 << 10,   /* less is parsed sooner than handed over, */
    TEXT_AHEAD_BYTES_NEXT = 16 << 10,  /* unless it has to wait for what was handed over */
    FRAME_AHEAD_BYTES_MIN = 32 << 10,  /* the same of frames */
    FRAME_AHEAD_BYTES_NEXT = 8 << 10,
    TEXT_AHEADS_MAX = 16               /* in the room, under way or not yet taken: bounds memory;
                                        * what comes beyond is parsed by the engine thread */
};

void ahead_pool_release(struct ingest *ingest);

/* Hand the input over if it is worth it. */
void text_ahead_submit(struct text_connection *connection);

/* Whether the front of the input is being parsed: it must not be taken yet. */
bool text_ahead_is_under_way(const struct text_connection *connection);

/* The run of records that starts at the front of the input and has at most `lines_max` lines; its
 * rows and rejects are appended to the connection's, the first line's number being `number`.
 * Returns its bytes, which are still to be taken, and its lines; 0: there is none. */
size_t text_ahead_take(struct text_connection *connection, uint64_t number, uint64_t lines_max,
                       uint64_t *lines_out);

/* The bundle that starts at the front of the input, with its control lines or frames; NULL: there
 * is none, or not to be taken under what holds now. */
const struct text_bundle *text_ahead_bundle(const struct text_connection *connection);

/* The run of the frame at the front of the input, or NULL: there is none.  Its part and its hash
 * may be taken from it. */
struct frame_run *text_ahead_frame(const struct text_connection *connection);

/* The front of the input gives way to the next chunk when all of it is taken. */
void text_ahead_advance(struct text_connection *connection);
/* What was made and not taken is not wanted; what is under way stays until it is done. */
void text_ahead_abandon(struct text_connection *connection);
#endif
