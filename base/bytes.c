/* bytes: compares views, and checks and cuts UTF-8. */
#include "base/bytes.h"

#include <strings.h>

struct bytes bytes_text(const char *text)
{
    return bytes_of(text, strlen(text));
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool bytes_are_word(struct bytes text, const char *word)
{
    return text.size == strlen(word) && strncasecmp((const char *)text.data, word, text.size) == 0;
}

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* The range of the second byte excludes overlong forms and surrogates (RFC 3629 section 4). */
struct utf8_lead {
    uint8_t first;
    uint8_t last;
    uint8_t next_first;
    uint8_t next_last;
    uint8_t size;
};

static const struct utf8_lead utf8_leads[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static size_t utf8_sequence(const uint8_t *at, size_t left)
{
    if (at[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof utf8_leads / sizeof utf8_leads[0]; i++) {
        const struct utf8_lead *lead = &utf8_leads[i];
        if (at[0] < lead->first || at[0] > lead->last)
            continue;
        if (left < lead->size || at[1] < lead->next_first || at[1] > lead->next_last)
            return 0;
        for (size_t k = 2; k < lead->size; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return lead->size;
    }
    return 0;
}

bool bytes_valid_utf8(struct bytes text)
{
    size_t i = 0;
    while (i < text.size) {
        if (text.size - i >= 8 && (load_u64(text.data + i) & UINT64_C(0x8080808080808080)) == 0) {
            i += 8;
            continue;
        }
        size_t size = utf8_sequence(text.data + i, text.size - i);
        if (size == 0)
            return false;
        i += size;
    }
    return true;
}

size_t bytes_utf8_character(struct bytes text)
{
    return utf8_sequence(text.data, text.size);
}

struct bytes bytes_utf8_cut(struct bytes text, size_t size_max)
{
    size_t size = size_max;

    if (text.size <= size)
        return text;
    while (size > 0 && (text.data[size] & 0xC0) == 0x80)
        size--;
    return bytes_of(text.data, size);
}
