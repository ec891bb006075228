/* reject: the reasons why lines are rejected, and lists of rejected lines.
 *
 * The names of the codes are in the protocol and in the table `reject`, so a name and its meaning
 * never change.  docs/PROTOCOL.md has an example of each code. */
#ifndef DAYBOOK_INGEST_PARSE_REJECT_H
#define DAYBOOK_INGEST_PARSE_REJECT_H

#include <stdint.h>

#include "base/buffer.h"

#define REJECT_CODES(X)                                                                            \
    X(REJECT_LINE_TOO_LONG, "line_too_long", "the line is longer than 1 MiB")                      \
    X(REJECT_CUT_LINE, "cut_line", "the last line has no line end: its sender may have died")      \
    X(REJECT_EMPTY_LINE, "empty_line", "the line is empty")                                        \
    X(REJECT_UNKNOWN_CONTROL, "unknown_control",                                                   \
      "begins with # and is no control line; an id that begins with # must be quoted")             \
    X(REJECT_BAD_QUOTE, "bad_quote",                                                               \
      "a quote is open at the end of the line, or stands inside a field without being doubled")    \
    X(REJECT_TOO_FEW_FIELDS, "too_few_fields", "the line has fewer fields than columns")           \
    X(REJECT_TOO_MANY_FIELDS, "too_many_fields", "the line has more fields than columns")          \
    X(REJECT_BAD_JSON, "bad_json", "the line is not one flat JSON object of strings and numbers")  \
    X(REJECT_UNKNOWN_FIELD, "unknown_field", "the stream has no column of this name")              \
    X(REJECT_EMPTY_ID, "empty_id", "an id is empty")                                               \
    X(REJECT_ID_TOO_LONG, "id_too_long", "an id is longer than 4096 bytes")                        \
    X(REJECT_BAD_UTF8, "bad_utf8", "an id is not valid UTF-8")                                     \
    X(REJECT_CONTROL_CHARACTER, "control_character", "an id holds a control character")            \
    X(REJECT_BAD_DAY, "bad_day", "no day of the form YYYY-MM-DD")                                  \
    X(REJECT_BAD_TIME, "bad_time", "neither milliseconds since 1970 nor ISO 8601 with a zone")     \
    X(REJECT_TIME_OUT_OF_RANGE, "time_out_of_range", "the time is not between 1970 and 9999")      \
    X(REJECT_BAD_AMOUNT, "bad_amount",                                                             \
      "not digits[.digits] with at most 18 significant digits and 18 decimals")                    \
    X(REJECT_DAY_MISMATCH, "day_mismatch", "the day is more than a day away from the time")        \
    X(REJECT_BAD_CLICK_ID, "bad_click_id", "no click id of the kind that the directory has")       \
    X(REJECT_DIFFERS, "differs", "a click with this id is there, and its amount is another")

enum reject_code {
#define X(code, name, reason) code,
    REJECT_CODES(X)
#undef X
};
#define X(code, name, reason) +1
enum { REJECT_CODE_COUNT = 0 REJECT_CODES(X) };
#undef X

enum {
    REJECT_TEXT_MAX = 64,              /* bytes of the wrong text that an answer quotes */
    REJECT_CONTENT_MAX = 4096,         /* bytes of the line that the table keeps */
    REJECT_FILE_LINES_MAX = 8192       /* reject lines sent for a batch of a file; at least the
                                        * lines that `daybook load` puts into a batch */
};

const char *reject_name(enum reject_code code);
const char *reject_reason(enum reject_code code);

struct reject {
    uint64_t line;                     /* counted from 1 in the batch or, outside of batches, in the
                                        * connection */
    enum reject_code code;
    uint32_t text_offset, text_size;   /* in reject_list.bytes */
    uint32_t content_offset, content_size;
};

/* All-zero is an empty list. */
struct reject_list {
    struct reject *items;
    uint32_t count;
    uint32_t capacity;
    struct buffer bytes;
    uint64_t counts[REJECT_CODE_COUNT];
};

void reject_list_release(struct reject_list *list);
void reject_list_clear(struct reject_list *list);      /* keeps the memory */
size_t reject_list_bytes(const struct reject_list *list);
/* Copy up to REJECT_TEXT_MAX + 4 bytes of `text`, and up to REJECT_CONTENT_MAX of `content`. */
void reject_list_add(struct reject_list *list, uint64_t line, enum reject_code code,
                     struct bytes text, struct bytes content);
void reject_list_append(struct reject_list *list, const struct reject_list *from);
/* Sort by line; items of one line keep their order. */
void reject_list_sort(struct reject_list *list);
void reject_list_renumber(struct reject_list *list, uint64_t lines);
struct bytes reject_text(const struct reject_list *list, const struct reject *reject);
struct bytes reject_content(const struct reject_list *list, const struct reject *reject);

/* Append the first REJECT_TEXT_MAX bytes of `text` as a JSON string, without a cut character at the
 * end.  Bytes that are not UTF-8 become U+FFFD. */
void reject_append_json(struct buffer *buffer, struct bytes text);
#endif
