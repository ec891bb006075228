/* cql_private: what the files that carry out statements share.
 *
 *   text ──cql_parse──▶ tree ──cql_compile──▶ plan ──run, with bound values──▶ answer
 *                              names, types        cql_work
 *
 * A plan (struct cql_compiled) depends on the text, the keyspace and the schema only, so that
 * prepared statements keep theirs until the schema changes.  A cql_work is one request under way;
 * everything it makes lives in its arena.
 *
 * Functions that can refuse a statement return 0 or a negative code and fill a struct cql_fault:
 * the code and text that the client sees. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_PRIVATE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_PRIVATE_H

#include "base/arena.h"
#include "base/log.h"
#include "base/quota.h"
#include "base/world/world.h"
#include "query/cql/session/cql_session.h"
#include "query/cql/syntax/cql_ast.h"

enum {
    CQL_ARENA_CHUNK = 16 * 1024,         /* of a request's memory, */
    CQL_COMPILED_CHUNK = 4 * 1024,       /* and of a prepared statement's */
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
int cql_invalid(struct cql_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What an error of a lower room is to a client. */
int cql_fault_of(struct cql_fault *fault, const struct error *err);

/* ---- names ---- */

/* NUL-terminated, in the arena. */
const char *cql_text(struct arena *arena, struct bytes text);
#define CQL_SHOW(bytes) (int)(bytes).size, (const char *)(bytes).data

/* ---- the server ---- */

struct cql_prepared_cache;
struct cql_guard;
struct cql_trace;
struct cql_traces;
struct cql_work;

struct cql {
    struct cql_options options;
    struct schema *system_schema;        /* of the virtual tables */
    struct cql_prepared_cache *prepared;
    struct cql_traces *traces;
    void (*schema_changed)(void *context, const struct cql_schema_change *change);
    void *schema_changed_context;
    uint32_t running;
    struct quota quota;                  /* of all works, */
    size_t told_bytes;                   /* and what the store was told of it */
    int64_t statement_time_us;           /* 0: no limit */
    bool is_stopping;                    /* nothing that is not with the store goes on */
    TAILQ_HEAD(, cql_session) ready;     /* those with works that wait for a slice (cql_slice.h) */
    int64_t turn_us;                     /* used since the loop's turn began, or little before */
    int64_t slice_began_us;
    bool is_in_slice;
    struct cql_work *slice_work;         /* whose slice it is; NULL: none, or it was accounted */
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
    /* A schema change is under way: what comes meanwhile waits, so that nobody sees a schema that
     * is not durable. */
    bool schema_is_changing;
    uint32_t writing;                    /* writes under way: their tables must stay until they are
                                          * applied */
    struct cql_work *schema_change;      /* waits for them */
    struct cql_work *waiting_first;
    struct cql_work *waiting_last;
    /* Writes that the store had no room for. */
    struct cql_work *stalled_first;
    struct cql_work *stalled_last;
};

/* An arena for the time of one request: an empty one that was kept, or a new one. */
struct arena *cql_arena_take(struct cql *cql);
void cql_arena_give(struct cql *cql, struct arena *arena);

/* ---- what a statement is resolved against ---- */

struct cql_scope {
    struct cql *cql;
    const struct schema *schema;
    const char *keyspace;                /* "": none */
    struct arena *arena;
    struct cql_column *markers;          /* by number; type NULL until its place is met */
    uint32_t marker_count;
    struct cql_fault *fault;
    const struct table *table;           /* of the statement: markers are shown with it */
};

/* The table of a name, system tables too; refuses in Cassandra's words. */
int cql_find_table(struct cql_scope *scope, const struct cql_qualified_name *name,
                   const struct table **table_out);
/* The table's column of a name; NULL: refused. */
const struct column *cql_find_column(struct cql_scope *scope, const struct table *table,
                                     struct bytes name);
/* The keyspace that an unqualified name is in. */
int cql_scope_keyspace(struct cql_scope *scope, const struct cql_qualified_name *name,
                       const char **keyspace_out);
bool cql_is_virtual(const struct cql *cql, const struct table *table);
bool cql_is_system_keyspace(const char *keyspace);

/* ---- plans ---- */

struct cql_select_plan;
struct cql_write_plan;
struct cql_batch_plan;

struct cql_compiled {
    uint32_t references;
    struct arena *arena;
    bool is_kept;                        /* the arena is its own, and goes with it */
    struct schema *schema;               /* referenced */
    const struct cql_statement *statement;
    const char *keyspace;                /* it was compiled in; "": none */
    uint64_t hash;                       /* of keyspace and text: paging states name it */
    struct bytes request_id;             /* in a comment of the text (cql_once.h); empty: none */
    struct cql_column *markers;
    uint32_t marker_count;
    union {
        struct cql_select_plan *select;
        struct cql_write_plan *write;
        struct cql_batch_plan *batch;
    };
};

/* One reference, in an arena of the work's budget that outlives it.  NULL and the work's fault when
 * the text is refused. */
struct cql_compiled *cql_compile(struct cql_work *work, struct arena *arena, struct bytes text,
                                 const char *keyspace);
/* The same in an arena of its own, for which the work does not pay once it is made. */
struct cql_compiled *cql_compile_to_keep(struct cql_work *work, struct bytes text,
                                         const char *keyspace);
struct cql_compiled *cql_compiled_ref(struct cql_compiled *compiled);
void cql_compiled_unref(struct cql_compiled *compiled);

/* ---- requests under way ---- */

struct cql_work {
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
    void (*resume)(struct cql_work *work);   /* while it waits or is stalled */
    struct cql_work *next;
    void (*release)(struct cql_work *work);  /* frees what is not in the arena; may be NULL */
    void *state;                         /* of the statement's kind */
};

void cql_warn(struct cql_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each ends the work: the client is answered, and `work` is gone. */
void cql_finish(struct cql_work *work, struct cql_result *result);
void cql_finish_void(struct cql_work *work);
void cql_finish_fault(struct cql_work *work);            /* work->fault */

/* Wait until the store has room, then go on at work->resume. */
void cql_stall(struct cql_work *work);
/* After work->resume was set: wait for the schema change under way. */
void cql_wait_for_schema(struct cql_work *work);
void cql_schema_settled(struct cql *cql);

void cql_write_ended(struct cql *cql);

/* ---- statements: each resolves, or runs until cql_finish ---- */

int cql_select_compile(struct cql_scope *scope, const struct cql_select *select,
                       struct cql_select_plan **plan_out);
void cql_select_run(struct cql_work *work);
/* The columns of its rows. */
struct cql_metadata cql_select_metadata(const struct cql_select_plan *plan);

int cql_write_compile(struct cql_scope *scope, const struct cql_statement *statement,
                      struct cql_write_plan **plan_out);
void cql_write_run(struct cql_work *work);
/* Which markers make up the partition key; 0: not all of its parts are markers. */
uint32_t cql_write_key_markers(const struct cql_write_plan *plan, struct arena *arena,
                               const uint16_t **indexes_out);
/* Of statements of one table: those of the last one that has them. */
uint32_t cql_batch_key_markers(const struct cql_batch_plan *plan, struct arena *arena,
                               const uint16_t **indexes_out);
uint32_t cql_select_key_markers(const struct cql_select_plan *plan, struct arena *arena,
                                const uint16_t **indexes_out);

int cql_batch_compile(struct cql_scope *scope, const struct cql_batch *batch,
                      struct cql_batch_plan **plan_out);
void cql_batch_run(struct cql_work *work);               /* BEGIN BATCH ... */
void cql_batch_run_request(struct cql_work *work);       /* the protocol's BATCH */

void cql_schema_run(struct cql_work *work);              /* CREATE, ALTER, DROP, TRUNCATE */
void cql_describe_run(struct cql_work *work);            /* DESCRIBE: cql_describe.c */

/* ---- cql_prepared.c, cql_session.c ---- */

void cql_metadata_id(const struct cql_metadata *metadata, uint8_t id[CQL_ID_SIZE]);

/* The compiled statement of a prepared id, or NULL and 0x2500 in the fault; referenced. */
struct cql_compiled *cql_prepared_get(struct cql_work *work, struct bytes id);
/* Bind values to markers: counts, names, types are checked.  *values_out by marker number. */
int cql_bind(struct cql_work *work, const struct cql_compiled *compiled,
             const struct cql_value *values, uint32_t value_count, bool are_named,
             const struct cql_value **values_out);

/* ---- cql_per_day.c ---- */

/* clicks_per_reseller_per_day is no table of its own: its rows are made from the figures, in
 * (token, key) order and in the work's arena.  `ready` is called once, possibly at once, with 0 or
 * a status whose fault is filled. */
void cql_per_day_rows(struct cql_work *work,
                      void (*ready)(void *context, int status, const struct page_row *rows,
                                    uint32_t count),
                      void *context);

/* ---- cql_system.c ---- */

struct schema *cql_system_schema(void);
/* All rows of a virtual table in (token, key, clustering) order, in the work's arena. */
uint32_t cql_system_rows(struct cql_work *work, const struct table *table,
                         const struct page_row **rows_out);
#endif
