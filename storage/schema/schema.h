/* schema: the catalog: keyspaces, tables, columns, by name and by number.
 *
 * Tables and columns have numbers that are never used again, and every run names the schema version
 * it was written with, so that dropping a column and adding one of the same name cannot bring old
 * data back.  A schema is immutable: a change makes a new one (schema_copy, then the edits), which
 * the engine logs in a frame and then publishes.  Serialized form: FORMATS.md "Schema".
 *
 * A table whose bytes make no sense to this program (a type that it does not know, say) is kept as
 * bytes and written again as they are; no lookup finds it, and its number stays taken.  Whether a
 * directory opens without such a table is for the engine to say (schema_refuse_unread). */
#ifndef DAYBOOK_STORAGE_SCHEMA_SCHEMA_H
#define DAYBOOK_STORAGE_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/schema/type.h"

/* Limits on what clients make; a directory's own tables count as well. */
enum {
    SCHEMA_KEYSPACES_MAX = 1000,
    SCHEMA_TABLES_MAX = 10000,
    SCHEMA_TYPES_MAX = 1000,
    SCHEMA_COLUMNS_MAX = 4096,         /* of a table, dropped ones included; fields of a type */
    SCHEMA_CLUSTERING_MAX = 16,
    SCHEMA_NAME_MAX = 48,              /* bytes: keyspaces, tables, types */
    SCHEMA_COLUMN_NAME_MAX = 256,
    SCHEMA_OPTIONS_MAX = 64,           /* of a table */
    SCHEMA_TEXT_MAX = 65535,           /* comment, replication, an option's value */
    TABLE_ID_USER_MIN = 1000           /* of what clients make; below are built-in ones */
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
    uint32_t position;             /* within its kind: key order for keys, name order otherwise */
    bool descending;               /* clustering columns only */
};

struct dropped_column {
    uint32_t id;
    const char *name;
    const struct type *type;
    int64_t dropped_us;            /* cells written at or before it are gone */
    enum column_kind kind;         /* static or regular; 0: a schema of format 1 did not say */
};

/* What a table was made WITH and daybook only keeps and shows: a store on one node has no use for
 * it.  `value` is spelled in CQL: 0.01, '99p', {'keys': 'ALL', 'rows_per_partition': 'NONE'}. */
struct table_option {
    const char *name;
    const char *value;
};

/* Written to disk: the numbers cannot change. */
enum table_flag {
    TABLE_COUNTER = 1,             /* all regular columns are counters */
    TABLE_OF_EVENTS = 2,           /* the last clustering column is a bigint that the store assigns:
                                    * the rank among rows with the clustering before it, by frame */
    TABLE_KEPT = 4,                /* written by daybook only; read-only at every door */
    TABLE_STREAM = 8,              /* used by a stream: server's write timestamps only, no drop */
    TABLE_HIDDEN = 16              /* of keyspace daybook_system */
};

struct table {
    uint32_t id;                   /* unique in the directory for ever; 1..999 are built in */
    uint8_t uuid[16];              /* follows from keyspace, name and id */
    const char *keyspace;
    const char *name;
    uint32_t flags;                /* enum table_flag */
    uint32_t version;              /* of the schema that last changed it */
    const struct column *columns;  /* ordered by kind, then position */
    uint32_t column_count;
    uint8_t column_places[32];     /* private: of the columns with the lowest ids, 1 + the index in
                                    * `columns`; 0: look there */
    uint32_t partition_count;      /* columns of each kind, in the order of `columns` */
    uint32_t clustering_count;
    uint32_t static_count;
    uint32_t column_id_next;
    const struct dropped_column *dropped;
    uint32_t dropped_count;
    int32_t default_ttl_s;
    const char *comment;
    const struct table_option *options;   /* by name; what is not there has Cassandra's default */
    uint32_t option_count;
};

/* Whether every directory has it. */
static inline bool table_is_builtin(const struct table *table)
{
    return table->id < TABLE_ID_USER_MIN;
}

struct keyspace {
    const char *name;
    const char *replication;       /* a CQL map literal: {'class': 'SimpleStrategy', ...} */
    bool durable_writes;
};

/* A user-defined type; `type` is the one that is not frozen. */
struct user_type {
    const char *keyspace;
    const struct type *type;
    const char *const *field_types;    /* as they were declared; in `type` they are frozen */
};

struct schema;

/* How C code declares a table that exists in every directory. */
struct column_definition {
    uint32_t id;                               /* 0 in all: numbered from 1 by the schema */
    const char *name;
    const char *type;                          /* CQL spelling */
    enum column_kind kind;
    bool descending;
};
struct table_definition {
    uint32_t id;                               /* 1..999; 0: the schema's next number from 1000 */
    const char *keyspace;
    const char *name;
    const char *comment;
    uint32_t flags;
    const struct column_definition *columns;   /* keys in key order */
    uint32_t column_count;
};

struct schema *schema_new(void);                                /* empty, version 1 */
struct schema *schema_copy(const struct schema *schema);        /* version one higher */
/* Reference counted, on the engine thread only: a job that uses a schema holds one.  A schema may
 * be changed only until a second reference is taken. */
struct schema *schema_ref(struct schema *schema);
void schema_unref(struct schema *schema);                       /* NULL is fine */

uint32_t schema_version(const struct schema *schema);
void schema_uuid(const struct schema *schema, uint8_t uuid_out[16]);   /* hash of the content */

/* The changes.  ERROR_EXISTS, ERROR_NOT_FOUND, ERROR_INVALID for what Cassandra refuses too,
 * ERROR_LIMIT; a failed one changes nothing.  All texts are copied. */
must_check int schema_add_keyspace(struct schema *schema, const char *name, struct error *err);
must_check int schema_set_keyspace(struct schema *schema, const char *name,
                                   const char *replication, bool durable_writes,
                                   struct error *err);
/* Its tables and types with it. */
must_check int schema_drop_keyspace(struct schema *schema, const char *name, struct error *err);

/* Field types are spelled in CQL; collections and user types in them are taken as frozen. */
must_check int schema_add_type(struct schema *schema, const char *keyspace, const char *name,
                               uint32_t field_count, const char *const *field_names,
                               const char *const *field_types, struct error *err);
/* The new field comes last: in older values it is missing, which reads as null. */
must_check int schema_add_type_field(struct schema *schema, const char *keyspace, const char *name,
                                     const char *field_name, const char *field_type,
                                     struct error *err);
/* Values keep their bytes, which hold no names.  ERROR_NOT_FOUND, or ERROR_EXISTS for `to`. */
must_check int schema_rename_type_field(struct schema *schema, const char *keyspace,
                                        const char *name, const char *from, const char *to,
                                        struct error *err);
/* ERROR_CONFLICT while a column or another type uses it. */
must_check int schema_drop_type(struct schema *schema, const char *keyspace, const char *name,
                                struct error *err);

must_check int schema_add_table(struct schema *schema, const struct table_definition *definition,
                                struct error *err);
must_check int schema_set_table(struct schema *schema, uint32_t table_id, const char *comment,
                                int32_t default_ttl_s, uint32_t flags, struct error *err);
/* In place of those it had; each name once. */
must_check int schema_set_table_options(struct schema *schema, uint32_t table_id,
                                        const struct table_option *options, uint32_t count,
                                        struct error *err);
/* The same table under a new number, without the old one's rows; without columns that were dropped,
 * as no cells of theirs are left. */
must_check int schema_truncate_table(struct schema *schema, uint32_t table_id, struct error *err);
must_check int schema_drop_table(struct schema *schema, uint32_t table_id, struct error *err);
/* `kind` of each is static or regular; the whole table is checked once. */
must_check int schema_add_columns(struct schema *schema, uint32_t table_id,
                                  const struct column_definition *columns, uint32_t count,
                                  struct error *err);
must_check int schema_drop_column(struct schema *schema, uint32_t table_id, const char *name,
                                  int64_t dropped_us, struct error *err);
must_check int schema_rename_column(struct schema *schema, uint32_t table_id, const char *from,
                                    const char *to, struct error *err);    /* key columns only */

/* NULL when there is none.  Valid as long as the schema. */
const struct table *schema_table(const struct schema *schema, uint32_t table_id);
const struct table *schema_table_named(const struct schema *schema, const char *keyspace,
                                       const char *name);
/* The next one by keyspace and name; NULL starts and ends. */
const struct table *schema_table_next(const struct schema *schema, const struct table *after);
const struct keyspace *schema_keyspace(const struct schema *schema, const char *name);
const struct keyspace *schema_keyspace_next(const struct schema *schema,
                                            const struct keyspace *after);
/* Types come in the order they were made, so that each follows those it uses. */
const struct type *schema_type(const struct schema *schema, const char *keyspace, const char *name);
const struct user_type *schema_type_next(const struct schema *schema,
                                         const struct user_type *after);
/* Parse a type that may name the keyspace's user types; owned by `arena`, names by `schema`. */
must_check int schema_parse_type(const struct schema *schema, const char *keyspace,
                                 struct bytes text, struct arena *arena,
                                 const struct type **type_out, struct error *err);

/* The value of an option, Cassandra's default where the table was not given one; NULL: there is no
 * such option. */
const char *schema_option(const struct table *table, const char *name);

const struct column *schema_column(const struct table *table, uint32_t column_id);
const struct column *schema_column_named(const struct table *table, struct bytes name);

/* Whether the bytes are a partition key: as many components as there are columns, each a value of
 * its column's type.  ERROR_CORRUPT. */
must_check int schema_check_key(const struct table *table, struct bytes key, struct error *err);

void schema_serialize(const struct schema *schema, struct buffer *buffer);
/* ERROR_CORRUPT for bytes that schema_serialize cannot have written, ERROR_NEWER_FORMAT. */
must_check int schema_deserialize(struct bytes serialized, struct schema **schema_out,
                                  struct error *err);
/* Whether what schema_serialize made of a schema gives it back: what is written must be readable,
 * so this is asked before it is written.  ERROR_LIMIT. */
must_check int schema_check_serialized(const struct schema *schema, struct bytes serialized,
                                       struct error *err);

/* ERROR_CORRUPT, naming the first, where there are tables that are kept as bytes. */
must_check int schema_refuse_unread(const struct schema *schema, struct error *err);
/* Whether the number is that of such a table. */
bool schema_is_unread(const struct schema *schema, uint32_t table_id);

/* The CQL that makes each again, as Cassandra's DESCRIBE shows it, without a final line end. */
void schema_print_keyspace(const struct keyspace *keyspace, struct buffer *cql);
void schema_print_type(const struct user_type *user_type, struct buffer *cql);
void schema_print_table(const struct table *table, bool with_id, struct buffer *cql);
#endif
