/* ingest_decoder: what differs between a connection that sends lines and one that sends frames.
 *
 * A decoder takes its connection's input piece by piece and turns it into rows, batches and control
 * lines.  Commits, replies, memory and the connection's life are the same for both. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

struct input_chunk;
struct parse_job;

struct ingest_decoder {
    const char *name;                  /* of the door, as the table of rejects has it */

    /* Take one piece of the input, at most `lines_max` of records; false: more input is needed, or
     * the connection must wait. */
    bool (*step)(struct ingest_connection *connection, uint64_t lines_max);
    /* The client has sent its last byte, and all whole lines or frames are taken. */
    void (*finish)(struct ingest_connection *connection);
    /* Put answers into the form that the client reads; NULL: they are sent as they are. */
    void (*wrap)(struct bytes text, struct buffer *wrapped);

    /* Whether there is space to read more input into, and where. */
    bool (*has_space)(const struct ingest_connection *connection);
    void (*space)(struct ingest_connection *connection, uint8_t **to_out, size_t *size_out);

    /* For parsing ahead: seal a chunk that may be parsed ahead and is large enough, and say how
     * many frames of it are to be decoded; NULL: there is none.  And fill in what the job needs of
     * the decoder. */
    struct input_chunk *(*seal)(struct ingest_connection *connection, uint32_t *frames_out);
    void (*prepare)(const struct ingest_connection *connection, struct parse_job *job);
};

/* The decoder of lines (text_decoder.c); that of frames is set by frame_decoder.c. */
extern const struct ingest_decoder text_decoder;
#endif
