/* schema_private: defines struct schema, and what the files of schema.h share:
 *
 *     schema.c        keyspaces, tables and columns: lookups and changes
 *     schema_type.c   user-defined types
 *     schema_disk.c   a schema as bytes, and back
 *     schema_print.c  a schema as CREATE statements */
#ifndef DAYBOOK_STORAGE_SCHEMA_SCHEMA_PRIVATE_H
#define DAYBOOK_STORAGE_SCHEMA_SCHEMA_PRIVATE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "storage/schema/schema.h"

struct unread_table {
    uint32_t id;
    const char *keyspace;
    const char *name;
    const char *why;
    struct bytes serialized;           /* in the newest format */
};

/* The arrays are on the heap; everything that their items point to is in the arena.  What an edit
 * replaces stays in the arena until the schema is freed. */
struct schema {
    atomic_uint references;            /* atomic: jobs that write the manifest have references */
    uint32_t version;
    uint32_t table_id_next;            /* at least TABLE_ID_USER_MIN */
    struct arena *arena;
    const struct keyspace **keyspaces; /* by name */
    uint32_t keyspace_count;
    const struct user_type **types;    /* in the order in which they were made */
    uint32_t type_count;
    const struct table **tables;       /* by keyspace and name */
    const struct table **tables_by_id;
    uint32_t table_count;
    struct unread_table *unread;
    uint32_t unread_count;
};

const char *schema_option_default(const char *name);

/* ERROR_LIMIT: type_is_moderate is false for the type.  schema_deserialize does not call this
 * function, because older schemas had no limit. */
must_check int schema_check_type(const char *name, const struct type *type, struct error *err);

/* Give the table `count` columns, ordered by kind, and set the members that depend on the
 * columns. */
void schema_set_columns(struct table *table, struct column *columns, uint32_t count);

const char *schema_copy_text(struct schema *schema, const char *text);

/* The index of the user type in schema->types, or type_count. */
uint32_t schema_type_place(const struct schema *schema, const char *keyspace, struct bytes name);
void schema_remove_type(struct schema *schema, uint32_t place);
/* Whether the type is or contains the user type of that name; NULL: any user type. */
bool schema_type_uses(const struct type *type, const char *name);

/* As schema_add_type.  `is_read`: the type is of a serialized schema, so schema_check_type is not
 * called. */
must_check int schema_insert_type(struct schema *schema, const char *keyspace, const char *name,
                                  uint32_t field_count, const char *const *field_names,
                                  const char *const *field_types, bool is_read,
                                  struct error *err);

/* Check `table`, as schema_add_table does, and insert a copy of it. */
must_check int schema_insert_table(struct schema *schema, const struct table *table,
                                   struct error *err);
#endif
