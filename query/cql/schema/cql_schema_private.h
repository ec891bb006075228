/* cql_schema_private: a change of the schema under way, for the cql_schema*.c files. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H

#include "query/cql/expression/cql_expression.h"
#include "query/cql/schema/cql_schema_options.h"

struct change {
    struct cql_execution *execution;
    struct arena *arena; /* the execution's, */
    struct cql_fault *fault; /* and its fault */
    struct error err; /* what the catalogue or the store said last */
    struct schema *schema; /* the copy; referenced */
    struct write_batch *batch;
    struct cql_schema_change event;
    bool has_event;
    const char *index; /* that is to be built before the answer */
    bool is_refused; /* an index could not be built: this change takes it away */
    bool is_nothing; /* IF (NOT) EXISTS met what it says: no change */
};

/* A keyspace or table (`name` not "") that is there already: 0x2400. */
int cql_schema_refuse_exists(struct change *change, const char *keyspace, const char *name);
/* The keyspace of a name, which clients may change. */
int cql_schema_keyspace(struct change *change, const struct cql_qualified_name *name,
                        const char **keyspace_out);
/* Whether a name has only letters, digits and _. */
bool cql_schema_is_plain_name(const char *name);
/* Whether there is no such keyspace, the system's included. */
bool cql_schema_is_missing(const struct change *change, const char *keyspace);
/* What the change is to those who listen; names must outlive the schema's copy. */
void cql_schema_event(struct change *change, enum cql_change what, enum cql_target target,
                      const char *keyspace, const char *name);
/* The catalogue's answer `rc`, with change->err, as a fault. */
int cql_schema_result(struct change *change, int rc);

/* ---- cql_schema_type.c ---- */

const char *cql_schema_type_text(struct cql_execution *execution, const struct cql_type *type);
/* Whether a spelled type is the native one of a name, or has it somewhere within. */
bool cql_schema_is_named(const struct cql_type *type, const char *name);
bool cql_schema_holds(const struct cql_type *type, const char *name);
bool cql_schema_is_collection(const struct cql_type *type);
/* Whether a column of the keyspace's tables may have it. */
int cql_schema_check_type(struct change *change, const char *keyspace, const struct cql_type *type);
int cql_schema_create_type(struct change *change, const struct cql_create_type *create);
int cql_schema_alter_type(struct change *change, const struct cql_alter *alter);
int cql_schema_drop_type(struct change *change, const struct cql_object *object);

/* ---- cql_schema_table.c ---- */

int cql_schema_create_table(struct change *change, const struct cql_create_table *create);
/* What follows WITH, which was checked; the change is none where all of it is as it was. */
int cql_schema_set_options(struct change *change, const struct table *table,
                           const struct cql_property *properties, bool is_new);
/* An item of a list, of which each copies a table or the whole schema: the budget looks at all. */
void cql_schema_count_item(struct change *change);
/* Columns or fields, so many that a table or type may have them, and the first whose name another
 * one before it has; NULL: none. */
int cql_schema_check_names(struct change *change, const struct cql_definition *definitions,
                           const char *what, const struct cql_definition **repeated_out);
#endif
