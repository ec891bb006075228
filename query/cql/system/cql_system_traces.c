#include <string.h>

#include "query/cql/common/cql_trace.h"
#include "query/cql/system/cql_system.h"

static void put_session(struct cql_system_maker *maker, const struct cql_trace *trace)
{
    cql_system_bytes(maker, bytes_of(trace->id, UUID_SIZE));
    cql_system_inet(maker, &trace->client);
    cql_system_text(maker, "QUERY");
    cql_system_inet(maker, &trace->coordinator);
    cql_system_int(maker, trace->coordinator.port);
    cql_system_int(maker, (int32_t)trace->duration_us);
    cql_system_texts(maker, trace->parameters, trace->parameter_count);
    cql_system_text(maker, trace->request);
    cql_system_timestamp(maker, trace->started_us / 1000);
    cql_system_row(maker);
}

static void put_event(struct cql_system_maker *maker, const struct cql_trace *trace,
                      const struct cql_trace_event *event)
{
    cql_system_bytes(maker, bytes_of(trace->id, UUID_SIZE));
    cql_system_bytes(maker, bytes_of(event->id, UUID_SIZE));
    cql_system_text(maker, event->activity);
    cql_system_inet(maker, &trace->coordinator);
    cql_system_int(maker, trace->coordinator.port);
    cql_system_int(maker, (int32_t)event->elapsed_us);
    cql_system_text(maker, "engine");
    cql_system_row(maker);
}

void cql_system_trace_rows(struct cql_system_maker *maker, const struct cql_trace_list *traces)
{
    bool has_events = strcmp(maker->table->name, "events") == 0;
    const struct cql_trace *trace;
    STAILQ_FOREACH(trace, &traces->all, next)
    {
        if (!has_events)
            put_session(maker, trace);
        for (const struct cql_trace_event *event = trace->first; has_events && event != NULL;
             event = event->next) {
            put_event(maker, trace, event);
        }
    }
}
