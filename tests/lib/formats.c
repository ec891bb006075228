/* formats: see the header.
 *
 *     000010  ec 08 00 00 00 00 00 00  01 00    comment
 *     ^offset ^bytes, up to a gap of three spaces or to what is no byte */
#include "tests/lib/formats.h"

#include <ctype.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/golden.h"

enum { OFFSET_HEX_DIGITS = 6, COMMENT_GAP = 3 };

/* The byte at `at`, and past it; false when there is none. */
static bool take_byte(const char **at, uint8_t *byte_out)
{
    size_t gap = strspn(*at, " ");
    const char *digits = *at + gap;
    if (gap >= COMMENT_GAP || !isxdigit((unsigned char)digits[0]) ||
        !isxdigit((unsigned char)digits[1]) || (digits[2] != ' ' && digits[2] != '\n')) {
        return false;
    }
    char text[3] = {digits[0], digits[1], '\0'};
    *byte_out = (uint8_t)strtoul(text, NULL, 16);
    *at = digits + 2;
    return true;
}

/* How many bytes the line shows. */
static size_t check_line(const char *section, const char *line, struct bytes file)
{
    size_t width = strcspn(line, " \n");
    char *end;
    if (width == 0 || !isxdigit((unsigned char)line[0]))
        return 0;
    size_t offset = strtoul(line, &end, width == OFFSET_HEX_DIGITS ? 16 : 10);
    cr_assert_eq(end, line + width, "%s: no offset: %.60s", section, line);
    const char *at = end + strspn(end, " ") - 1;
    size_t count = 0;
    uint8_t byte;
    while (take_byte(&at, &byte)) {
        cr_assert_lt(offset + count, file.size, "%s: %.60s", section, line);
        cr_assert_eq(file.data[offset + count], byte, "%s: %.60s: byte %zu is %02x", section, line,
                     offset + count, file.data[offset + count]);
        count++;
    }
    return count;
}

void formats_expect(const char *section, struct bytes file, size_t least)
{
    char heading[64];
    struct buffer text = golden_read("docs/FORMATS.md");
    snprintf(heading, sizeof heading, "\n## %s\n", section);
    const char *at = strstr((const char *)text.data, heading);
    cr_assert_not_null(at, "no section %s", section);
    at = strstr(at, "\n### Example\n");
    cr_assert_not_null(at);
    at = strstr(at, "\n```\n");
    cr_assert_not_null(at);
    size_t shown = 0;
    for (at += 5; strncmp(at, "```", 3) != 0; at = strchr(at, '\n') + 1)
        shown += check_line(section, at, file);
    cr_assert_geq(shown, least, "%s: only %zu bytes are shown", section, shown);
    buffer_release(&text);
}
