/* status_report: makes the text of `daybook status`: facts, and findings, which `--check` prints.
 *
 * The functions in the array `parts` (status.c) add facts, such as this one.  The report prints the
 * fact in a line, or as a member of one JSON object:
 *
 *     status_report_number(report, "frames", "frames_applied", applied, " applied, ");
 *     status_report_number(report, NULL, "frames_durable", durable, " durable");
 *
 *     frames             17 applied, 16 durable         {"frames_applied":17,"frames_durable":16}
 *
 * A finding is a reason for `--check` to exit with 1.  It is added as follows:
 *
 *     status_report_finding(report, "disk_nearly_full", "%s free, and %s are wanted next", ...);
 *
 * Keys and reasons are words joined by '_', and each is used once.  The text of a finding is
 * printed after its reason and a colon; it says what to do, where something has to be done. */
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

/* Begin a line with a label and words; the label "" is for a line that continues the subject of
 * the line before it. */
void status_report_line(struct status_report *report, const char *label, const char *words);
/* Append words to the open line; they are not in the JSON object. */
void status_report_words(struct status_report *report, const char *words);
/* Add a fact: to the JSON object under `key`, and to the lines.  A label begins a new line; where
 * the label is NULL, the value is appended to the open line.  `words` follow the value. */
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

/* A size as text, such as "64.0 MiB"; below 1 KiB in bytes, such as "17 bytes". */
struct status_report_size {
    char text[24];
};
struct status_report_size status_report_size(uint64_t bytes);

/* Append the whole report: as lines, with one for the findings; or as a JSON object. */
void status_report_print_lines(struct status_report *report, struct buffer *text);
void status_report_print_json(struct status_report *report, struct buffer *text);
void status_report_release(struct status_report *report);
#endif
