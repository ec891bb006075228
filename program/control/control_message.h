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
/* Received bytes are stored at *to_out; control_message_added then adds the `size` bytes stored
 * there. */
void control_message_space(struct message_reader *reader, uint8_t **to_out, size_t *size_out);
void control_message_added(struct message_reader *reader, size_t size);
/* 1: a whole message, valid until the next call; 0: more bytes are needed; ERROR_CORRUPT: the bytes
 * are no message. */
must_check int control_message_next(struct message_reader *reader, enum control_kind *kind_out,
                                   struct bytes *body_out);
/* After control_message_next has returned 0: bytes of kind and body of the message that is coming
 * in; 0: unknown. */
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
