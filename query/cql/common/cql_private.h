/* cql_private: the structs that all files of query/cql share: the server, a request under way
 * (cql_execution.c) and its fault (cql_fault.c).
 *
 *   text ──cql_parse──▶ tree ──cql_compile──▶ plan ──run, with bound values──▶ answer
 *                              names, types        cql_execution
 *
 * Functions that can refuse a statement return 0, or a negative code with the fault filled. */
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
    CQL_ARENA_CHUNK = 16 * 1024,         /* bytes */
    CQL_ARENAS_SPARE_MAX = 256,
    CQL_WARNINGS_MAX = 16
};

/* ---- faults ---- */

struct cql_fault {
    struct cql_error error;              /* its texts are in `arena` */
    struct arena *arena;
};

/* cql_refuse and cql_invalid fill the fault and return ERROR_INVALID. */
int cql_refuse(struct cql_fault *fault, enum cql_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define cql_invalid(fault, ...) cql_refuse(fault, CQL_INVALID, __VA_ARGS__)
/* Fill the fault for an error of the storage or the rollup.  Returns ERROR_INVALID. */
int cql_fault_of(struct cql_fault *fault, const struct error *err);

/* ---- texts ---- */

/* The texts are in `arena` and end with a NUL. */
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
    struct quota quota;
    int64_t statement_time_us;           /* 0: no limit */
    bool is_stopping;                    /* only schema changes and executions that the store has
                                          * yet to answer continue */
    TAILQ_HEAD(, cql_session) ready;     /* sessions whose executions wait for a slice
                                          * (cql_slice.h) */
    int64_t turn_us;                     /* used by slices since `turn_timer` fired */
    int64_t slice_began_us;
    bool is_in_slice;
    struct cql_execution *slice_execution; /* to be charged; NULL: no slice, or charged already */
    uint8_t slice_text[200];
    size_t slice_text_size;
    struct log_group stretch_log;
    struct metric *long_stretches;
    struct timer turn_timer, sweep_timer;
    bool is_crowded, is_full;
    void (*has_room)(void *context);
    void *has_room_context;
    struct arena *spare[CQL_ARENAS_SPARE_MAX];
    uint32_t spare_count;
    int64_t list_ticks;                  /* no path made for a list element has a later time; in
                                          * 100 ns since 1970 */
    struct cql_row_size_bounds *row_sizes;
    /* While this is set, other requests wait until the change has ended (cql_wait.h). */
    bool schema_is_changing;
    uint32_t writing;                    /* writes under way; a schema change waits for them */
    struct cql_execution *schema_change; /* waits until `writing` is 0 */
    struct cql_execution_queue waiting;
    struct cql_execution_queue stalled;  /* executions that wait until the store accepts writes */
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
    const char *keyspace;
    const struct cql_value *values;      /* by marker number */
    int64_t now_s;
    struct cql_trace *trace;             /* NULL: the request is not traced */
    const char *warnings[CQL_WARNINGS_MAX];
    uint32_t warning_count;
    struct cql_payload echo;             /* sent unless the answer is an error; empty: none */
    struct arena_budget arenas;
    struct quota quota;
    struct cql_guard *guard;
    int64_t step_began_us;
    int64_t deadline_us;                 /* monotonic; 0: none */
    const char *write_type;              /* the kind of write, for a timeout; NULL: not known to be
                                          * a write */
    bool must_end;                       /* no limit ends it, because other requests wait for its
                                          * end */
    void (*resume)(struct cql_execution *execution); /* called when its wait ends */
    STAILQ_ENTRY(cql_execution) next;
    /* Frees what the execution has outside of the arena; may be NULL. */
    void (*release)(struct cql_execution *execution);
    void *state;                         /* data of this kind of statement */
};

/* `page` is called once, perhaps before this function returns, also if the store refuses the
 * read. */
void cql_execution_read(struct cql_execution *execution, const struct read_request *request,
                        store_page page, void *context);

void cql_execution_warn(struct cql_execution *execution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answer the client and free the execution. */
void cql_execution_finish(struct cql_execution *execution, struct cql_result *result);
void cql_execution_finish_void(struct cql_execution *execution);
void cql_execution_finish_fault(struct cql_execution *execution);
#endif
