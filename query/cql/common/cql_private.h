/* cql_private: what the files that carry out statements share: the server, a request under way
 * (cql_execution.c), and how it is refused (cql_fault.c).
 *
 *   text ──cql_parse──▶ tree ──cql_compile──▶ plan ──run, with bound values──▶ answer
 *                              names, types        cql_execution
 *
 * A cql_execution is one request under way; everything it makes lives in its arena.
 *
 * Functions that can refuse a statement return 0 or a negative code and fill a struct cql_fault:
 * the code and text that the client sees. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_PRIVATE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_PRIVATE_H

#include "base/arena.h"
#include "base/log.h"
#include "base/quota.h"
#include "base/world/world.h"
#include "query/cql/common/cql_options.h"
#include "query/cql/common/cql_session.h"
#include "query/cql/syntax/cql_ast.h"

enum {
    CQL_ARENA_CHUNK = 16 * 1024,         /* of a request's memory */
    CQL_ARENAS_SPARE_MAX = 256,          /* kept for reuse, with a chunk each */
    CQL_WARNINGS_MAX = 16
};

/* ---- faults ---- */

struct cql_fault {
    struct cql_error error;              /* its texts live in `arena` */
    struct arena *arena;
};

/* Both return ERROR_INVALID. */
int cql_refuse(struct cql_fault *fault, enum cql_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define cql_invalid(fault, ...) cql_refuse(fault, CQL_INVALID, __VA_ARGS__)
/* What an error of a lower room is to a client. */
int cql_fault_of(struct cql_fault *fault, const struct error *err);

/* ---- names ---- */

/* NUL-terminated, in the arena. */
const char *cql_text(struct arena *arena, struct bytes text);
const char *cql_text_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define CQL_SHOW(bytes) (int)(bytes).size, (const char *)(bytes).data

/* ---- the server ---- */

struct cql_prepared_cache;
struct cql_guard;
struct cql_row_size_bounds;
struct cql_trace;
struct cql_trace_list;
struct cql_execution;
struct cql_compiled;

struct cql {
    struct cql_options options;
    struct schema *system_schema;        /* of the virtual tables */
    struct cql_prepared_cache *prepared;
    struct cql_trace_list *traces;
    void (*schema_changed)(void *context, const struct cql_schema_change *change);
    void *schema_changed_context;
    uint32_t running;
    struct quota quota;                  /* of all executions; the store is told what is taken */
    int64_t statement_time_us;           /* 0: no limit */
    bool is_stopping;                    /* nothing that is not with the store goes on */
    TAILQ_HEAD(, cql_session) ready;     /* those with executions that wait for a slice
                                          * (cql_slice.h) */
    int64_t turn_us;                     /* used since the loop's turn began, or little before */
    int64_t slice_began_us;
    bool is_in_slice;
    struct cql_execution *slice_execution; /* whose slice it is; NULL: none, or it was accounted */
    uint8_t slice_text[200];             /* of its statement, */
    size_t slice_text_size;              /* to be logged if it takes long */
    struct log_group stretch_log;
    struct metric *long_stretches;
    struct timer turn_timer, sweep_timer;
    bool is_sweeping_soon;
    bool is_crowded, is_full;
    void (*has_room)(void *context);
    void *has_room_context;
    struct arena *spare[CQL_ARENAS_SPARE_MAX];
    uint32_t spare_count;
    int64_t list_ticks;                  /* of the last path that was made for a list */
    struct cql_row_size_bounds *row_sizes;     /* of rows that grow (cql_row_size.h) */
    /* A schema change is under way (cql_wait.h): what comes meanwhile waits. */
    bool schema_is_changing;
    uint32_t writing;                    /* writes under way: their tables must stay until they are
                                          * applied */
    struct cql_execution *schema_change; /* waits for them */
    struct cql_execution_queue waiting;
    struct cql_execution_queue stalled;  /* writes that the store had no room for */
};

/* ---- requests under way ---- */

struct cql_execution {
    struct cql *cql;
    struct cql_session *session;
    struct cql_request request;
    cql_answer answer;
    void *answer_context;
    struct arena *arena;
    struct cql_fault fault;
    struct cql_compiled *compiled;       /* referenced */
    const char *keyspace;                /* of the request, else the session's */
    const struct cql_value *values;      /* by marker number */
    int64_t now_s;
    struct cql_trace *trace;             /* NULL: not asked for */
    const char *warnings[CQL_WARNINGS_MAX];
    uint32_t warning_count;
    struct cql_payload echo;             /* of the answer, unless it is an error; empty: none */
    struct arena_budget arenas;          /* of what it makes (cql_guard.h), */
    struct quota quota;                  /* and how much that is */
    struct cql_guard *guard;             /* the step that is unwound; NULL: none is under way */
    int64_t step_began_us;
    int64_t deadline_us;                 /* monotonic; 0: none */
    const char *write_type;              /* of a write, as a timeout names it; NULL: a read */
    bool must_end;                       /* by itself, however long it waits: others wait for it */
    void (*resume)(struct cql_execution *execution); /* while it waits or is stalled */
    STAILQ_ENTRY(cql_execution) next;    /* of the queue it waits in */
    /* Frees what is not in the arena; may be NULL. */
    void (*release)(struct cql_execution *execution);
    void *state;                         /* of the statement's kind */
};

/* Read a page of the store: `page` is called once, possibly before this returns, also where the
 * store refuses the read. */
void cql_execution_read(struct cql_execution *execution, const struct read_request *request,
                        store_page page, void *context);

/* A warning of the answer. */
void cql_execution_warn(struct cql_execution *execution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each ends the execution: the client is answered, and `execution` is gone. */
void cql_execution_finish(struct cql_execution *execution, struct cql_result *result);
void cql_execution_finish_void(struct cql_execution *execution);
void cql_execution_finish_fault(struct cql_execution *execution);  /* execution->fault */
#endif
