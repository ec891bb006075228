/* cql_schema_private: a change of the schema under way, shared by the cql_schema*.c files. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_PRIVATE_H

#include "query/cql/expression/cql_expression.h"
#include "query/cql/schema/cql_schema_options.h"

struct change {
    struct cql_execution *execution;
    struct arena *arena; /* of the execution */
    struct cql_fault *fault; /* of the execution */
    struct error err; /* the last error of the catalog or the store */
    struct schema *schema; /* the copy that is changed; referenced */
    struct write_batch *batch;
    struct cql_schema_change event;
    bool has_event;
    const char *index; /* to be built before the answer; NULL: none */
    bool is_refused; /* an index could not be built: the change drops it */
    bool is_nothing; /* nothing is changed, as IF (NOT) EXISTS allows */
};

/* Refuse an existing keyspace, or table where `name` is not "": 0x2400. */
int cql_schema_refuse_exists(struct change *change, const char *keyspace, const char *name);
/* The keyspace of a name; refused unless clients may change it. */
int cql_schema_keyspace(struct change *change, const struct cql_qualified_name *name,
                        const char **keyspace_out);
/* Whether a name has only letters, digits and _. */
bool cql_schema_is_plain_name(const char *name);
/* Whether there is no keyspace of the name, not even one of the system. */
bool cql_schema_is_missing(const struct change *change, const char *keyspace);
/* The event that listeners get; the names must outlive the copy of the schema. */
void cql_schema_event(struct change *change, enum cql_change what, enum cql_target target,
                      const char *keyspace, const char *name);
/* The result `rc` of a function of the catalog; where it is an error, the fault is filled from
 * change->err. */
int cql_schema_result(struct change *change, int rc);

/* ---- cql_schema_type.c ---- */

const char *cql_schema_type_text(struct cql_execution *execution, const struct cql_type *type);
/* Whether a type of the syntax tree is the native one of a name, or contains it. */
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
/* Set the options of a table by properties that were checked; is_nothing where none changes. */
int cql_schema_set_options(struct change *change, const struct table *table,
                           const struct cql_property *properties, bool is_new);
/* To be called for each item of a list that copies a table or the whole schema: the budget checks
 * its limits. */
void cql_schema_count_item(struct change *change);
/* Refuse too many columns or fields.  *repeated_out is the first one whose name was used before;
 * NULL: none. */
int cql_schema_check_names(struct change *change, const struct cql_definition *definitions,
                           const char *what, const struct cql_definition **repeated_out);
#endif
