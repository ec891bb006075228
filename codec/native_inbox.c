/* native_inbox: see the header.
 *
 * What must hold: returned views and `window` point into `input`, `plain` or `parts`, whose bytes
 * do not move before the next call.  `input` grows only while `window` is empty.
 *
 *     input    ...read | segment segment seg|         the bytes before input_start were read
 *     window            [envelope envelope]           in the last segment read, or in `plain`
 *
 * If `is_secret`, bytes are zeroed when no view points to them any more.  Buffers then grow by
 * copying, because realloc may free memory without zeroing it. */
#include "codec/native_inbox.h"

#include <string.h>

#include "codec/native_compress.h"
#include "codec/native_segment.h"

enum { INBOX_KEEP_MAX = 64 << 10 }; /* largest capacity of an unused `plain` */

void native_inbox_init(struct native_inbox *inbox, bool is_client, uint32_t body_max)
{
    check(body_max <= NATIVE_BODY_MAX);
    *inbox = (struct native_inbox){.is_client = is_client, .body_max = body_max};
}

static void buffer_wipe(struct buffer *buffer, size_t from)
{
    if (buffer->capacity > from)
        explicit_bzero(buffer->data + from, buffer->capacity - from);
}

/* Zero all bytes that were read.  No view may point to them. */
static void inbox_wipe(struct native_inbox *inbox)
{
    if (inbox->input_start > 0)
        explicit_bzero(inbox->input.data, inbox->input_start);
    buffer_wipe(&inbox->input, inbox->input.size);
    buffer_wipe(&inbox->plain, 0);
    buffer_wipe(&inbox->parts, inbox->parts.size);
}

static void inbox_append(struct native_inbox *inbox, struct buffer *buffer, struct bytes bytes)
{
    struct buffer old = *buffer;

    if (inbox->is_secret && bytes.size > old.capacity - old.size) {
        *buffer = (struct buffer){0};
        buffer_reserve(buffer, old.size + bytes.size);
        buffer_append_bytes(buffer, buffer_view(&old));
        buffer_wipe(&old, 0);
        buffer_release(&old);
    }
    buffer_append_bytes(buffer, bytes);
}

static struct buffer *inbox_plain(struct native_inbox *inbox)
{
    if (inbox->is_secret)
        buffer_wipe(&inbox->plain, 0);
    buffer_clear(&inbox->plain);
    return &inbox->plain;
}

void native_inbox_release(struct native_inbox *inbox)
{
    if (inbox->is_secret) {
        buffer_wipe(&inbox->input, 0);
        buffer_wipe(&inbox->plain, 0);
        buffer_wipe(&inbox->parts, 0);
    }
    buffer_release(&inbox->input);
    buffer_release(&inbox->plain);
    buffer_release(&inbox->parts);
}

size_t native_inbox_held(const struct native_inbox *inbox)
{
    return inbox->input.capacity + inbox->plain.capacity + inbox->parts.capacity;
}

size_t native_inbox_unread(const struct native_inbox *inbox)
{
    return inbox->input.size - inbox->input_start;
}

void native_inbox_start(struct native_inbox *inbox, enum native_compression compression)
{
    inbox->compression = compression;
    inbox->is_framed = inbox->version >= 5;
}

void native_inbox_add(struct native_inbox *inbox, struct bytes bytes)
{
    struct buffer *input = &inbox->input;
    size_t left = input->size - inbox->input_start;

    check(inbox->window.size == 0);
    if (left > 0 && inbox->input_start > 0)
        memmove(input->data, input->data + inbox->input_start, left);
    input->size = left;
    inbox->input_start = 0;
    inbox_append(inbox, input, bytes);
}

/* Free the memory that an idle connection does not need. */
static int inbox_rest(struct native_inbox *inbox)
{
    if (inbox->is_secret)
        inbox_wipe(inbox);
    if (inbox->input_start == inbox->input.size) {
        inbox->input_start = 0;
        buffer_release(&inbox->input);
    }
    if (inbox->plain.capacity > INBOX_KEEP_MAX || inbox->plain.capacity > inbox->body_max)
        buffer_release(&inbox->plain);
    if (inbox->parts.size == 0)
        buffer_release(&inbox->parts);
    return 0;
}

/* ---- envelopes ---- */

static int check_version(struct native_inbox *inbox, struct bytes bytes,
                         struct native_envelope *envelope, struct error *err)
{
    bool is_answer = (bytes.data[0] & NATIVE_RESPONSE_BIT) != 0;
    uint8_t version = bytes.data[0] & (uint8_t)~NATIVE_RESPONSE_BIT;

    envelope->version = version;
    if (is_answer != inbox->is_client)
        return error_set(err, ERROR_INVALID, "an envelope of the wrong direction");
    if (version == NATIVE_VERSION_BETA && bytes.size < 2)
        return 0;
    if (version < NATIVE_VERSION_MIN || version > NATIVE_VERSION_MAX) {
        envelope->flags = bytes.size < 2 ? 0 : bytes.data[1];
        return error_set(err, ERROR_UNSUPPORTED, "protocol version %u is not spoken", version);
    }
    if (inbox->version != 0 && inbox->version != version)
        return error_set(err, ERROR_CONFLICT,
                         "Invalid message version. Got %u/v%u but previous messages on this "
                         "connection had version %u/v%u",
                         version, version, inbox->version, inbox->version);
    return 1;
}

/* Returns 1, or 0 when more bytes are needed, or an error. */
static int read_header(struct native_inbox *inbox, struct bytes bytes,
                       struct native_envelope *envelope, struct error *err)
{
    *envelope = (struct native_envelope){0};
    if (bytes.size == 0)
        return 0;
    int rc = check_version(inbox, bytes, envelope, err);
    if (rc <= 0 || bytes.size < NATIVE_HEADER_SIZE)
        return rc < 0 ? rc : 0;
    envelope->flags = bytes.data[1];
    envelope->stream = (int16_t)load_u16_be(bytes.data + 2);
    envelope->opcode = bytes.data[4];
    envelope->size = load_u32_be(bytes.data + 5);
    inbox->version = envelope->version;
    if (envelope->size > INT32_MAX)
        return error_set(err, ERROR_CORRUPT, "an envelope with a negative length");
    envelope->is_too_large = envelope->size > inbox->body_max;
    return 1;
}

static int read_body(struct native_inbox *inbox, struct bytes body,
                     struct native_envelope *envelope, struct error *err)
{
    envelope->body = body;
    if ((envelope->flags & NATIVE_FLAG_COMPRESSED) == 0 || envelope->version >= 5)
        return 1;
    if (inbox->compression == NATIVE_PLAIN)
        return error_set(err, ERROR_CORRUPT, "a compressed body, and no compression was agreed");
    int rc =
        native_compress_undo_body(inbox->compression, body, inbox->body_max, inbox_plain(inbox));
    if (rc != 0)
        return error_set(err, rc, "a compressed body that is %s",
                         rc == ERROR_LIMIT ? "too large" : "damaged");
    envelope->body = buffer_view(&inbox->plain);
    return 1;
}

/* ---- envelopes without segments ---- */

static int next_bare(struct native_inbox *inbox, struct native_envelope *envelope,
                     struct error *err)
{
    const uint8_t *at = inbox->input.data + inbox->input_start;
    size_t left = inbox->input.size - inbox->input_start;
    size_t dropped = inbox->drop < left ? (size_t)inbox->drop : left;

    inbox->drop -= dropped;
    inbox->input_start += dropped;
    left -= dropped;
    if (left == 0)
        return 0;
    at += dropped;
    int rc = read_header(inbox, bytes_of(at, left), envelope, err);
    if (rc <= 0)
        return rc;
    if (envelope->is_too_large) {
        inbox->input_start += NATIVE_HEADER_SIZE;
        inbox->drop = envelope->size;
        return 1;
    }
    if (left - NATIVE_HEADER_SIZE < envelope->size)
        return 0;
    inbox->input_start += NATIVE_HEADER_SIZE + envelope->size;
    return read_body(inbox, bytes_of(at + NATIVE_HEADER_SIZE, envelope->size), envelope, err);
}

/* ---- envelopes in segments ---- */

static int next_in_window(struct native_inbox *inbox, struct native_envelope *envelope,
                          struct error *err)
{
    struct bytes window = inbox->window;
    int rc = read_header(inbox, window, envelope, err);

    if (rc < 0)
        return rc;
    if (rc == 0 || window.size - NATIVE_HEADER_SIZE < envelope->size)
        return error_set(err, ERROR_CORRUPT, "a segment ends within an envelope");
    size_t size = NATIVE_HEADER_SIZE + envelope->size;
    inbox->window = bytes_of(window.data + size, window.size - size);
    if (envelope->is_too_large)
        return 1;
    return read_body(inbox, bytes_of(window.data + NATIVE_HEADER_SIZE, envelope->size), envelope,
                     err);
}

/* Add one part of an envelope in several segments.  Returns 1 when the envelope is complete or too
 * large, 0 when more parts must follow, or an error. */
static int take_part(struct native_inbox *inbox, struct bytes part,
                     struct native_envelope *envelope, struct error *err)
{
    struct buffer *parts = &inbox->parts;

    if (inbox->drop > 0) {
        if (part.size > inbox->drop)
            return error_set(err, ERROR_CORRUPT, "a segment has bytes after its envelope");
        inbox->drop -= part.size;
        return 0;
    }
    inbox_append(inbox, parts, part);
    int rc = read_header(inbox, buffer_view(parts), envelope, err);
    if (rc <= 0)
        return rc;
    size_t size = NATIVE_HEADER_SIZE + (size_t)envelope->size;
    if (parts->size > size)
        return error_set(err, ERROR_CORRUPT, "a segment has bytes after its envelope");
    if (envelope->is_too_large) {
        inbox->drop = size - parts->size;
        buffer_clear(parts);
        return 1;
    }
    if (parts->size < size)
        return 0;
    /* The envelope's bytes stay valid until the next part overwrites them. */
    parts->size = 0;
    return read_body(inbox, bytes_of(parts->data + NATIVE_HEADER_SIZE, envelope->size), envelope,
                     err);
}

static int next_framed(struct native_inbox *inbox, struct native_envelope *envelope,
                       struct error *err)
{
    while (inbox->window.size == 0) {
        struct bytes rest = bytes_of(inbox->input.data + inbox->input_start,
                                     inbox->input.size - inbox->input_start);
        struct native_segment segment;
        struct bytes payload;
        int rc = native_segment_header(rest, inbox->compression == NATIVE_LZ4, &segment);

        if (rc < 0)
            return error_set(err, rc, "a segment's header is damaged");
        if (rc == 0)
            return 0;
        size_t size = segment.header_size + segment.payload_size + NATIVE_SEGMENT_TRAILER_SIZE;
        if (rest.size < size)
            return 0;
        inbox->input_start += size;
        if (native_segment_payload(rest, &segment, inbox_plain(inbox), &payload) != 0)
            return error_set(err, ERROR_CORRUPT, "a segment's payload is damaged");
        if (!segment.is_whole) {
            rc = take_part(inbox, payload, envelope, err);
            if (rc != 0)
                return rc;
        } else if (inbox->parts.size > 0 || inbox->drop > 0) {
            return error_set(err, ERROR_CORRUPT, "a whole segment comes within a divided envelope");
        } else {
            inbox->window = payload;
        }
    }
    return next_in_window(inbox, envelope, err);
}

int native_inbox_next(struct native_inbox *inbox, struct native_envelope *envelope_out,
                      struct error *err)
{
    if (inbox->window.size == 0 && inbox->input_start == inbox->input.size)
        return inbox_rest(inbox);
    int rc = inbox->is_framed ? next_framed(inbox, envelope_out, err)
                              : next_bare(inbox, envelope_out, err);
    return rc == 0 ? inbox_rest(inbox) : rc;
}
