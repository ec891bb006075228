/* Printing statements about roles and permissions.
 *
 * A role's name that is no plain identifier is printed as a string: users cannot have names in
 * double quotes. */
#include "tests/lib/cql_statement_print_private.h"
#include "storage/schema/type.h"

static void print_role_name(struct bytes name, struct buffer *text)
{
    if (type_name_is_plain(name))
        buffer_append_bytes(text, name);
    else
        cql_print_string(name, text);
}

static void print_strings(const struct cql_name *strings, struct buffer *text)
{
    buffer_put_u8(text, '{');
    for (const struct cql_name *of = strings; of != NULL; of = of->next) {
        cql_print_words(text, of != strings, ", ");
        cql_print_string(of->text, text);
    }
    buffer_put_u8(text, '}');
}

static void print_option(const struct cql_role_option *option, struct buffer *text)
{
    switch (option->kind) {
    case CQL_ROLE_PASSWORD:
        buffer_append_text(text, "PASSWORD = ");
        cql_print_string(option->text, text);
        return;
    case CQL_ROLE_HASHED_PASSWORD:
        buffer_append_text(text, "HASHED PASSWORD = ");
        cql_print_string(option->text, text);
        return;
    case CQL_ROLE_GENERATED_PASSWORD:
        buffer_append_text(text, "GENERATED PASSWORD");
        return;
    case CQL_ROLE_SUPERUSER:
        buffer_append_text(text, option->is_on ? "SUPERUSER = true" : "SUPERUSER = false");
        return;
    case CQL_ROLE_LOGIN:
        buffer_append_text(text, option->is_on ? "LOGIN = true" : "LOGIN = false");
        return;
    case CQL_ROLE_OPTIONS:
        buffer_append_text(text, "OPTIONS = ");
        cql_print_term(option->map, text);
        return;
    case CQL_ROLE_ALL_DATACENTERS:
        buffer_append_text(text, "ACCESS TO ALL DATACENTERS");
        return;
    case CQL_ROLE_DATACENTERS:
        buffer_append_text(text, "ACCESS TO DATACENTERS ");
        print_strings(option->names, text);
        return;
    case CQL_ROLE_ALL_CIDRS:
        buffer_append_text(text, "ACCESS FROM ALL CIDRS");
        return;
    case CQL_ROLE_CIDRS:
        buffer_append_text(text, "ACCESS FROM CIDRS ");
        print_strings(option->names, text);
        return;
    }
}

/* A user's options have no equals signs and no AND. */
static void print_user_option(const struct cql_role_option *option, struct buffer *text)
{
    if (option->kind == CQL_ROLE_SUPERUSER) {
        buffer_append_text(text, option->is_on ? " SUPERUSER" : " NOSUPERUSER");
        return;
    }
    buffer_append_text(text, " WITH ");
    cql_print_words(text, option->kind == CQL_ROLE_HASHED_PASSWORD, "HASHED ");
    cql_print_words(text, option->kind == CQL_ROLE_GENERATED_PASSWORD, "GENERATED ");
    buffer_append_text(text, "PASSWORD");
    if (option->kind != CQL_ROLE_GENERATED_PASSWORD) {
        buffer_put_u8(text, ' ');
        cql_print_string(option->text, text);
    }
}

static void print_role(const struct cql_role *role, const char *verb, struct buffer *text)
{
    buffer_append_text(text, verb);
    buffer_append_text(text, role->is_user ? "USER " : "ROLE ");
    cql_print_words(text, role->if_not_exists, "IF NOT EXISTS ");
    cql_print_words(text, role->if_exists, "IF EXISTS ");
    print_role_name(role->name, text);
    for (const struct cql_role_option *of = role->options; of != NULL; of = of->next) {
        if (role->is_user) {
            print_user_option(of, text);
            continue;
        }
        buffer_append_text(text, of == role->options ? " WITH " : " AND ");
        print_option(of, text);
    }
}

static void print_resource(const struct cql_resource *resource, struct buffer *text)
{
    static const char *const words[] = {
        [CQL_RESOURCE_NONE] = "",
        [CQL_RESOURCE_ALL_KEYSPACES] = "ALL KEYSPACES",
        [CQL_RESOURCE_KEYSPACE] = "KEYSPACE ",
        [CQL_RESOURCE_TABLE] = "TABLE ",
        [CQL_RESOURCE_ALL_TABLES] = "ALL TABLES IN KEYSPACE ",
        [CQL_RESOURCE_ALL_ROLES] = "ALL ROLES",
        [CQL_RESOURCE_ROLE] = "ROLE ",
        [CQL_RESOURCE_ALL_FUNCTIONS] = "ALL FUNCTIONS",
        [CQL_RESOURCE_KEYSPACE_FUNCTIONS] = "ALL FUNCTIONS IN KEYSPACE ",
        [CQL_RESOURCE_FUNCTION] = "FUNCTION ",
        [CQL_RESOURCE_ALL_MBEANS] = "ALL MBEANS",
        [CQL_RESOURCE_MBEAN] = "MBEAN ",
        [CQL_RESOURCE_MBEANS] = "MBEANS ",
    };

    buffer_append_text(text, " ON ");
    buffer_append_text(text, words[resource->kind]);
    if (resource->kind == CQL_RESOURCE_MBEAN || resource->kind == CQL_RESOURCE_MBEANS)
        cql_print_string(resource->name.name, text);
    else if (resource->kind == CQL_RESOURCE_ROLE)
        print_role_name(resource->name.name, text);
    else if (resource->name.name.size > 0)
        cql_print_qualified(resource->name, text);
    if (resource->kind == CQL_RESOURCE_FUNCTION) {
        buffer_put_u8(text, '(');
        cql_print_types(resource->arguments, text);
        buffer_put_u8(text, ')');
    }
}

static void print_permissions(const struct cql_permissions *permissions, const char *verb,
                              const char *preposition, struct buffer *text)
{
    static const char *const words[] = {"CREATE", "ALTER",        "DROP",     "SELECT",
                                        "MODIFY", "AUTHORIZE",    "DESCRIBE", "EXECUTE",
                                        "UNMASK", "SELECT_MASKED"};
    const char *separator = "";

    buffer_append_text(text, verb);
    if (permissions->permissions == CQL_PERMISSION_ALL) {
        buffer_append_text(text, "ALL PERMISSIONS");
    } else {
        for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if ((permissions->permissions & (1u << i)) == 0)
                continue;
            buffer_append_text(text, separator);
            buffer_append_text(text, words[i]);
            separator = ", ";
        }
    }
    if (permissions->resource.kind != CQL_RESOURCE_NONE)
        print_resource(&permissions->resource, text);
    if (permissions->has_role) {
        buffer_append_text(text, preposition);
        print_role_name(permissions->role, text);
    }
    cql_print_words(text, permissions->no_recursive, " NORECURSIVE");
}

static void print_role_grant(const struct cql_role_grant *grant, const char *verb,
                             const char *preposition, struct buffer *text)
{
    buffer_append_text(text, verb);
    print_role_name(grant->role, text);
    buffer_append_text(text, preposition);
    print_role_name(grant->grantee, text);
}

static void print_list_roles(const struct cql_role_grant *list, struct buffer *text)
{
    buffer_append_text(text, "LIST ROLES");
    if (list->has_grantee) {
        buffer_append_text(text, " OF ");
        print_role_name(list->grantee, text);
    }
    cql_print_words(text, list->no_recursive, " NORECURSIVE");
}

static void print_identity(const struct cql_identity *identity, bool is_add, struct buffer *text)
{
    buffer_append_text(text, is_add ? "ADD IDENTITY " : "DROP IDENTITY ");
    cql_print_words(text, identity->if_not_exists, "IF NOT EXISTS ");
    cql_print_words(text, identity->if_exists, "IF EXISTS ");
    cql_print_string(identity->identity, text);
    if (is_add) {
        buffer_append_text(text, " TO ROLE ");
        print_role_name(identity->role, text);
    }
}

bool cql_print_role(const struct cql_statement *statement, struct buffer *text)
{
    if (statement->kind == CQL_STATEMENT_CREATE_ROLE)
        print_role(&statement->role, "CREATE ", text);
    else if (statement->kind == CQL_STATEMENT_ALTER_ROLE)
        print_role(&statement->role, "ALTER ", text);
    else if (statement->kind == CQL_STATEMENT_DROP_ROLE)
        print_role(&statement->role, "DROP ", text);
    else if (statement->kind == CQL_STATEMENT_GRANT_ROLE)
        print_role_grant(&statement->role_grant, "GRANT ", " TO ", text);
    else if (statement->kind == CQL_STATEMENT_REVOKE_ROLE)
        print_role_grant(&statement->role_grant, "REVOKE ", " FROM ", text);
    else if (statement->kind == CQL_STATEMENT_LIST_ROLES)
        print_list_roles(&statement->role_grant, text);
    else if (statement->kind == CQL_STATEMENT_LIST_USERS)
        buffer_append_text(text, "LIST USERS");
    else if (statement->kind == CQL_STATEMENT_LIST_SUPERUSERS)
        buffer_append_text(text, "LIST SUPERUSERS");
    else if (statement->kind == CQL_STATEMENT_GRANT)
        print_permissions(&statement->permissions, "GRANT ", " TO ", text);
    else if (statement->kind == CQL_STATEMENT_REVOKE)
        print_permissions(&statement->permissions, "REVOKE ", " FROM ", text);
    else if (statement->kind == CQL_STATEMENT_LIST_PERMISSIONS)
        print_permissions(&statement->permissions, "LIST ", " OF ", text);
    else if (statement->kind == CQL_STATEMENT_ADD_IDENTITY)
        print_identity(&statement->identity, true, text);
    else if (statement->kind == CQL_STATEMENT_DROP_IDENTITY)
        print_identity(&statement->identity, false, text);
    else
        return false;
    return true;
}
