/* cql_schema_private: the state of a change of the schema, which the cql_schema*.c files share. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H

#include "query/cql/expression/cql_expression.h"
#include "query/cql/schema/cql_schema_options.h"

struct change {
    struct cql_execution *execution;
    struct arena *arena; /* of the execution */
    struct cql_fault *fault; /* of the execution */
    struct error err; /* the last error of storage/schema or the store */
    struct schema *schema; /* the changed copy; one reference is held */
    struct write_batch *batch;
    struct cql_schema_change event;
    bool has_event;
    const char *index; /* name of the index to be built before the answer; NULL: none */
    bool is_refused; /* the index could not be built: a second change drops it */
    bool is_nothing; /* no change is needed, or IF (NOT) EXISTS skips it */
};

/* Refuse a CREATE by the protocol's error 0x2400, because the table exists or, if `name` is "", the
 * keyspace. */
int cql_schema_refuse_exists(struct change *change, const char *keyspace, const char *name);
/* Find the keyspace of a name; refuse it unless it exists and clients may change it. */
int cql_schema_keyspace(struct change *change, const struct cql_qualified_name *name,
                        const char **keyspace_out);
/* Whether a name is not empty and has only letters, digits and _. */
bool cql_schema_is_plain_name(struct bytes name);
/* Whether no keyspace has this name, of users or of the system; false for "". */
bool cql_schema_is_missing(const struct change *change, const char *keyspace);
/* Set the event that listeners get; the names must outlive the copy of the schema. */
void cql_schema_event(struct change *change, enum cql_change what, enum cql_target target,
                      const char *keyspace, const char *name);
/* Turn `rc`, the result of a function of storage/schema, into the result of the change: an error
 * fills the fault from change->err. */
int cql_schema_result(struct change *change, int rc);

/* ---- cql_schema_type.c ---- */

const char *cql_schema_type_text(struct cql_execution *execution, const struct cql_type *type);
/* cql_schema_is_named: whether a type of the syntax tree is the native type `name`.
 * cql_schema_holds: whether it is that type or contains that type. */
bool cql_schema_is_named(const struct cql_type *type, const char *name);
bool cql_schema_holds(const struct cql_type *type, const char *name);
bool cql_schema_is_collection(const struct cql_type *type);
/* Refuse a type that a column in a keyspace may not have. */
int cql_schema_check_type(struct change *change, const char *keyspace, const struct cql_type *type);
int cql_schema_create_type(struct change *change, const struct cql_create_type *create);
int cql_schema_alter_type(struct change *change, const struct cql_alter *alter);
int cql_schema_drop_type(struct change *change, const struct cql_object *object);

/* ---- cql_schema_table.c ---- */

int cql_schema_create_table(struct change *change, const struct cql_create_table *create);
/* Set the options of a table by properties that were checked.  If the table is not new and no
 * option changes, set change->is_nothing. */
int cql_schema_set_options(struct change *change, const struct table *table,
                           const struct cql_property *properties, bool is_new);
/* Refuse too many columns or fields; `what` names them.  *repeated_out is the first definition
 * whose name was used before; NULL: none. */
int cql_schema_check_names(struct change *change, const struct cql_definition *definitions,
                           const char *what, const struct cql_definition **repeated_out);
#endif
