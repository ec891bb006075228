/* schema: the catalog of keyspaces, types, tables and columns, by name and by number.
 *
 * The numbers of tables and columns are never used again, so data of a dropped column never becomes
 * visible again.  A published schema is immutable: a change is made in a copy (schema_copy).
 *
 * A table that this program cannot read, for example because of an unknown type, is kept as bytes
 * and written again unchanged.  Lookups do not find such a table; its number and name cannot be
 * used for another table, and its keyspace cannot be dropped.  schema_add_table replaces such a
 * table if it is a built-in one. */
#ifndef DAYBOOK_STORAGE_SCHEMA_SCHEMA_H
#define DAYBOOK_STORAGE_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/type.h"

/* Limits, which include built-in tables. */
enum {
    SCHEMA_KEYSPACES_MAX = 1000,
    SCHEMA_TABLES_MAX = 10000,
    SCHEMA_TYPES_MAX = 1000,
    SCHEMA_COLUMNS_MAX = 4096,         /* of a table, including dropped ones; also fields of a
                                        * type */
    SCHEMA_CLUSTERING_MAX = 16,
    SCHEMA_NAME_MAX = 48,              /* bytes: keyspaces, tables, types and their fields */
    SCHEMA_COLUMN_NAME_MAX = 256,      /* bytes */
    SCHEMA_OPTIONS_MAX = 64,           /* of a table */
    SCHEMA_TEXT_MAX = 65535,           /* bytes: comment, replication, an option's value */
    TABLE_ID_USER_MIN = 1000           /* built-in tables have lower numbers */
};

/* Written to disk: the numbers cannot change. */
enum column_kind {
    COLUMN_PARTITION = 1,
    COLUMN_CLUSTERING = 2,
    COLUMN_STATIC = 3,
    COLUMN_REGULAR = 4
};

struct column {
    uint32_t id;                   /* unique in its table for ever */
    const char *name;
    const struct type *type;
    enum column_kind kind;
    uint32_t position;             /* index among the columns of its kind: key columns in key order,
                                    * others by name */
    bool descending;               /* clustering columns only */
};

struct dropped_column {
    uint32_t id;
    const char *name;
    const struct type *type;
    int64_t dropped_us;            /* microseconds since 1970 */
    enum column_kind kind;         /* static or regular; 0: not known (format 1) */
};

/* An option of CREATE TABLE … WITH that daybook keeps and shows, but that has no effect.  `value`
 * is spelled in CQL: 0.01, '99p', {'keys': 'ALL'}. */
struct table_option {
    const char *name;
    const char *value;
};

/* Written to disk: the numbers cannot change. */
enum table_flag {
    TABLE_COUNTER = 1,             /* all regular columns are counters */
    TABLE_OF_EVENTS = 2,           /* the last clustering column is a rank, a bigint that the store
                                    * sets */
    TABLE_KEPT = 4,                /* written by daybook only */
    TABLE_STREAM = 8,              /* used by a stream, which must be dropped before the table;
                                    * timestamps that clients give do not count */
    TABLE_HIDDEN = 16              /* of keyspace daybook_system; not listed to clients */
};

struct table {
    uint32_t id;                   /* unique in the directory for ever; 1..999 are built in */
    uint8_t uuid[16];              /* a hash of keyspace, name and id */
    const char *keyspace;
    const char *name;
    uint32_t flags;                /* enum table_flag */
    uint32_t version;              /* of the schema that changed the table last */
    const struct column *columns;  /* ordered by kind, then position */
    uint32_t column_count;
    uint8_t column_places[32];     /* private: by id below 32, 1 + the index in `columns`; 0: not
                                    * known */
    uint32_t partition_count;      /* number of columns of each kind, in the order of `columns` */
    uint32_t clustering_count;
    uint32_t static_count;
    uint32_t column_id_next;
    const struct dropped_column *dropped;
    uint32_t dropped_count;
    int32_t default_ttl_s;
    const char *comment;
    const struct table_option *options;   /* by name; other options have Cassandra's
                                           * defaults */
    uint32_t option_count;
};

/* Whether every directory has the table. */
static inline bool table_is_builtin(const struct table *table)
{
    return table->id < TABLE_ID_USER_MIN;
}

struct keyspace {
    const char *name;
    const char *replication;       /* a CQL map literal: {'class': 'SimpleStrategy', ...} */
    bool durable_writes;
};

/* A user-defined type; `type` is not frozen. */
struct user_type {
    const char *keyspace;
    const struct type *type;
    const char *const *field_types;    /* in CQL as declared; in `type` they are frozen */
};

struct schema;

struct column_definition {
    uint32_t id;                               /* 0 in all columns: they are numbered from 1 */
    const char *name;
    const char *type;                          /* CQL spelling */
    enum column_kind kind;
    bool descending;
};
struct table_definition {
    uint32_t id;                               /* 1..999; 0: the schema's next free number, 1000
                                                * or above */
    const char *keyspace;
    const char *name;
    const char *comment;
    uint32_t flags;
    const struct column_definition *columns;   /* key columns in key order */
    uint32_t column_count;
};

struct schema *schema_new(void);                                /* empty, version 1 */
struct schema *schema_copy(const struct schema *schema);        /* version one higher */
/* A schema may be changed only while it has one reference. */
struct schema *schema_ref(struct schema *schema);
void schema_unref(struct schema *schema);                       /* NULL is fine */

uint32_t schema_version(const struct schema *schema);
void schema_uuid(const struct schema *schema, uint8_t uuid_out[16]);   /* hash of the content */

/* Changes fail with ERROR_EXISTS, ERROR_NOT_FOUND, ERROR_LIMIT or ERROR_INVALID.  A failed change
 * changes nothing.  All texts are copied. */
must_check int schema_add_keyspace(struct schema *schema, const char *name, struct error *err);
must_check int schema_set_keyspace(struct schema *schema, const char *name,
                                   const char *replication, bool durable_writes,
                                   struct error *err);
/* ERROR_CONFLICT: the keyspace has a table that is kept as bytes. */
must_check int schema_drop_keyspace(struct schema *schema, const char *name, struct error *err);

/* Field types are spelled in CQL; collections and user types become frozen. */
must_check int schema_add_type(struct schema *schema, const char *keyspace, const char *name,
                               uint32_t field_count, const char *const *field_names,
                               const char *const *field_types, struct error *err);
/* The new field comes last, and is null in older values.  ERROR_INVALID also if the field uses a
 * user type that was made after this type. */
must_check int schema_add_type_field(struct schema *schema, const char *keyspace, const char *name,
                                     const char *field_name, const char *field_type,
                                     struct error *err);
/* ERROR_NOT_FOUND: there is no field `from`; ERROR_EXISTS: there is a field `to`. */
must_check int schema_rename_type_field(struct schema *schema, const char *keyspace,
                                        const char *name, const char *from, const char *to,
                                        struct error *err);
/* ERROR_CONFLICT while a column or another type uses the type. */
must_check int schema_drop_type(struct schema *schema, const char *keyspace, const char *name,
                                struct error *err);

must_check int schema_add_table(struct schema *schema, const struct table_definition *definition,
                                struct error *err);
must_check int schema_set_table(struct schema *schema, uint32_t table_id, const char *comment,
                                int32_t default_ttl_s, uint32_t flags, struct error *err);
/* Each option's name may occur only once. */
must_check int schema_set_table_options(struct schema *schema, uint32_t table_id,
                                        const struct table_option *options, uint32_t count,
                                        struct error *err);
/* Give the table a new number, so that it has no rows, and clear its list of dropped columns. */
must_check int schema_truncate_table(struct schema *schema, uint32_t table_id, struct error *err);
must_check int schema_drop_table(struct schema *schema, uint32_t table_id, struct error *err);
/* Each column must be static or regular. */
must_check int schema_add_columns(struct schema *schema, uint32_t table_id,
                                  const struct column_definition *columns, uint32_t count,
                                  struct error *err);
must_check int schema_drop_column(struct schema *schema, uint32_t table_id, const char *name,
                                  int64_t dropped_us, struct error *err);
must_check int schema_rename_column(struct schema *schema, uint32_t table_id, const char *from,
                                    const char *to, struct error *err);    /* key columns only */

/* Lookups.  Results are valid as long as the schema; NULL: there is none. */
const struct table *schema_table(const struct schema *schema, uint32_t table_id);
const struct table *schema_table_named(const struct schema *schema, const char *keyspace,
                                       const char *name);
/* The table that follows `after` by keyspace and name, or the first one if `after` is NULL; NULL at
 * the end.  `after` need not be in the schema.  schema_keyspace_next does the same for
 * keyspaces. */
const struct table *schema_table_next(const struct schema *schema, const struct table *after);
const struct keyspace *schema_keyspace(const struct schema *schema, const char *name);
const struct keyspace *schema_keyspace_next(const struct schema *schema,
                                            const struct keyspace *after);
const struct user_type *schema_type(const struct schema *schema, const char *keyspace,
                                    const char *name);
/* `index` counts from 0, in order of creation: each type follows the types that it uses.  NULL:
 * there are no more. */
const struct user_type *schema_type_at(const struct schema *schema, uint32_t index);
/* As type_parse, with the user types of the keyspace. */
must_check int schema_parse_type(const struct schema *schema, const char *keyspace,
                                 struct bytes text, struct arena *arena,
                                 const struct type **type_out, struct error *err);

/* The value of an option of the table, or Cassandra's default; NULL: there is no such option. */
const char *schema_option(const struct table *table, const char *name);

const struct column *schema_column(const struct table *table, uint32_t column_id);
const struct column *schema_column_named(const struct table *table, struct bytes name);

/* ERROR_CORRUPT: `key` does not have a valid value for each partition column of the table. */
must_check int schema_check_key(const struct table *table, struct bytes key, struct error *err);

void schema_serialize(const struct schema *schema, struct buffer *buffer);
/* ERROR_CORRUPT for bytes that schema_serialize cannot have written; ERROR_NEWER_FORMAT for those
 * of a newer format. */
must_check int schema_deserialize(struct bytes serialized, struct schema **schema_out,
                                  struct error *err);
/* ERROR_LIMIT: `serialized`, which schema_serialize made of `schema`, does not read back as the
 * same schema.  A schema must pass this check before it is logged. */
must_check int schema_check_serialized(const struct schema *schema, struct bytes serialized,
                                       struct error *err);

/* ERROR_CORRUPT if the schema has an unread table: its definition is not valid, for example has an
 * unknown type, so the schema only keeps the definition's bytes. */
must_check int schema_refuse_unread(const struct schema *schema, struct error *err);
bool schema_is_unread(const struct schema *schema, uint32_t table_id);

/* Append the CREATE statement, as Cassandra's DESCRIBE shows it, without a final line end.
 * `with_id` adds the table's uuid as the option ID. */
void schema_print_keyspace(const struct keyspace *keyspace, struct buffer *cql);
void schema_print_type(const struct user_type *user_type, struct buffer *cql);
void schema_print_table(const struct table *table, bool with_id, struct buffer *cql);
#endif
