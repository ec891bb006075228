/* http_begin: see the header. */
#include "door/http_begin.h"

#include <string.h>

static bool is_letter(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '-';
}

static bool begins_with(struct bytes text, const char *word)
{
    size_t size = strlen(word);

    return text.size >= size && memcmp(text.data, word, size) == 0;
}

/* Returns the bytes after the method and a space; empty if the line does not begin with them. */
static struct bytes target_of(struct bytes line)
{
    size_t size = 0;

    while (size < line.size && is_letter(line.data[size]))
        size++;
    if (size == 0 || size == line.size || line.data[size] != ' ')
        return bytes_of(NULL, 0);
    return bytes_of(line.data + size + 1, line.size - size - 1);
}

bool http_begin_is_request(struct bytes line)
{
    struct bytes target = target_of(line);
    const uint8_t *space = target.size == 0 ? NULL : memrchr(target.data, ' ', target.size);

    if (space == NULL || space == target.data)
        return false;
    return begins_with(bytes_of(space + 1, target.size - (size_t)(space + 1 - target.data)),
                       "HTTP/");
}

bool http_begin_is_long_request(struct bytes begin)
{
    struct bytes target = target_of(begin);

    return begins_with(target, "/") || begins_with(target, "http");
}
