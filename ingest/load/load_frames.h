/* load_frames: turns the lines of a file into frames of the binary protocol, for `daybook load
 * --binary`.
 *
 * Lines are parsed by the server's parser and sent as columns.  If a line of a batch would be
 * rejected, the whole batch is sent as lines, so that the server keeps the rejected line.  Clicks
 * with ids are always sent as lines. */
#ifndef DAYBOOK_INGEST_LOAD_LOAD_FRAMES_H
#define DAYBOOK_INGEST_LOAD_LOAD_FRAMES_H

#include "ingest/parse/line_parser.h"

struct load_frames;

struct load_frames *load_frames_new(uint64_t seed);
void load_frames_free(struct load_frames *frames);             /* NULL is fine */

/* Write a control line; `line` has no LF. */
void load_frames_control(struct load_frames *frames, const char *line);

/* Begin another file.  `columns` are the stream's columns, and must live until the next file or
 * load_frames_free.  `header` is the file's header with its LF, or empty.  ERROR_INVALID: the
 * header is wrong. */
must_check int load_frames_file(struct load_frames *frames, const struct line_columns *columns,
                                struct bytes header, struct error *err);

/* Write a batch.  Each line of `text` has its LF.  LINE_PARSER_PADDING bytes behind `text` must be
 * readable. */
void load_frames_batch(struct load_frames *frames, uint64_t sequence, uint64_t lines,
                       struct bytes text);

/* The bytes written since the last call, to be sent; valid until more is written. */
struct bytes load_frames_take(struct load_frames *frames);

/* Process bytes from the server, and append the text of its answers to `lines`.  ERROR_CORRUPT: the
 * bytes are not frames of answers, or are damaged. */
must_check int load_frames_answers(struct load_frames *frames, struct bytes bytes,
                                   struct buffer *lines);
#endif
