/* ingest_decoder: the interface of the decoders of lines (text_decoder) and of frames
 * (frame_decoder). */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

struct input_chunk;
struct parse_job;

struct ingest_decoder {
    const char *name;                  /* the value of the column `door` in the table `reject` */

    /* Take one piece of the input, with at most `lines_max` records.  False: more input is needed,
     * or the connection must wait. */
    bool (*step)(struct ingest_connection *connection, uint64_t lines_max);
    /* Called when the client has ended its input and all whole lines or frames are taken. */
    void (*finish)(struct ingest_connection *connection);
    /* Write the lines of answers as frames to `wrapped`.  NULL: answers are sent as they are. */
    void (*wrap)(struct bytes text, struct buffer *wrapped);

    /* Whether there is space to read more input into; `space` returns it. */
    bool (*has_space)(const struct ingest_connection *connection);
    void (*space)(struct ingest_connection *connection, uint8_t **to_out, size_t *size_out);

    /* `seal` seals a chunk that is worth parsing ahead; NULL: there is none.  *frames_out: how many
     * frames of it are to be decoded; 0: it has lines.  `prepare` sets members of its job. */
    struct input_chunk *(*seal)(struct ingest_connection *connection, uint32_t *frames_out);
    void (*prepare)(const struct ingest_connection *connection, struct parse_job *job);
};

/* The decoder of lines.  frame_decoder_choose sets the decoder of frames. */
extern const struct ingest_decoder text_decoder;
#endif
