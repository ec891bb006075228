/* load_frames: the binary side of `daybook load --binary`: lines of a file to frames.
 *
 * Lines are parsed here, by the parser of the door itself, and sent as columns; a batch in which
 * one would be refused is sent as lines, so that the door says why, and keeps them. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_FRAMES_H
#define DAYBOOK_INGEST_LOAD_LOAD_FRAMES_H

#include "ingest/parse/line_parser.h"

struct load_frames;

/* `seed` is random. */
struct load_frames *load_frames_new(uint64_t seed);
void load_frames_free(struct load_frames *frames);             /* NULL is fine */

/* A control line, without its LF. */
void load_frames_control(struct load_frames *frames, const char *line);

/* Another file: `columns` (which live as long as it) are the stream's names, `header` its first
 * line if that is one, else empty.  ERROR_INVALID for a header that cannot be. */
must_check int load_frames_file(struct load_frames *frames, const struct line_columns *columns,
                                struct bytes header, struct error *err);

/* A batch of `lines` lines, each with its LF. */
void load_frames_batch(struct load_frames *frames, uint64_t sequence, uint64_t lines,
                       struct bytes text);

/* The bytes that the calls above have made; valid until the next one of them, which begins anew. */
struct bytes load_frames_take(struct load_frames *frames);

/* What came from the door: its lines are appended to `lines`.  ERROR_CORRUPT. */
must_check int load_frames_answers(struct load_frames *frames, struct bytes bytes,
                                   struct buffer *lines);
#endif
