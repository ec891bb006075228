/* schema_private: the inside of struct schema, for the schema_*.c files. */
#ifndef DAYBOOK_STORAGE_SCHEMA_PRIVATE_H
#define DAYBOOK_STORAGE_SCHEMA_PRIVATE_H

#include <stdatomic.h>

#include "storage/base/arena.h"
#include "storage/schema.h"

/* Everything pointed to lives in the arena, but for the three arrays.  What an edit replaces stays
 * in the arena until the schema goes: schemas are small and edits are rare. */
struct schema {
    atomic_uint references;            /* lanes that write the manifest hold some */
    uint32_t version;
    uint32_t table_id_next;            /* at least TABLE_ID_USER_MIN */
    struct arena *arena;
    const struct keyspace **keyspaces; /* by name */
    uint32_t keyspace_count;
    const struct user_type **types;    /* in the order of their making */
    uint32_t type_count;
    const struct table **tables;       /* by keyspace and name */
    const struct table **tables_by_id;
    uint32_t table_count;
};

/* Cassandra's default of a table's option; NULL: there is no such option. */
const char *table_option_default(const char *name);

/* After `columns` were set. */
void table_set_places(struct table *table);

/* The steps of schema_deserialize that need the inside.  `table` is copied as it is after the same
 * checks as schema_add_table's. */
must_check int schema_insert_table(struct schema *schema, const struct table *table,
                                   struct error *err);
#endif
