/* schema: the catalog: keyspaces, tables, columns, by name and by number.
 *
 * Tables and columns have numbers that are never used again, and every run names the schema version
 * it was written with, so that dropping a column and adding one of the same name cannot bring old
 * data back.  A schema is immutable: a change makes a new one (schema_copy, then the edits), which
 * the engine logs in a frame and then publishes.  Serialized form: FORMATS.md "Schema". */
#ifndef DAYBOOK_STORAGE_SCHEMA_H
#define DAYBOOK_STORAGE_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/type.h"

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
};

/* Written to disk: the numbers cannot change. */
enum table_flag {
    TABLE_COUNTER = 1,             /* all regular columns are counters */
    TABLE_RANKED = 2,              /* the last clustering column is a bigint that the store assigns:
                                    * the rank among rows with the clustering before it, by frame */
    TABLE_KEPT = 4,                /* written by daybook only; read-only at every door */
    TABLE_STREAM = 8,              /* used by a stream: server's write timestamps only, no drop */
    TABLE_HIDDEN = 16              /* of keyspace daybook_system */
};

struct table {
    uint32_t id;                   /* unique in the directory for ever; 1..999 are built in */
    uint8_t uuid[16];
    const char *keyspace;
    const char *name;
    uint32_t flags;                /* enum table_flag */
    uint32_t version;              /* of the schema that last changed it */
    const struct column *columns;  /* ordered by kind, then position */
    uint32_t column_count;
    uint32_t partition_count;      /* columns of each kind, in the order of `columns` */
    uint32_t clustering_count;
    uint32_t static_count;
    uint32_t column_id_next;
    const struct dropped_column *dropped;
    uint32_t dropped_count;
    int32_t default_ttl_s;
    const char *comment;
};

struct schema;

/* How C code declares a table that exists in every directory. */
struct column_definition {
    uint32_t id;
    const char *name;
    const char *type;                          /* CQL spelling */
    enum column_kind kind;
    bool descending;
};
struct table_definition {
    uint32_t id;
    const char *keyspace;
    const char *name;
    const char *comment;
    uint32_t flags;
    const struct column_definition *columns;   /* keys in key order */
    uint32_t column_count;
};

struct schema *schema_new(void);
struct schema *schema_copy(const struct schema *schema);        /* version one higher */
/* Reference counted: a job that uses a schema holds one. */
struct schema *schema_ref(struct schema *schema);
void schema_unref(struct schema *schema);

uint32_t schema_version(const struct schema *schema);
void schema_uuid(const struct schema *schema, uint8_t uuid_out[16]);   /* hash of the content */

must_check int schema_add_keyspace(struct schema *schema, const char *name, struct error *err);
must_check int schema_add_table(struct schema *schema, const struct table_definition *definition,
                                struct error *err);
must_check int schema_add_column(struct schema *schema, uint32_t table_id, const char *name,
                                 const char *type, bool is_static, struct error *err);
must_check int schema_drop_column(struct schema *schema, uint32_t table_id, const char *name,
                                  int64_t dropped_us, struct error *err);
must_check int schema_drop_table(struct schema *schema, uint32_t table_id, struct error *err);

/* NULL when there is none.  Valid as long as the schema. */
const struct table *schema_table(const struct schema *schema, uint32_t table_id);
const struct table *schema_table_named(const struct schema *schema, const char *keyspace,
                                       const char *name);
const struct table *schema_table_next(const struct schema *schema, const struct table *after);
                                                        /* by keyspace and name; NULL starts */
const struct column *table_column(const struct table *table, uint32_t column_id);
const struct column *table_column_named(const struct table *table, struct bytes name);

void schema_serialize(const struct schema *schema, struct buffer *buffer);
must_check int schema_deserialize(struct bytes serialized, struct schema **schema_out,
                                  struct error *err);
/* CREATE TABLE and friends, as cqlsh's DESCRIBE shows them. */
void schema_print(const struct schema *schema, const struct table *table, struct buffer *cql);
#endif
