/* cql_ast: the syntax tree of one CQL statement, as cql_parse makes it.
 *
 * Names are not looked up, and literals have no type yet.  All nodes and texts are in the arena
 * that the parser was given.  Lists are linked by `next`, in the order of the text.  If a clause
 * was left out, the pointer is NULL or the text is empty.
 *
 * Names are lowercased unless they stood in double quotes.  If a clause can have an empty value, a
 * flag or a kind says whether the clause was written. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_AST_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* [keyspace.]name; `keyspace` is empty where the session's keyspace is meant. */
struct cql_qualified_name {
    struct bytes keyspace;
    struct bytes name;
};

struct cql_name {
    struct bytes text;
    struct cql_name *next;
};

/* ---- types ---- */

enum cql_type_kind {
    CQL_TYPE_NATIVE,                     /* `name`: int, text ... in lower case; varchar is text */
    CQL_TYPE_USER,                       /* [keyspace.]name */
    CQL_TYPE_CUSTOM,                     /* 'class': `name` */
    CQL_TYPE_LIST,
    CQL_TYPE_SET,
    CQL_TYPE_MAP,
    CQL_TYPE_TUPLE,
    CQL_TYPE_FROZEN,
    CQL_TYPE_VECTOR                      /* of one argument, with `dimension` */
};

struct cql_type {
    enum cql_type_kind kind;
    struct cql_qualified_name name;
    struct cql_type *arguments;
    struct bytes dimension;
    uint32_t depth;                      /* levels of nested types, this one included */
    struct cql_type *next;
};

/* ---- terms: values, and what a SELECT computes ---- */

enum cql_term_kind {
    /* Literals; `text` is as written unless said otherwise. */
    CQL_TERM_STRING,                     /* `text`: without quotes and escapes */
    CQL_TERM_INTEGER,                    /* -?digits */
    CQL_TERM_FLOAT,                      /* also NaN, Infinity and -Infinity, in this spelling */
    CQL_TERM_BOOLEAN,
    CQL_TERM_UUID,
    CQL_TERM_BLOB,                       /* 0x and hex digits, perhaps an odd number of them */
    CQL_TERM_DURATION,
    CQL_TERM_NULL,

    /* ? or :name; `marker` is its number in the statement from 0, `text` its name or empty. */
    CQL_TERM_MARKER,

    /* `arguments` are the elements. */
    CQL_TERM_LIST,                       /* [a, b]: a vector has the same form */
    CQL_TERM_SET,                        /* {a, b}; also {}, which may mean a set, map or UDT */
    CQL_TERM_MAP,                        /* {k: v}: key, value, key, ... */
    CQL_TERM_UDT,                        /* {field: v}: CQL_TERM_NAME, value, ...; in a selector
                                          * it may also be a map with columns as keys */
    CQL_TERM_TUPLE,                      /* (a, b); also (a), which may mean just a */

    CQL_TERM_FUNCTION,                   /* [keyspace.]text(arguments), also token and count(x) */
    CQL_TERM_COUNT_ROWS,
    CQL_TERM_CAST,                       /* CAST(of AS type): a conversion */
    CQL_TERM_HINT,                       /* (type) of: names the type and converts nothing */
    CQL_TERM_OPERATION,                  /* two arguments; `operation` is one of + - * / % */
    CQL_TERM_NEGATION,                   /* -of */

    /* Only in selectors, except for CQL_TERM_NAME in a CQL_TERM_UDT and in properties. */
    CQL_TERM_NAME,                       /* `text`: a column, a field, or a property's bare word */
    CQL_TERM_FIELD,                      /* of.text */
    CQL_TERM_ELEMENT,                    /* of[from] */
    CQL_TERM_SLICE,                      /* of[from..until], both included; either may be NULL */
    CQL_TERM_WRITETIME,                  /* WRITETIME(of): of a column, field, element or slice */
    CQL_TERM_MAXWRITETIME,
    CQL_TERM_TTL
};

struct cql_term {
    enum cql_term_kind kind;
    char operation;
    uint32_t marker;
    struct bytes text;
    struct bytes keyspace;               /* of a function */
    struct cql_type *type;
    struct cql_term *of;
    struct cql_term *from;
    struct cql_term *until;
    struct cql_term *arguments;
    uint32_t argument_count;
    uint32_t depth;                      /* levels of nested terms, this one included */
    struct cql_term *next;
};

/* Whether the term is a literal other than NULL. */
static inline bool cql_term_is_literal(const struct cql_term *term)
{
    return term->kind <= CQL_TERM_DURATION;
}

/* ---- what statements share ---- */

enum cql_operator {
    CQL_EQ, CQL_LT, CQL_LE, CQL_GT, CQL_GE, CQL_NE,
    CQL_IN, CQL_NOT_IN,
    CQL_CONTAINS, CQL_CONTAINS_KEY, CQL_NOT_CONTAINS, CQL_NOT_CONTAINS_KEY,
    CQL_LIKE,
    CQL_BETWEEN,                         /* two values */
    CQL_IS_NOT_NULL                      /* no value */
};

enum cql_relation_kind {
    CQL_RELATION_COLUMN,                 /* c op value */
    CQL_RELATION_ELEMENT,                /* c[key] op value */
    CQL_RELATION_FIELD,                  /* c.field op value: conditions only */
    CQL_RELATION_TUPLE,                  /* (c, d) op (value, value) */
    CQL_RELATION_TOKEN,                  /* token(c, d) op value */
    CQL_RELATION_INDEX                   /* expr(index, value): `columns` is the index's name */
};

struct cql_relation {
    enum cql_relation_kind kind;
    enum cql_operator operator;
    struct cql_name *columns;
    uint32_t column_count;
    struct cql_term *key;
    struct bytes field;
    /* One value; any number for IN (...), two for BETWEEN, none for IS NOT NULL.  With `in_marker`
     * the only value is a marker for the whole list: IN ?. */
    struct cql_term *values;
    uint32_t value_count;
    bool in_marker;
    struct cql_relation *next;
};

/* USING.  Each term is a CQL_TERM_INTEGER or a CQL_TERM_MARKER; NULL: it was left out. */
struct cql_attributes {
    struct cql_term *timestamp;
    struct cql_term *ttl;
};

/* At most one of the two is set. */
struct cql_conditions {
    bool if_exists;
    struct cql_relation *relations;
};

/* name = value after WITH.  `value` is a literal other than null, a CQL_TERM_NAME or a
 * CQL_TERM_MAP; {} is a map here. */
struct cql_property {
    struct bytes name;
    struct cql_term *value;
    struct cql_property *next;
};

/* A column of a table, a field of a type, or an argument of a function. */
struct cql_definition {
    struct bytes name;
    struct cql_type *type;
    bool is_static;
    bool is_primary_key;
    bool is_masked;
    struct cql_term *mask;               /* a CQL_TERM_FUNCTION; NULL for MASKED WITH DEFAULT */
    struct cql_definition *next;
};

struct cql_ordering {
    struct bytes column;
    bool descending;
    struct cql_term *ann_of;
    struct cql_ordering *next;
};

struct cql_primary_key {
    struct cql_name *partition;
    struct cql_name *clustering;
    uint32_t count;                      /* how often PRIMARY KEY is written, at columns too */
};

/* ---- data ---- */

struct cql_selector {
    struct cql_term *term;
    struct bytes alias;
    struct cql_selector *next;
};

struct cql_select {
    bool is_json;
    bool is_distinct;
    struct cql_selector *selectors;      /* NULL: * */
    struct cql_qualified_name table;
    struct cql_relation *where;
    struct cql_term *group_by;
    struct cql_ordering *order_by;
    struct cql_term *per_partition_limit;    /* CQL_TERM_INTEGER or CQL_TERM_MARKER */
    struct cql_term *limit;
    bool allow_filtering;
};

/* Has either columns and values, whose counts may differ, or `json`. */
struct cql_insert {
    struct cql_qualified_name table;
    struct cql_name *columns;
    uint32_t column_count;
    struct cql_term *values;
    uint32_t value_count;
    struct cql_term *json;               /* CQL_TERM_STRING or CQL_TERM_MARKER */
    bool default_unset;
    bool if_not_exists;
    struct cql_attributes attributes;
};

enum cql_assignment_kind {
    CQL_ASSIGN,                          /* c = value */
    CQL_ASSIGN_ADD,                      /* c = c + value, c += value; c = c -3 adds -3 */
    CQL_ASSIGN_SUBTRACT,                 /* c = c - value, c -= value */
    CQL_ASSIGN_PREPEND,                  /* c = value + c */
    CQL_ASSIGN_ELEMENT,                  /* c[key] = value */
    CQL_ASSIGN_FIELD                     /* c.field = value */
};

struct cql_assignment {
    enum cql_assignment_kind kind;
    struct bytes column;
    struct cql_term *key;
    struct bytes field;
    struct cql_term *value;
    struct cql_assignment *next;
};

struct cql_update {
    struct cql_qualified_name table;
    struct cql_attributes attributes;
    struct cql_assignment *assignments;
    struct cql_relation *where;
    struct cql_conditions conditions;
};

/* column, column[key] or column.field. */
struct cql_deletion {
    struct bytes column;
    struct cql_term *key;
    struct bytes field;
    struct cql_deletion *next;
};

struct cql_delete {
    struct cql_qualified_name table;
    struct cql_deletion *deletions;      /* NULL: whole rows */
    struct cql_attributes attributes;
    struct cql_relation *where;
    struct cql_conditions conditions;
};

struct cql_statement;

struct cql_batch {
    bool is_unlogged;
    bool is_counter;
    struct cql_attributes attributes;
    struct cql_statement *statements;    /* NULL: none */
    uint32_t statement_count;
};

/* ---- definitions ---- */

/* The object of TRUNCATE, USE, ALTER KEYSPACE, and DROP (of a keyspace, table, type, index or
 * view). */
struct cql_object {
    struct cql_qualified_name name;      /* a keyspace's name is in name.name */
    bool if_exists;
    struct cql_property *properties;     /* ALTER KEYSPACE only */
};

struct cql_create_keyspace {
    bool if_not_exists;
    struct bytes name;
    struct cql_property *properties;
};

struct cql_create_table {
    bool if_not_exists;
    struct cql_qualified_name name;
    struct cql_definition *columns;
    struct cql_primary_key key;
    struct cql_ordering *clustering_order;
    bool compact_storage;
    struct cql_property *properties;
};

struct cql_rename {
    struct bytes from;
    struct bytes to;
    struct cql_rename *next;
};

enum cql_alter_kind {
    CQL_ALTER_ADD,                       /* `definitions` */
    CQL_ALTER_DROP,                      /* `columns`, and USING TIMESTAMP `timestamp` */
    CQL_ALTER_RENAME,                    /* `renames` */
    CQL_ALTER_TYPE,                      /* one of `definitions`: column and new type */
    CQL_ALTER_MASK,                      /* one of `definitions`, without a type */
    CQL_ALTER_UNMASK,                    /* one of `columns` */
    CQL_ALTER_DROP_COMPACT_STORAGE,
    CQL_ALTER_WITH                       /* `properties` */
};

/* ALTER TABLE, and ALTER TYPE, where columns stand for the fields of the type. */
struct cql_alter {
    enum cql_alter_kind kind;
    bool if_exists;
    struct cql_qualified_name name;
    bool if_column_exists;
    bool if_column_not_exists;
    struct cql_definition *definitions;
    struct cql_name *columns;
    struct cql_rename *renames;
    struct cql_term *timestamp;
    struct cql_property *properties;
};

struct cql_create_type {
    bool if_not_exists;
    struct cql_qualified_name name;
    struct cql_definition *fields;
};

enum cql_index_kind {
    CQL_INDEX_SIMPLE,
    CQL_INDEX_KEYS,
    CQL_INDEX_VALUES,
    CQL_INDEX_ENTRIES,
    CQL_INDEX_FULL
};

struct cql_index_target {
    enum cql_index_kind kind;
    struct bytes column;
    struct cql_index_target *next;
};

struct cql_create_index {
    bool is_custom;
    bool if_not_exists;
    struct bytes name;                   /* empty: the server chooses a name */
    struct cql_qualified_name table;
    struct cql_index_target *targets;
    bool has_class;
    struct bytes class_name;
    struct cql_property *properties;
};

/* ---- roles and permissions ---- */

enum cql_permission {
    CQL_PERMISSION_CREATE = 1,
    CQL_PERMISSION_ALTER = 2,
    CQL_PERMISSION_DROP = 4,
    CQL_PERMISSION_SELECT = 8,
    CQL_PERMISSION_MODIFY = 16,
    CQL_PERMISSION_AUTHORIZE = 32,
    CQL_PERMISSION_DESCRIBE = 64,
    CQL_PERMISSION_EXECUTE = 128,
    CQL_PERMISSION_UNMASK = 256,
    CQL_PERMISSION_SELECT_MASKED = 512,
    CQL_PERMISSION_ALL = 1023
};

enum cql_resource_kind {
    CQL_RESOURCE_NONE,
    CQL_RESOURCE_ALL_KEYSPACES,
    CQL_RESOURCE_KEYSPACE,               /* name.name */
    CQL_RESOURCE_TABLE,
    CQL_RESOURCE_ALL_TABLES,             /* IN KEYSPACE name.name */
    CQL_RESOURCE_ALL_ROLES,
    CQL_RESOURCE_ROLE,
    CQL_RESOURCE_ALL_FUNCTIONS,
    CQL_RESOURCE_KEYSPACE_FUNCTIONS,
    CQL_RESOURCE_FUNCTION,               /* name(arguments) */
    CQL_RESOURCE_ALL_MBEANS,
    CQL_RESOURCE_MBEAN,
    CQL_RESOURCE_MBEANS                  /* name.name is a pattern */
};

struct cql_resource {
    enum cql_resource_kind kind;
    struct cql_qualified_name name;
    struct cql_type *arguments;
};

enum cql_role_option_kind {
    CQL_ROLE_PASSWORD,                   /* `text` */
    CQL_ROLE_HASHED_PASSWORD,            /* `text` */
    CQL_ROLE_GENERATED_PASSWORD,
    CQL_ROLE_SUPERUSER,                  /* `is_on` */
    CQL_ROLE_LOGIN,                      /* `is_on` */
    CQL_ROLE_OPTIONS,                    /* `map`: a CQL_TERM_MAP of literals */
    CQL_ROLE_ALL_DATACENTERS,
    CQL_ROLE_DATACENTERS,                /* `names` */
    CQL_ROLE_ALL_CIDRS,
    CQL_ROLE_CIDRS                       /* `names` */
};

struct cql_role_option {
    enum cql_role_option_kind kind;
    struct bytes text;
    bool is_on;
    struct cql_term *map;
    struct cql_name *names;
    struct cql_role_option *next;
};

struct cql_role {
    bool is_user;
    bool if_exists;
    bool if_not_exists;
    struct bytes name;
    struct cql_role_option *options;
};

struct cql_permissions {
    uint32_t permissions;                /* enum cql_permission, or'ed */
    struct cql_resource resource;        /* LIST: may be CQL_RESOURCE_NONE */
    bool has_role;                       /* LIST: may be left out */
    struct bytes role;
    bool no_recursive;
};

/* GRANT and REVOKE of a role, and LIST ROLES OF `grantee`. */
struct cql_role_grant {
    struct bytes role;
    bool has_grantee;                    /* LIST ROLES: may be left out */
    struct bytes grantee;
    bool no_recursive;
};

/* ADD IDENTITY 'identity' TO ROLE 'role', DROP IDENTITY 'identity'. */
struct cql_identity {
    bool if_exists;
    bool if_not_exists;
    struct bytes identity;
    struct bytes role;
};

/* ---- DESCRIBE ---- */

enum cql_describe_kind {
    CQL_DESCRIBE_CLUSTER,
    CQL_DESCRIBE_SCHEMA,
    CQL_DESCRIBE_FULL_SCHEMA,
    CQL_DESCRIBE_KEYSPACES,
    CQL_DESCRIBE_KEYSPACE,               /* name.name; empty: the session's */
    CQL_DESCRIBE_ONLY_KEYSPACE,
    CQL_DESCRIBE_TABLES,
    CQL_DESCRIBE_TABLE,
    CQL_DESCRIBE_INDEX,
    CQL_DESCRIBE_VIEW,
    CQL_DESCRIBE_TYPES,
    CQL_DESCRIBE_TYPE,
    CQL_DESCRIBE_FUNCTIONS,
    CQL_DESCRIBE_FUNCTION,
    CQL_DESCRIBE_AGGREGATES,
    CQL_DESCRIBE_AGGREGATE,
    CQL_DESCRIBE_ANY                     /* [keyspace.]name, without a kind */
};

struct cql_describe {
    enum cql_describe_kind kind;
    struct cql_qualified_name name;
    bool with_internals;
};

/* ---- the statement ---- */

/* A comment names the member of the union if the kind's name does not. */
enum cql_statement_kind {
    CQL_STATEMENT_SELECT,
    CQL_STATEMENT_INSERT,
    CQL_STATEMENT_UPDATE,
    CQL_STATEMENT_DELETE,
    CQL_STATEMENT_BATCH,
    CQL_STATEMENT_TRUNCATE,              /* object */
    CQL_STATEMENT_USE,                   /* object */

    CQL_STATEMENT_CREATE_KEYSPACE,
    CQL_STATEMENT_ALTER_KEYSPACE,        /* object */
    CQL_STATEMENT_DROP_KEYSPACE,         /* object */
    CQL_STATEMENT_CREATE_TABLE,
    CQL_STATEMENT_ALTER_TABLE,           /* alter */
    CQL_STATEMENT_DROP_TABLE,            /* object */
    CQL_STATEMENT_CREATE_TYPE,
    CQL_STATEMENT_ALTER_TYPE,            /* alter */
    CQL_STATEMENT_DROP_TYPE,             /* object */
    CQL_STATEMENT_CREATE_INDEX,
    CQL_STATEMENT_DROP_INDEX,            /* object */
    CQL_STATEMENT_DROP_VIEW,             /* object */

    /* No member of the union. */
    CQL_STATEMENT_VIEW,                  /* CREATE or ALTER MATERIALIZED VIEW */
    CQL_STATEMENT_TRIGGER,
    CQL_STATEMENT_FUNCTION,              /* FUNCTION or AGGREGATE */

    CQL_STATEMENT_CREATE_ROLE,           /* role */
    CQL_STATEMENT_ALTER_ROLE,            /* role */
    CQL_STATEMENT_DROP_ROLE,             /* role */
    CQL_STATEMENT_GRANT_ROLE,            /* role_grant */
    CQL_STATEMENT_REVOKE_ROLE,           /* role_grant */
    CQL_STATEMENT_LIST_ROLES,            /* role_grant */
    CQL_STATEMENT_LIST_USERS,            /* none */
    CQL_STATEMENT_LIST_SUPERUSERS,       /* none */
    CQL_STATEMENT_GRANT,                 /* permissions */
    CQL_STATEMENT_REVOKE,                /* permissions */
    CQL_STATEMENT_LIST_PERMISSIONS,      /* permissions */
    CQL_STATEMENT_ADD_IDENTITY,          /* identity */
    CQL_STATEMENT_DROP_IDENTITY,         /* identity */

    CQL_STATEMENT_DESCRIBE
};

struct cql_statement {
    enum cql_statement_kind kind;
    /* The names of all markers in the order of the text, also of a batch's statements.  The name of
     * ? is empty.  A statement inside a batch has 0 and NULL here. */
    uint32_t marker_count;
    const struct bytes *marker_names;
    struct cql_statement *next;          /* in a batch */
    union {
        struct cql_select select;
        struct cql_insert insert;
        struct cql_update update;
        struct cql_delete delete;
        struct cql_batch batch;
        struct cql_object object;
        struct cql_create_keyspace create_keyspace;
        struct cql_create_table create_table;
        struct cql_alter alter;
        struct cql_create_type create_type;
        struct cql_create_index create_index;
        struct cql_role role;
        struct cql_role_grant role_grant;
        struct cql_permissions permissions;
        struct cql_identity identity;
        struct cql_describe describe;
    };
};
#endif
