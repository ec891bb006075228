/* view_status: shows the findings of `daybook status`, the tables of the directory, and the use of
 * memory and disk.
 *
 *     /status */
#include "query/web/page/view.h"

#include <inttypes.h>

#include "base/arena.h"
#include "query/memory_parts.h"

enum { TABLES_MAX = 200 };

struct status {
    struct view_run *state;
    struct view_run *tables;
};

static void status_begin(struct view_call *call)
{
    struct status *status =
        arena_alloc_zeroed(call->arena, sizeof *status, _Alignof(struct status));

    call->state = status;
    status->state = view_run(call, 0, "status", NULL);
    status->tables = view_run(call, TABLES_MAX, "inspect", NULL);
}

/* ---- values ---- */

static uint64_t number_of(struct bytes text)
{
    uint64_t number = 0;

    for (size_t i = 0; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        number = 10 * number + (uint64_t)(text.data[i] - '0');
    return number;
}

static struct bytes size_text(struct view_call *call, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024)
        return html_format(call->arena, "%" PRIu64 " bytes", bytes);
    for (; size >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        size /= 1024;
    return html_format(call->arena, "%.1f %s", size, units[unit]);
}

static struct bytes size_of(struct view_call *call, const struct cql_json *object, const char *name)
{
    return size_text(call, number_of(view_member(object, name)));
}

static struct bytes count_of(struct view_call *call, const struct cql_json *object,
                             const char *name)
{
    return html_number(call->arena, view_member(object, name));
}

static bool has(const struct cql_json *object, const char *name)
{
    return view_member(object, name).size > 0;
}

/* ---- findings ---- */

static void put_findings(struct view_call *call, const struct cql_json *state)
{
    const struct cql_json *findings = cql_json_member(state, "findings");

    if (findings == NULL || findings->count == 0) {
        buffer_append_text(&call->html, "<p class=\"well\">All is well.</p>\n");
        return;
    }
    for (const struct cql_json *finding = findings->items; finding != NULL; finding = finding->next)
        html_put(&call->html,
                 "<section class=\"error\" role=\"alert\">\n<h2>{}</h2>\n<p>{}</p>\n</section>\n",
                 view_member(finding, "reason"), view_member(finding, "text"));
}

static void put_headline(struct view_call *call, const struct status *status)
{
    const struct cql_json *state = status->state->value;
    const struct cql_json *clicks = view_find_row(status->tables, "table", "daybook.ad_click");

    html_put(&call->html,
             "<dl class=\"headline\">\n<div><dt>State</dt><dd>{}</dd></div>\n"
             "<div><dt>Room on the disk</dt><dd>{}</dd></div>\n"
             "<div><dt>Log</dt><dd>{}</dd></div>\n",
             view_member(state, "state"), size_of(call, state, "disk_free_bytes"),
             size_of(call, state, "log_bytes"));
    if (clicks != NULL && has(clicks, "bytes_per_row"))
        html_put(&call->html,
                 "<div><dt>Clicks in segments</dt><dd>{} <small>{} bytes each</small></dd></div>\n",
                 count_of(call, clicks, "rows"), view_member(clicks, "bytes_per_row"));
    buffer_append_text(&call->html, "</dl>\n");
}

/* ---- tables ---- */

static void put_tables(struct view_call *call, const struct view_run *tables)
{
    static const struct html_column columns[] = {
        {"Table", false}, {"Rows in segments", true}, {"Rows in memory", true}, {"Segments", true},
        {"Size", true},   {"Bytes per row", true}};

    if (!view_has(call, tables))
        return;
    html_table_begin(&call->html, bytes_text("Tables"), columns,
                     sizeof columns / sizeof columns[0]);
    for (const struct cql_json *row = tables->value->items; row != NULL; row = row->next)
        html_put(&call->html,
                 "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>"
                 "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                 view_member(row, "table"), count_of(call, row, "rows"),
                 count_of(call, row, "rows_in_memory"), count_of(call, row, "segments"),
                 size_of(call, row, "bytes"), count_of(call, row, "bytes_per_row"));
    html_table_end(&call->html);
    buffer_append_text(
        &call->html, "<p class=\"note\">Rows in segments are as stored, before newer ones replace "
                     "or hide them.</p>\n");
}

static void begin_facts(struct view_call *call, const char *caption, const char *value)
{
    const struct html_column columns[] = {{"What", false}, {value, true}};

    html_table_begin(&call->html, bytes_text(caption), columns, 2);
}

static void put_fact(struct view_call *call, struct bytes name, struct bytes value)
{
    html_put(&call->html,
             "<tr><th scope=\"row\" class=\"fact\">{}</th><td class=\"n\">{}</td></tr>\n", name,
             value);
}

/* Returns the holder of the memory that a member such as "memory_cql_requests_bytes" counts; NULL:
 * the member counts no memory. */
static const char *holder_of(struct bytes member)
{
    static const char before[] = "memory_", behind[] = "_bytes";
    size_t skipped = sizeof before - 1, cut = skipped + sizeof behind - 1;

    if (member.size <= cut || memcmp(member.data, before, skipped) != 0)
        return NULL;
    return memory_parts_what(bytes_of(member.data + skipped, member.size - cut));
}

static void put_memory(struct view_call *call, const struct cql_json *state)
{
    uint64_t sum = 0;

    begin_facts(call, "Memory, by what holds it", "Size");
    for (const struct cql_json *member = state->items; member != NULL; member = member->next) {
        const char *holder = holder_of(member->name);
        uint64_t bytes = number_of(member->text);
        sum += holder != NULL ? bytes : 0;
        if (holder != NULL && bytes > 0)
            put_fact(call, bytes_text(holder), size_text(call, bytes));
    }
    put_fact(call, bytes_text("In all"), size_text(call, sum));
    html_table_end(&call->html);
}

static void put_work(struct view_call *call, const struct cql_json *state)
{
    static const struct {
        const char *name, *title;
        bool is_size;
    } facts[] = {{"frames_durable", "Frames of the log that are on disk", false},
                 {"log_unflushed_bytes", "Of the log not in segments yet", true},
                 {"flushes", "Flushes since the start", false},
                 {"merges", "Merges of segments since the start", false},
                 {"segments", "Segments", false},
                 {"failed_reads", "Pages that could not be read", false},
                 {"days_dirty", "Days to work off", false},
                 {"disk_wanted_bytes", "Room that the next writes need", true},
                 {"backup_lag_frames", "Frames that the backup lacks", false},
                 {"connections_ingest", "Connections of senders", false},
                 {"connections_cql", "Connections of CQL", false},
                 {"connections_http", "Connections of HTTP", false},
                 {"descriptors_taken", "File descriptors taken", false},
                 {"descriptors_limit", "File descriptors allowed", false}};

    begin_facts(call, "Log, merges and connections", "Value");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (has(state, facts[i].name))
            put_fact(call, bytes_text(facts[i].title),
                     facts[i].is_size ? size_of(call, state, facts[i].name)
                                      : count_of(call, state, facts[i].name));
    html_table_end(&call->html);
}

static void put_settings(struct view_call *call, const struct cql_json *state)
{
    static const char *const names[][2] = {{"version", "Version"},      {"process", "Process"},
                                           {"directory", "Directory"},  {"zone", "Zone"},
                                           {"currency", "Currency"},    {"clock", "Clock"},
                                           {"backup_path", "Backup to"}};

    buffer_append_text(&call->html, "<h2>Server</h2>\n<dl class=\"facts\">\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (has(state, names[i][0]))
            html_put(&call->html, "<div><dt>{}</dt><dd>{}</dd></div>\n", bytes_text(names[i][1]),
                     view_member(state, names[i][0]));
    buffer_append_text(&call->html, "</dl>\n");
}

static void status_render(struct view_call *call)
{
    const struct status *status = call->state;
    const struct cql_json *state = status->state->value;

    if (!view_has(call, status->state))
        return;
    put_findings(call, state);
    put_headline(call, status);
    put_tables(call, status->tables);
    buffer_append_text(&call->html, "<div class=\"columns\">\n");
    put_memory(call, state);
    put_work(call, state);
    buffer_append_text(&call->html, "</div>\n");
    put_settings(call, state);
    html_put(&call->html,
             "<p class=\"export\">Export: <a href=\"{}/api/status\">JSON</a> "
             "<a href=\"{}/metrics\">Prometheus</a></p>\n",
             call->base, call->base);
}

const struct view view_status = {
    .path = "/status", .title = "Status", .begin = status_begin, .render = status_render};
