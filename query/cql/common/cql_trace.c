/* The ids of a trace's events have growing times, because clients show events in the order of
 * ids. */
#include "query/cql/common/cql_trace.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/timeuuid.h"
#include "storage/schema/type.h"
#include "base/memory.h"

enum { TRACE_CHUNK = 2048, VALUE_PRINTED_MAX = 4096 /* bytes */ };

/* ---- the traces of answered requests ---- */

struct cql_trace_list *cql_trace_list_new(void)
{
    struct cql_trace_list *traces = memory_zeroed(1, sizeof(*traces));
    STAILQ_INIT(&traces->all);
    return traces;
}

static void drop_oldest(struct cql_trace_list *traces)
{
    struct cql_trace *oldest = STAILQ_FIRST(&traces->all);
    STAILQ_REMOVE_HEAD(&traces->all, next);
    traces->count--;
    traces->bytes -= arena_held(oldest->arena);
    arena_free(oldest->arena);
}

void cql_trace_list_free(struct cql_trace_list *traces)
{
    while (!STAILQ_EMPTY(&traces->all))
        drop_oldest(traces);
    memory_free(traces);
}

/* ---- the trace of a request under way ---- */

static const char *consistency_name(enum cql_consistency consistency)
{
    static const char *const names[] = {"ANY",    "ONE",          "TWO",          "THREE",
                                        "QUORUM", "ALL",          "LOCAL_QUORUM", "EACH_QUORUM",
                                        "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};
    return (size_t)consistency < sizeof(names) / sizeof(names[0]) ? names[consistency] : "UNKNOWN";
}

/* Copy at most CQL_TRACE_TEXT_MAX bytes of whole characters; "(no text)" for invalid UTF-8. */
static const char *shown_text(struct cql_trace *trace, struct bytes text)
{
    if (text.size > CQL_TRACE_TEXT_MAX) {
        text.size = CQL_TRACE_TEXT_MAX;
        while (text.size > 0 && (text.data[text.size] & 0xc0) == 0x80)
            text.size--;
    }
    return bytes_valid_utf8(text) ? cql_text(trace->arena, text) : "(no text)";
}

static void put_parameter(struct cql_trace *trace, const char *name, const char *value)
{
    if (trace->parameter_count < 2 * CQL_TRACE_PARAMETERS_MAX) {
        trace->parameters[trace->parameter_count++] = name;
        trace->parameters[trace->parameter_count++] = value;
    }
}

static void put_request(struct cql_trace *trace, const struct cql_request *request)
{
    static const char *const names[] = {[CQL_QUERY] = "Execute CQL3 query",
                                        [CQL_PREPARE] = "Preparing CQL3 query",
                                        [CQL_EXECUTE] = "Execute CQL3 prepared query",
                                        [CQL_BATCH] = "Execute batch of CQL3 queries"};
    trace->request = names[request->kind];
    if (request->kind == CQL_QUERY || request->kind == CQL_PREPARE)
        put_parameter(trace, "query", shown_text(trace, request->text));
    if (request->kind == CQL_PREPARE)
        return;
    put_parameter(trace, "consistency_level", consistency_name(request->consistency));
    put_parameter(trace, "serial_consistency_level", consistency_name(request->serial_consistency));
    if (request->page_size > 0)
        put_parameter(trace, "page_size", cql_text_printf(trace->arena, "%d", request->page_size));
}

void cql_trace_begin(struct cql_execution *execution)
{
    check(execution->trace == NULL);
    const struct world *world = execution->cql->options.world;
    struct arena *arena = arena_new(TRACE_CHUNK);
    struct cql_trace *trace = arena_alloc(arena, sizeof(*trace), 16);
    *trace = (struct cql_trace){.arena = arena,
                                .client = execution->session->client,
                                .coordinator = execution->session->local,
                                .started_us = world_wall_us(world),
                                .began_us = world_monotonic_us(world)};
    trace->end = &trace->first;
    timeuuid_make(trace->started_us, world->random, trace->id);
    put_request(trace, &execution->request);
    execution->trace = trace;
}

static int64_t elapsed_us(const struct cql_execution *execution)
{
    return world_monotonic_us(execution->cql->options.world) - execution->trace->began_us;
}

void cql_trace(struct cql_execution *execution, const char *format, ...)
{
    struct cql_trace *trace = execution->trace;
    if (trace == NULL || trace->event_count == CQL_TRACE_EVENTS_MAX)
        return;
    bool is_last = ++trace->event_count == CQL_TRACE_EVENTS_MAX;
    char line[CQL_TRACE_TEXT_MAX + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), is_last ? "More happened than is kept" : format, arguments);
    va_end(arguments);
    struct cql_trace_event *event = arena_alloc(trace->arena, sizeof(*event), 16);
    *event = (struct cql_trace_event){.activity = shown_text(trace, bytes_text(line)),
                                      .elapsed_us = elapsed_us(execution)};
    int64_t now_us = trace->started_us + event->elapsed_us;
    trace->last_us = now_us > trace->last_us ? now_us : trace->last_us + 1;
    timeuuid_make(trace->last_us, execution->cql->options.world->random, event->id);
    *trace->end = event;
    trace->end = &event->next;
}

static void value_append(const struct type *type, struct bytes value, struct buffer *text)
{
    if (value.size <= VALUE_PRINTED_MAX)
        type_format(type, value, text);
    else if (type->kind == TYPE_TEXT || type->kind == TYPE_ASCII)
        type_format(type, bytes_of(value.data, VALUE_PRINTED_MAX), text);
    else
        buffer_printf(text, "%zu bytes", value.size);
}

void cql_trace_values(struct cql_execution *execution)
{
    struct cql_trace *trace = execution->trace;
    uint32_t count = execution->compiled->marker_count;
    count = count < CQL_TRACE_PARAMETERS_MAX ? count : CQL_TRACE_PARAMETERS_MAX;
    for (uint32_t i = 0; trace != NULL && i < count; i++) {
        const struct cql_column *marker = &execution->compiled->markers[i];
        struct buffer name = {.arena = execution->arena};
        struct buffer value = {.arena = execution->arena};
        buffer_printf(&name, "bound_var_%u_%s", i, marker->name);
        if (execution->values[i].state == CQL_VALUE_SET)
            value_append(marker->type, execution->values[i].data, &value);
        else
            buffer_append_text(&value,
                               execution->values[i].state == CQL_VALUE_NULL ? "null" : "unset");
        put_parameter(trace, shown_text(trace, buffer_view(&name)),
                      shown_text(trace, buffer_view(&value)));
    }
}

const uint8_t *cql_trace_end(struct cql_execution *execution)
{
    struct cql_trace_list *traces = execution->cql->traces;
    struct cql_trace *trace = execution->trace;
    if (trace == NULL)
        return NULL;
    trace->duration_us = elapsed_us(execution);
    execution->trace = NULL;
    STAILQ_INSERT_TAIL(&traces->all, trace, next);
    traces->count++;
    traces->bytes += arena_held(trace->arena);
    while (traces->count > CQL_TRACES_MAX ||
           (traces->bytes > CQL_TRACES_BYTES_MAX && traces->count > 1)) {
        drop_oldest(traces);
    }
    return trace->id;
}
