/* cql_system: the tables that describe the server and the schema, whose rows are made when asked.
 *
 * Their definitions are data (cql_system_tables.c); cql_system.c makes the rows, with those of
 * system_schema (cql_system_schema.c) and system_traces (cql_system_traces.c).
 *
 * Its specification is tests/cql/cassandra/read_schema.cql. */
#ifndef DAYBOOK_QUERY_CQL_SYSTEM_CQL_SYSTEM_H
#define DAYBOOK_QUERY_CQL_SYSTEM_CQL_SYSTEM_H

#include "query/cql/common/cql_private.h"

struct cql_trace_list;

/* The catalogue of the virtual tables; one reference. */
struct schema *cql_system_schema(void);
/* All rows of a virtual table in (token, key, clustering) order, in the execution's arena. */
uint32_t cql_system_rows(struct cql_execution *execution, const struct table *table,
                         const struct page_row **rows_out);

/* ---- what its files share ---- */

/* A table's columns as text: "name type kind, ..." in an order that rows follow; kind p partition,
 * c clustering, r regular. */
struct cql_system_table {
    const char *keyspace;
    const char *name;
    const char *columns;
    const char *comment;
};

const struct cql_system_table *cql_system_tables(uint32_t *count_out);

/* Rows under way: each is given as a value per column, in the order of the definition. */
struct cql_system_maker {
    struct cql_execution *execution;
    const struct table *table;
    struct page_row *rows;
    uint32_t count, capacity;
    struct bytes *values;                /* of the row being made */
    uint32_t value_count;
};

void cql_system_text(struct cql_system_maker *maker, const char *text);      /* NULL: null */
void cql_system_boolean(struct cql_system_maker *maker, bool value);
void cql_system_int(struct cql_system_maker *maker, int32_t value);
void cql_system_double(struct cql_system_maker *maker, double value);
void cql_system_bytes(struct cql_system_maker *maker, struct bytes value);
/* Milliseconds since 1970. */
void cql_system_timestamp(struct cql_system_maker *maker, int64_t value_ms);
void cql_system_inet(struct cql_system_maker *maker, const struct cql_address *address);
void cql_system_null(struct cql_system_maker *maker, uint32_t count);
/* A list or set of texts, or a map's keys and values in turn. */
void cql_system_texts(struct cql_system_maker *maker, const char *const *texts, uint32_t count);
/* All values of a row were given. */
void cql_system_row(struct cql_system_maker *maker);

/* The rows of a table of system_schema, over what `schema` has. */
void cql_system_schema_rows(struct cql_system_maker *maker, const struct schema *schema);
/* The rows of system_traces.sessions or events. */
void cql_system_trace_rows(struct cql_system_maker *maker, const struct cql_trace_list *traces);
#endif
