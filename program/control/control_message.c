/* control_message: see the header. */
#include "program/control/control_message.h"

#include <string.h>

enum { HEADER_SIZE = 5, SPACE_MIN = 64 * 1024 };

void control_message_release(struct message_reader *reader)
{
    buffer_release(&reader->bytes);
    reader->consumed = 0;
}

void control_message_space(struct message_reader *reader, uint8_t **to_out, size_t *size_out)
{
    buffer_reserve(&reader->bytes, SPACE_MIN);
    *to_out = reader->bytes.data + reader->bytes.size;
    *size_out = reader->bytes.capacity - reader->bytes.size;
}

void control_message_added(struct message_reader *reader, size_t size)
{
    reader->bytes.size += size;
}

static void drop_consumed(struct message_reader *reader)
{
    size_t left = reader->bytes.size - reader->consumed;
    if (reader->consumed > 0 && left > 0)
        memmove(reader->bytes.data, reader->bytes.data + reader->consumed, left);
    reader->bytes.size = left;
    reader->consumed = 0;
}

int control_message_next(struct message_reader *reader, enum control_kind *kind_out,
                         struct bytes *body_out)
{
    const uint8_t *at = reader->bytes.data + reader->consumed;
    size_t left = reader->bytes.size - reader->consumed;
    uint32_t size = left < HEADER_SIZE ? 1 : load_u32(at);
    if (size == 0 || size > CONTROL_MESSAGE_MAX)
        return ERROR_CORRUPT;
    if (left < HEADER_SIZE || left < 4 + (size_t)size) {
        drop_consumed(reader);
        return 0;
    }
    if (at[4] < CONTROL_RUN || at[4] > CONTROL_OPEN)
        return ERROR_CORRUPT;
    *kind_out = (enum control_kind)at[4];
    *body_out = bytes_of(at + HEADER_SIZE, size - 1);
    reader->consumed += 4 + (size_t)size;
    return 1;
}

size_t control_message_whole(const struct message_reader *reader)
{
    size_t left = reader->bytes.size - reader->consumed;
    return left < HEADER_SIZE ? 0 : load_u32(reader->bytes.data + reader->consumed);
}

void control_message_put(struct buffer *to, enum control_kind kind, struct bytes body)
{
    buffer_put_u32(to, (uint32_t)(body.size + 1));
    buffer_put_u8(to, (uint8_t)kind);
    buffer_append_bytes(to, body);
}

/* The message is one write, so that the reader does not wake for the header alone. */
void control_message_send(struct connection *connection, enum control_kind kind, struct bytes body)
{
    struct buffer message = {0};
    control_message_put(&message, kind, body);
    network_write(connection, buffer_view(&message));
    buffer_release(&message);
}

void control_message_put_request(const struct control_request *request, struct buffer *body)
{
    buffer_put_u8(body, request->is_terminal ? 1 : 0);
    buffer_put_sized(body, bytes_text(request->actor));
    buffer_put_sized(body, bytes_text(request->text));
    buffer_put_sized(body, bytes_text(request->folder != NULL ? request->folder : ""));
    buffer_put_varint(body, (uint64_t)request->word_count);
    for (int i = 0; i < request->word_count; i++)
        buffer_put_sized(body, bytes_text(request->words[i]));
    buffer_put_u8(body, request->input.data != NULL ? 1 : 0);
    if (request->input.data != NULL)
        buffer_put_sized(body, request->input);
}
