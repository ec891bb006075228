/* status_report: see the header. */
#include "query/status_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cli/table_print.h"

enum { LABEL_WIDTH = 18, TEXT_MAX = 512 };

struct status_report_size status_report_size(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct status_report_size size;
    if (bytes < 1024) {
        snprintf(size.text, sizeof(size.text), "%" PRIu64 " bytes", bytes);
        return size;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    for (; value >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        value /= 1024;
    snprintf(size.text, sizeof(size.text), "%.1f %s", value, units[unit]);
    return size;
}

/* ---- lines ---- */

static void end_line(struct status_report *report)
{
    if (report->is_line_open)
        buffer_put_u8(&report->lines, '\n');
    report->is_line_open = false;
}

void status_report_line(struct status_report *report, const char *label, const char *words)
{
    end_line(report);
    buffer_printf(&report->lines, "%-*s %s", LABEL_WIDTH, label, words);
    report->is_line_open = true;
}

void status_report_words(struct status_report *report, const char *words)
{
    check(report->is_line_open);
    buffer_append_text(&report->lines, words);
}

/* ---- facts ---- */

static void begin_fact(struct status_report *report, const char *label, const char *key)
{
    if (label != NULL)
        status_report_line(report, label, "");
    check(report->is_line_open);
    buffer_printf(&report->members, ",\"%s\":", key);
}

void status_report_text(struct status_report *report, const char *label, const char *key,
                        const char *value)
{
    begin_fact(report, label, key);
    buffer_append_json(&report->members, bytes_text(value));
    buffer_append_text(&report->lines, value);
}

void status_report_number(struct status_report *report, const char *label, const char *key,
                          uint64_t value, const char *words)
{
    begin_fact(report, label, key);
    buffer_printf(&report->members, "%" PRIu64, value);
    buffer_printf(&report->lines, "%" PRIu64 "%s", value, words);
}

void status_report_bytes(struct status_report *report, const char *label, const char *key,
                         uint64_t value, const char *words)
{
    begin_fact(report, label, key);
    if (value == UINT64_MAX) {
        buffer_append_text(&report->members, "null");
        buffer_printf(&report->lines, "unknown%s", words);
        return;
    }
    buffer_printf(&report->members, "%" PRIu64, value);
    if (report->is_human)
        buffer_printf(&report->lines, "%s%s", status_report_size(value).text, words);
    else
        buffer_printf(&report->lines, "%" PRIu64 " bytes%s", value, words);
}

/* ---- findings ---- */

void status_report_finding(struct status_report *report, const char *reason, const char *format,
                           ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    bool is_first = report->finding_count++ == 0;
    buffer_printf(&report->findings, "%s%s: %s", is_first ? "" : "; ", reason, text);
    buffer_printf(&report->findings_json, "%s{\"reason\":\"%s\",\"text\":", is_first ? "" : ",",
                  reason);
    buffer_append_json(&report->findings_json, bytes_text(text));
    buffer_put_u8(&report->findings_json, '}');
}

/* ---- the whole ---- */

void status_report_print_lines(struct status_report *report, struct buffer *text)
{
    if (report->finding_count > 0) {
        status_report_line(report, "attention", "");
        buffer_append_bytes(&report->lines, buffer_view(&report->findings));
    }
    end_line(report);
    buffer_append_bytes(text, buffer_view(&report->lines));
}

void status_report_print_json(struct status_report *report, struct buffer *text)
{
    buffer_append_text(text, "{\"findings\":[");
    buffer_append_bytes(text, buffer_view(&report->findings_json));
    buffer_put_u8(text, ']');
    buffer_append_bytes(text, buffer_view(&report->members));
    buffer_append_text(text, "}\n");
}

void status_report_release(struct status_report *report)
{
    buffer_release(&report->lines);
    buffer_release(&report->members);
    buffer_release(&report->findings);
    buffer_release(&report->findings_json);
}
