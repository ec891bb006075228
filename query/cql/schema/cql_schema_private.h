/* cql_schema_private: a change of the schema, for the cql_schema*.c files. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H

#include "query/cql/expression/cql_expression.h"
#include "query/cql/schema/cql_schema_options.h"

struct change {
    struct cql_execution *execution;
    struct arena *arena;
    struct cql_fault *fault;
    struct error err; /* of storage/schema or the store */
    struct schema *schema; /* a reference to the changed copy */
    struct write_batch *batch;
    struct cql_schema_change event;
    bool has_event;
    const char *index; /* to be built before the answer; NULL: none */
    bool is_refused; /* the build failed; a second change drops the index */
    bool is_nothing;
};

/* Refuse a table because it exists already (0x2400); if `name` is "", refuse the keyspace. */
int cql_schema_refuse_exists(struct change *change, const char *keyspace, const char *name);
/* Get the keyspace of `name`.  Refuse a keyspace that does not exist or that clients may not
 * change. */
int cql_schema_keyspace(struct change *change, const struct cql_qualified_name *name,
                        const char **keyspace_out);
/* Whether a name has only letters, digits and _, and is not empty. */
bool cql_schema_is_plain_name(struct bytes name);
/* Whether no keyspace has this name; false for "". */
bool cql_schema_is_missing(const struct change *change, const char *keyspace);
/* Set the event that reports the change.  The names must outlive the copy of the schema. */
void cql_schema_event(struct change *change, enum cql_change what, enum cql_target target,
                      const char *keyspace, const char *name);
/* Returns 0 if `rc` is 0.  Otherwise fills the fault from change->err and returns ERROR_INVALID. */
int cql_schema_result(struct change *change, int rc);

/* ---- cql_schema_type.c ---- */

const char *cql_schema_type_text(struct cql_execution *execution, const struct cql_type *type);
/* cql_schema_is_named: the type is the native type `name`.  cql_schema_holds: the type is or
 * contains the native type `name`. */
bool cql_schema_is_named(const struct cql_type *type, const char *name);
bool cql_schema_holds(const struct cql_type *type, const char *name);
bool cql_schema_is_collection(const struct cql_type *type);
/* Refuse a type that no column may have. */
int cql_schema_check_type(struct change *change, const char *keyspace, const struct cql_type *type);
int cql_schema_create_type(struct change *change, const struct cql_create_type *create);
int cql_schema_alter_type(struct change *change, const struct cql_alter *alter);
int cql_schema_drop_type(struct change *change, const struct cql_object *object);

/* ---- cql_schema_table.c ---- */

int cql_schema_create_table(struct change *change, const struct cql_create_table *create);
/* The properties must have been checked.  change->is_nothing is set if no option of an existing
 * table changes. */
int cql_schema_set_options(struct change *change, const struct table *table,
                           const struct cql_property *properties, bool is_new);
/* Refuse more than SCHEMA_COLUMNS_MAX definitions, which the error calls `what`.  Sets
 * `*repeated_out` to the first definition that has the name of an earlier one; NULL: there is
 * none. */
int cql_schema_check_names(struct change *change, const struct cql_definition *definitions,
                           const char *what, const struct cql_definition **repeated_out);
#endif
