/* cql_system: virtual tables that describe the server and the schema.
 *
 * cql_system_tables.c defines the tables.  cql_system_schema.c makes the rows of keyspace
 * system_schema, cql_system_traces.c the rows of system_traces, and cql_system.c the row of table
 * system.local.  All other tables are empty.
 *
 * Its specification is tests/cql/cassandra/read_schema.cql. */
#ifndef DAYBOOK_QUERY_CQL_SYSTEM_CQL_SYSTEM_H
#define DAYBOOK_QUERY_CQL_SYSTEM_CQL_SYSTEM_H

#include "query/cql/common/cql_private.h"

struct cql_trace_list;

/* Returns the schema of the virtual tables; the caller owns one reference. */
struct schema *cql_system_schema(void);
/* Make all rows of a virtual table, in (token, key, clustering) order and in the execution's arena.
 * Returns their number. */
uint32_t cql_system_rows(struct cql_execution *execution, const struct table *table,
                         const struct page_row **rows_out);

/* ---- shared by the cql_system*.c files ---- */

/* `columns` is "name type kind, ...".  The kind is p (partition), c (clustering) or r (regular); a
 * ; in a type stands for a comma. */
struct cql_system_table {
    const char *keyspace;
    const char *name;
    const char *columns;
    const char *comment;
};

const struct cql_system_table *cql_system_tables(uint32_t *count_out);

/* The functions below add a row's values, in the order of columns in cql_system_tables.c;
 * cql_system_row ends the row. */
struct cql_system_maker {
    struct cql_execution *execution;
    const struct table *table;
    struct page_row *rows;
    uint32_t count, capacity;
    struct bytes *values;
    uint32_t value_count;
};

void cql_system_text(struct cql_system_maker *maker, const char *text);      /* NULL adds null */
void cql_system_boolean(struct cql_system_maker *maker, bool value);
void cql_system_int(struct cql_system_maker *maker, int32_t value);
void cql_system_double(struct cql_system_maker *maker, double value);
void cql_system_bytes(struct cql_system_maker *maker, struct bytes value);
/* Milliseconds since 1970. */
void cql_system_timestamp(struct cql_system_maker *maker, int64_t value_ms);
void cql_system_inet(struct cql_system_maker *maker, const struct cql_address *address);
void cql_system_null(struct cql_system_maker *maker, uint32_t count);
/* Add a list or set of texts, or a map: key, value, key, ... */
void cql_system_texts(struct cql_system_maker *maker, const char *const *texts, uint32_t count);
void cql_system_row(struct cql_system_maker *maker);

void cql_system_schema_rows(struct cql_system_maker *maker, const struct schema *schema);
void cql_system_trace_rows(struct cql_system_maker *maker, const struct cql_trace_list *traces);
#endif
