/* definitions: keyspaces and column families of Cassandra's Thrift interface, and the CQL that
 * makes tables of them.
 *
 * A parser (cassandra_cli.h, storage_conf.h) adds the definitions of a file; definitions_write then
 * makes statements of them, in an order in which they can be executed.  A family becomes the table
 * that Cassandra showed for it in CQL, without COMPACT STORAGE:
 *
 *   no column_metadata          (key, column1, value, PRIMARY KEY (key, column1))
 *   with column_metadata        (key PRIMARY KEY, a, b): a column for each that is declared
 *   comparator CompositeType    (key, column1, column2, value, PRIMARY KEY (key, column1, column2))
 *     with column_metadata      its last part names the declared columns, the others are clustering
 *   Super                       (key, column1, column2, value, PRIMARY KEY (key, column1, column2))
 *     with column_metadata      (key, column1, a, b, PRIMARY KEY (key, column1))
 *
 * A table of declared columns has no others, as in Cassandra, which did not show them in CQL.
 *
 * Its specification is tests/unit/test_cassandra_cli.c. */
#ifndef DAYBOOK_QUERY_MODEL_DEFINITIONS_H
#define DAYBOOK_QUERY_MODEL_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { DEFINITIONS_MAX = 10000, DEFINITIONS_CHOICES_MAX = 100 };

/* Options for what the file does not define. */
struct definitions_options {
    const char *keyspace;              /* of families outside of any; NULL: those are refused */
    /* FAMILY=TYPE: the CQL type of the family's keys. */
    const char *keys[DEFINITIONS_CHOICES_MAX];
    uint32_t key_count;
    /* Families whose BytesType is text. */
    const char *texts[DEFINITIONS_CHOICES_MAX];
    uint32_t text_count;
};

/* A declared column. */
struct family_column {
    const char *name;
    const char *type;                  /* NULL: the family's default_type */
    bool is_indexed;
    const char *index_name;            /* NULL: CREATE INDEX chooses one */
};

/* All texts are in the arena of the definitions.  Types are texts for marshal_parse; NULL:
 * BytesType. */
struct family {
    const char *keyspace;
    const char *name;
    uint32_t line;                     /* of its first word in the file */
    bool is_super;
    const char *key_type;
    const char *comparator;
    const char *subcomparator;
    const char *default_type;
    const char *comment;               /* NULL: none */
    int32_t ttl_s;                     /* of its cells; 0: none */
    struct family_column *columns;
    uint32_t column_count;
};

struct definitions;

/* `options` outlive it. */
struct definitions *definitions_new(const struct definitions_options *options);
void definitions_free(struct definitions *definitions);      /* NULL is fine */

/* For parsers: a text with a final NUL in the arena.  A NUL within the text ends it. */
const char *definitions_text(struct definitions *definitions, struct bytes text);
/* Keep a note for the user. */
void definitions_note(struct definitions *definitions, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "line N: text"; returns ERROR_INVALID. */
int definitions_refuse(struct error *err, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `replication` is a CQL map. */
must_check int definitions_add_keyspace(struct definitions *definitions, const char *name,
                                        const char *replication, uint32_t line, struct error *err);
/* A family in `keyspace` (NULL: that of the options) with the defaults of cassandra-cli, for the
 * caller to fill; valid until the next one is added. */
must_check int definitions_add_family(struct definitions *definitions, const char *keyspace,
                                      const char *name, uint32_t line, struct family **family_out,
                                      struct error *err);
must_check int definitions_add_column(struct family *family, const struct family_column *column,
                                      struct error *err);

/* A statement. */
enum definition_kind { DEFINITION_KEYSPACE, DEFINITION_TABLE, DEFINITION_INDEX };
struct definition {
    enum definition_kind kind;
    const char *keyspace;              /* that it creates, or in which it creates */
    const char *table;                 /* that it creates, or whose index; NULL for a keyspace */
    uint32_t line;                     /* of its definition; 0: the file has none */
    const char *cql;                   /* without a final semicolon */
};

/* The statements; valid until the definitions are freed.  A keyspace that the file uses and
 * does not define is created unless `has_keyspace` says that it exists. */
must_check int definitions_write(struct definitions *definitions,
                                 bool (*has_keyspace)(void *context, const char *keyspace),
                                 void *context, const struct definition **statements_out,
                                 uint32_t *count_out, struct error *err);
/* The notes, a line each, "line N: ..."; complete after definitions_write. */
struct bytes definitions_notes(const struct definitions *definitions);
#endif
