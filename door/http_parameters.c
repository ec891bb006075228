/* http_parameters: see the header. */
#include "door/http_parameters.h"

static const struct http_refusal bad_escape = {400, "bad_escape",
                                               "a % is not followed by two hexadecimal digits",
                                               "query or form", "send % itself as %25"};
static const struct http_refusal bad_text = {400, "bad_text",
                                             "a parameter is not UTF-8, or has a NUL",
                                             "query or form", "encode it as UTF-8"};
static const struct http_refusal too_many = {400, "too_many_parameters", "more than 64 parameters",
                                             "query or form", "send fewer, in several requests"};

static int digit_of(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    if (byte >= 'A' && byte <= 'F')
        return byte - 'A' + 10;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Append `text`, decoded.  False: an escape is wrong. */
static bool decode(struct bytes text, struct buffer *to)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (byte == '%') {
            if (text.size - i < 3)
                return false;
            int high = digit_of(text.data[i + 1]);
            int low = digit_of(text.data[i + 2]);
            if (high < 0 || low < 0)
                return false;
            byte = (uint8_t)(high << 4 | low);
            i += 2;
        }
        buffer_put_u8(to, text.data[i] == '+' ? ' ' : byte);
    }
    return true;
}

static const struct http_refusal *take(struct bytes text, struct buffer *to, struct bytes *part_out)
{
    size_t begin = to->size;

    if (!decode(text, to))
        return &bad_escape;
    *part_out = bytes_of(to->data + begin, to->size - begin);
    if (!bytes_valid_utf8(*part_out) || memchr(part_out->data, '\0', part_out->size) != NULL)
        return &bad_text;
    return NULL;
}

/* Return the bytes of `*text` before the first `mark`, or all; remove them and the mark. */
static struct bytes split(struct bytes *text, char mark)
{
    const uint8_t *end = memchr(text->data, mark, text->size);
    size_t size = end != NULL ? (size_t)(end - text->data) : text->size;
    struct bytes part = bytes_of(text->data, size);

    size += end != NULL;
    *text = bytes_of(text->data + size, text->size - size);
    return part;
}

const struct http_refusal *http_parameters_parse(struct bytes text,
                                                 struct http_parameters *parameters)
{
    const struct http_refusal *refusal = NULL;

    *parameters = (struct http_parameters){0};
    /* Decoded text is not longer than `text`, so the buffer does not move, and views stay valid. */
    buffer_reserve(&parameters->text, text.size + 1);
    while (refusal == NULL && text.size > 0) {
        struct bytes value = split(&text, '&');

        if (value.size == 0)
            continue;
        if (parameters->count == HTTP_PARAMETERS_MAX)
            return &too_many;
        struct http_parameter *item = &parameters->items[parameters->count++];
        refusal = take(split(&value, '='), &parameters->text, &item->name);
        refusal = refusal != NULL ? refusal : take(value, &parameters->text, &item->value);
    }
    return refusal;
}

void http_parameters_release(struct http_parameters *parameters)
{
    buffer_release(&parameters->text);
    parameters->count = 0;
}

struct bytes http_parameters_find(const struct http_parameters *parameters, const char *name)
{
    for (uint32_t i = 0; i < parameters->count; i++)
        if (bytes_equal(parameters->items[i].name, bytes_text(name)))
            return parameters->items[i].value;
    return bytes_of(NULL, 0);
}
