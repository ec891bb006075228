/* definitions: keyspaces and column families as Cassandra's Thrift times defined them, and the CQL
 * that makes tables of them.
 *
 * A parser (cassandra_cli.h, storage_conf.h) adds what its file says; definitions_write then gives
 * the statements, in an order in which they can be carried out.  What a family becomes is what
 * Cassandra itself showed of it in CQL, without COMPACT STORAGE:
 *
 *   no column_metadata          (key, column1, value, PRIMARY KEY (key, column1))
 *   with column_metadata        (key PRIMARY KEY, a, b): a column for each that is declared
 *   comparator CompositeType    (key, column1, column2, value, PRIMARY KEY (key, column1, column2))
 *     with column_metadata      its last part names the declared columns, the others are clustering
 *   Super                       (key, column1, column2, value, PRIMARY KEY (key, column1, column2))
 *     with column_metadata      (key, column1, a, b, PRIMARY KEY (key, column1))
 *
 * Columns that are not declared have no place in a table of declared ones, as CQL never showed
 * them.
 *
 * Its specification is tests/unit/test_cassandra_cli.c. */
#ifndef DAYBOOK_QUERY_MODEL_DEFINITIONS_H
#define DAYBOOK_QUERY_MODEL_DEFINITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum { DEFINITIONS_MAX = 10000, DEFINITIONS_CHOICES_MAX = 100 };

/* What the caller knows and the file does not say. */
struct definitions_options {
    const char *keyspace;              /* of families outside of any; NULL: those are refused */
    /* FAMILY=TYPE, a CQL type: of the family's keys. */
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
    const char *index_name;            /* NULL: CREATE INDEX finds one */
};

/* All texts live in the arena of the definitions; types are marshal.h's texts, NULL BytesType. */
struct family {
    const char *keyspace;
    const char *name;
    uint32_t line;                     /* where it begins */
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
/* Remember to tell the user. */
void definitions_note(struct definitions *definitions, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "line N: text"; returns ERROR_INVALID. */
int definitions_refuse(struct error *err, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `replication` is a CQL map. */
must_check int definitions_add_keyspace(struct definitions *definitions, const char *name,
                                        const char *replication, uint32_t line, struct error *err);
/* A family in `keyspace` (NULL: the options'), of the defaults of cassandra-cli, to be filled;
 * valid until the next is added. */
must_check int definitions_add_family(struct definitions *definitions, const char *keyspace,
                                      const char *name, uint32_t line, struct family **family_out,
                                      struct error *err);
must_check int definitions_add_column(struct family *family, const struct family_column *column,
                                      struct error *err);

/* A statement. */
enum definition_kind { DEFINITION_KEYSPACE, DEFINITION_TABLE, DEFINITION_INDEX };
struct definition {
    enum definition_kind kind;
    const char *keyspace;              /* that it makes, or makes something in */
    const char *table;                 /* that it makes, or makes an index of; NULL of a keyspace */
    uint32_t line;                     /* of what it comes from; 0: of nothing in the file */
    const char *cql;                   /* without a final semicolon */
};

/* The statements; valid until the definitions are freed.  A keyspace that the file uses and does
 * not define is made unless `has_keyspace` knows it. */
must_check int definitions_write(struct definitions *definitions,
                                 bool (*has_keyspace)(void *context, const char *keyspace),
                                 void *context, const struct definition **statements_out,
                                 uint32_t *count_out, struct error *err);
/* Lines for the user about what could not be kept, "line N: ..."; complete after the writing. */
struct bytes definitions_notes(const struct definitions *definitions);
#endif
