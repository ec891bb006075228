/* ingest_decoder: the interface of the two decoders.  text_decoder is for connections that send
 * lines, frame_decoder for connections that send frames.
 *
 * A decoder takes its connection's input piece by piece and turns it into rows, batches and control
 * lines.  Commits, answers, memory and states are the same for both decoders. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

struct input_chunk;
struct parse_job;

struct ingest_decoder {
    const char *name;                  /* the value of the column `door` in the table `reject` */

    /* Take one piece of the input, with at most `lines_max` records; false: more input is needed,
     * or the connection must wait. */
    bool (*step)(struct ingest_connection *connection, uint64_t lines_max);
    /* Called when the client has sent its last byte and all whole lines or frames are taken. */
    void (*finish)(struct ingest_connection *connection);
    /* Write the lines of answers in the client's protocol to `wrapped`; NULL: they are sent as they
     * are. */
    void (*wrap)(struct bytes text, struct buffer *wrapped);

    /* `has_space`: whether there is space to read more input into.  `space` returns that space. */
    bool (*has_space)(const struct ingest_connection *connection);
    void (*space)(struct ingest_connection *connection, uint8_t **to_out, size_t *size_out);

    /* For parsing ahead.  `seal` seals a chunk that may be parsed ahead and is large enough; NULL:
     * there is none.  *frames_out is the number of its frames to decode.  `prepare` sets the
     * members of the job that depend on the decoder. */
    struct input_chunk *(*seal)(struct ingest_connection *connection, uint32_t *frames_out);
    void (*prepare)(const struct ingest_connection *connection, struct parse_job *job);
};

/* The decoder of lines (text_decoder.c).  frame_decoder_choose sets the decoder of frames. */
extern const struct ingest_decoder text_decoder;
#endif
