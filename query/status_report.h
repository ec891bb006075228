/* status_report: makes the text of `daybook status`: facts, and findings.
 *
 * A fact is printed in a line, or as a member of one JSON object.  A finding is a reason for
 * `--check` to exit with 1.  Keys and reasons are words joined by '_', and each is used once. */
#ifndef DAYBOOK_QUERY_STATUS_REPORT_H
#define DAYBOOK_QUERY_STATUS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct status_report {
    bool is_human;                     /* sizes are rounded: 64.0 MiB */
    bool is_line_open;
    struct buffer lines;
    struct buffer members;             /* of the JSON object */
    struct buffer findings;            /* "reason: text", joined by "; " */
    struct buffer findings_json;
    uint32_t finding_count;
};

/* Begin a new line.  The label "" shows that the line continues the subject of the line before. */
void status_report_line(struct status_report *report, const char *label, const char *words);
/* Append words to the open line only; the JSON object does not have them. */
void status_report_words(struct status_report *report, const char *words);
/* Add a fact to the JSON object under `key`, and its value and `words` to the lines.  A label
 * begins a new line.  If the label is NULL, value and words are appended to the open line. */
void status_report_text(struct status_report *report, const char *label, const char *key,
                        const char *value);
void status_report_number(struct status_report *report, const char *label, const char *key,
                          uint64_t value, const char *words);
/* UINT64_MAX: the size is not known. */
void status_report_bytes(struct status_report *report, const char *label, const char *key,
                         uint64_t value, const char *words);

void status_report_finding(struct status_report *report, const char *reason, const char *format,
                           ...)
    __attribute__((format(printf, 3, 4)));

/* A size such as "64.0 MiB" or "17 bytes". */
struct status_report_size {
    char text[24];
};
struct status_report_size status_report_size(uint64_t bytes);

void status_report_print_lines(struct status_report *report, struct buffer *text);
void status_report_print_json(struct status_report *report, struct buffer *text);
void status_report_release(struct status_report *report);
#endif
