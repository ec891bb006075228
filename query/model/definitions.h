/* definitions: collects Cassandra's Thrift keyspaces and column families, and writes the CQL for
 * them.
 *
 * A parser (cassandra_cli.h, storage_conf.h) adds the definitions of a file.  definitions_write
 * makes statements from them, in an order in which they can be executed.  A family becomes the
 * table that Cassandra showed for it in CQL, without COMPACT STORAGE:
 *
 *   no column_metadata          (key, column1, value, PRIMARY KEY (key, column1))
 *   with column_metadata        (key PRIMARY KEY, a, b): one column for each declared column
 *   comparator CompositeType    (key, column1, column2, value, PRIMARY KEY (key, column1, column2))
 *     with column_metadata      the last part of the comparator names the declared columns, the
 *                               other parts are clustering columns
 *   Super                       (key, column1, column2, value, PRIMARY KEY (key, column1, column2))
 *     with column_metadata      (key, column1, a, b, PRIMARY KEY (key, column1))
 *
 * A table of declared columns has no other columns, because Cassandra did not show undeclared ones
 * in CQL.
 *
 * Its specification is tests/unit/test_cassandra_cli.c. */
#ifndef DAYBOOK_QUERY_MODEL_DEFINITIONS_H
#define DAYBOOK_QUERY_MODEL_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { DEFINITIONS_MAX = 10000, DEFINITIONS_CHOICES_MAX = 100 };

/* The user's choices.  `keys` take precedence over the file. */
struct definitions_options {
    const char *keyspace;              /* of families without a keyspace; NULL: these are refused */
    /* FAMILY=TYPE: the CQL type of the family's keys. */
    const char *keys[DEFINITIONS_CHOICES_MAX];
    uint32_t key_count;
    /* Families whose BytesType is text. */
    const char *texts[DEFINITIONS_CHOICES_MAX];
    uint32_t text_count;
};

struct family_column {
    const char *name;
    const char *type;                  /* NULL: the family's default_type */
    bool is_indexed;
    const char *index_name;            /* NULL: CREATE INDEX chooses a name */
};

/* All texts are valid until the definitions are freed.  Types are texts that marshal_parse reads;
 * NULL: BytesType. */
struct family {
    const char *keyspace;
    const char *name;
    uint32_t line;                     /* of the family's first word */
    bool is_super;
    const char *key_type;
    const char *comparator;
    const char *subcomparator;
    const char *default_type;
    const char *comment;
    int32_t ttl_s;                     /* of its cells; 0: none */
    struct family_column *columns;
    uint32_t column_count;
};

struct definitions;

/* `options` must outlive the result. */
struct definitions *definitions_new(const struct definitions_options *options);
void definitions_free(struct definitions *definitions);      /* NULL is fine */

/* Copy a text to the arena, with a final NUL.  A NUL within the text ends it. */
const char *definitions_text(struct definitions *definitions, struct bytes text);
void definitions_note(struct definitions *definitions, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int definitions_refuse(struct error *err, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `factor` 0: the file does not give the replication factor. */
must_check int definitions_add_keyspace(struct definitions *definitions, const char *name,
                                        long factor, uint32_t line, struct error *err);
/* Add a family in `keyspace` (NULL: the keyspace of the options).  The family's types and options
 * begin as NULL and 0, for the defaults of cassandra-cli.  *family_out is valid until the next
 * family is added. */
must_check int definitions_add_family(struct definitions *definitions, const char *keyspace,
                                      const char *name, uint32_t line, struct family **family_out,
                                      struct error *err);
must_check int definitions_add_column(struct family *family, const struct family_column *column,
                                      struct error *err);

enum definition_kind { DEFINITION_KEYSPACE, DEFINITION_TABLE, DEFINITION_INDEX };
struct definition {
    enum definition_kind kind;
    const char *keyspace;
    const char *table;                 /* the table that is created or indexed; NULL: none */
    uint32_t line;                     /* of the definition; 0: the file has none */
    const char *cql;                   /* without a final semicolon */
};

/* The statements are valid until the definitions are freed.  A keyspace that the file uses and does
 * not define is created unless `has_keyspace` says that it exists. */
must_check int definitions_write(struct definitions *definitions,
                                 bool (*has_keyspace)(void *context, const char *keyspace),
                                 void *context, const struct definition **statements_out,
                                 uint32_t *count_out, struct error *err);
/* One "line N: ..." for each note; complete after definitions_write.  Notes after the first 64 KiB
 * are left out. */
struct bytes definitions_notes(const struct definitions *definitions);
#endif
