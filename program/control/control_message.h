/* control_message: encodes and decodes the messages of the control socket. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_MESSAGE_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_MESSAGE_H

#include "base/buffer.h"
#include "base/world/network.h"
#include "program/control/control.h"

/* An all-zero reader is empty. */
struct message_reader {
    struct buffer bytes;
    size_t consumed;
};

void control_message_release(struct message_reader *reader);
/* Get memory for received bytes.  After `size` bytes were stored there, the caller must call
 * control_message_added. */
void control_message_space(struct message_reader *reader, uint8_t **to_out, size_t *size_out);
void control_message_added(struct message_reader *reader, size_t size);
/* Returns 1 and a whole message, which is valid until the next call; 0: more bytes are needed.
 * ERROR_CORRUPT: the bytes are not a message. */
must_check int control_message_next(struct message_reader *reader, enum control_kind *kind_out,
                                   struct bytes *body_out);
/* Call this after control_message_next has returned 0.  Returns the size of kind and body of the
 * incomplete message, in bytes; 0: not known yet. */
size_t control_message_whole(const struct message_reader *reader);

void control_message_put(struct buffer *to, enum control_kind kind, struct bytes body);
void control_message_send(struct connection *connection, enum control_kind kind, struct bytes body);

/* A RUN message; the texts are the caller's. */
struct control_request {
    bool is_terminal;
    const char *actor;
    const char *text;
    const char *folder;                /* the working directory; NULL: unknown */
    int word_count;
    char *const *words;
    struct bytes input;
};

void control_message_put_request(const struct control_request *request, struct buffer *body);
#endif
