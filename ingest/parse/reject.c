/* reject: see reject.h. */
#include "ingest/parse/reject.h"

#include <stdlib.h>

#include "base/memory.h"

static const struct {
    const char *name, *reason;
} codes[] = {
#define X(code, name, reason) {name, reason},
    REJECT_CODES(X)
#undef X
};

const char *reject_name(enum reject_code code)
{
    return codes[code].name;
}

const char *reject_reason(enum reject_code code)
{
    return codes[code].reason;
}

void reject_list_release(struct reject_list *list)
{
    memory_free(list->items);
    buffer_release(&list->bytes);
    *list = (struct reject_list){0};
}

void reject_list_clear(struct reject_list *list)
{
    list->count = 0;
    buffer_clear(&list->bytes);
    memset(list->counts, 0, sizeof list->counts);
}

size_t reject_list_bytes(const struct reject_list *list)
{
    return list->capacity * sizeof *list->items + list->bytes.capacity;
}

static uint32_t reject_list_keep(struct reject_list *list, struct bytes bytes, uint32_t *offset_out)
{
    *offset_out = (uint32_t)list->bytes.size;
    buffer_append_bytes(&list->bytes, bytes);
    return (uint32_t)bytes.size;
}

void reject_list_add(struct reject_list *list, uint64_t line, enum reject_code code,
                     struct bytes text, struct bytes content)
{
    list->items = memory_make_room(list->items, list->count, &list->capacity, sizeof *list->items);
    /* A few bytes more than an answer quotes are kept, because a character that is cut at
     * REJECT_TEXT_MAX would seem to be invalid UTF-8. */
    if (text.size > REJECT_TEXT_MAX + 4)
        text.size = REJECT_TEXT_MAX + 4;
    if (content.size > REJECT_CONTENT_MAX)
        content.size = REJECT_CONTENT_MAX;
    struct reject *reject = &list->items[list->count++];
    reject->line = line;
    reject->code = code;
    reject->text_size = reject_list_keep(list, text, &reject->text_offset);
    reject->content_size = reject_list_keep(list, content, &reject->content_offset);
    list->counts[code]++;
}

void reject_list_append(struct reject_list *list, const struct reject_list *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        reject_list_add(list, from->items[i].line, from->items[i].code,
                        reject_text(from, &from->items[i]), reject_content(from, &from->items[i]));
}

static int order_items(const void *a, const void *b)
{
    const struct reject *left = a;
    const struct reject *right = b;

    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return (left->content_offset > right->content_offset) -
           (left->content_offset < right->content_offset);
}

void reject_list_sort(struct reject_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, order_items);
}

void reject_list_renumber(struct reject_list *list, uint64_t lines)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i].line += lines;
}

struct bytes reject_text(const struct reject_list *list, const struct reject *reject)
{
    return bytes_of(list->bytes.data + reject->text_offset, reject->text_size);
}

struct bytes reject_content(const struct reject_list *list, const struct reject *reject)
{
    return bytes_of(list->bytes.data + reject->content_offset, reject->content_size);
}

static void append_json_character(struct buffer *buffer, const uint8_t *data, size_t size)
{
    static const char escaped[] = "\"\\\n\r\t";
    static const char letters[] = "\"\\nrt";
    const char *found = memchr(escaped, *data, sizeof escaped - 1);

    if (found != NULL) {
        buffer_put_u8(buffer, '\\');
        buffer_put_u8(buffer, (uint8_t)letters[found - escaped]);
    } else if (*data < 0x20 || *data == 0x7F) {
        buffer_printf(buffer, "\\u%04x", *data);
    } else {
        buffer_append(buffer, data, size);
    }
}

void reject_append_json(struct buffer *buffer, struct bytes text)
{
    size_t at = 0;

    buffer_put_u8(buffer, '"');
    while (at < text.size) {
        size_t size = bytes_utf8_character(bytes_of(text.data + at, text.size - at));

        if (at + (size == 0 ? 1 : size) > REJECT_TEXT_MAX)
            break;
        if (size == 0)
            buffer_append_text(buffer, "\xEF\xBF\xBD");
        else
            append_json_character(buffer, text.data + at, size);
        at += size == 0 ? 1 : size;
    }
    buffer_put_u8(buffer, '"');
}
