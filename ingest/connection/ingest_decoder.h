/* ingest_decoder: what differs between a connection that sends lines and one that sends frames.
 *
 * A decoder takes its connection's input piece by piece and makes rows, batches and control lines
 * of it; commits, replies, memory and the connection's life are the same for both. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

struct input_chunk;
struct parse_job;

struct ingest_decoder {
    const char *name;                  /* of the door, as its rejects are written down */

    /* Take one piece of what came in, of records at most `lines_max`; false: it needs more, or must
     * wait. */
    bool (*step)(struct ingest_connection *connection, uint64_t lines_max);
    /* The client has sent its last byte, and all that is whole is taken. */
    void (*finish)(struct ingest_connection *connection);
    /* Answers as this client reads them; NULL: as they are. */
    void (*wrap)(struct bytes text, struct buffer *wrapped);

    /* Whether there is space for more input, and where. */
    bool (*has_space)(const struct ingest_connection *connection);
    void (*space)(struct ingest_connection *connection, uint8_t **to_out, size_t *size_out);

    /* For parsing ahead: the chunk that may be and is worth it, sealed, and how many frames of it
     * are to be decoded, or NULL; and what the job needs besides. */
    struct input_chunk *(*seal)(struct ingest_connection *connection, uint32_t *frames_out);
    void (*prepare)(const struct ingest_connection *connection, struct parse_job *job);
};

/* Of lines (text_decoder.c); that of frames is set by frame_decoder.c. */
extern const struct ingest_decoder text_decoder;
#endif
