/* Replication has no effect on one node, but is checked, kept and shown. */
#include "query/cql/schema/cql_schema_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STRATEGIES "org.apache.cassandra.locator."

static bool is_text(struct bytes text, const char *wanted)
{
    return bytes_equal(text, bytes_text(wanted));
}

static int read_class(struct cql_execution *execution, struct bytes text, const char **class_out)
{
    static const char *const known[] = {"SimpleStrategy", "NetworkTopologyStrategy",
                                        "LocalStrategy"};
    size_t prefix = sizeof(STRATEGIES) - 1;
    if (text.size > prefix && memcmp(text.data, STRATEGIES, prefix) == 0)
        text = bytes_of(text.data + prefix, text.size - prefix);
    for (size_t i = 0; i < 2; i++) {
        if (is_text(text, known[i])) {
            *class_out = known[i];
            return 0;
        }
    }
    if (is_text(text, known[2])) {
        return cql_invalid(&execution->fault,
                           "Unable to use given strategy class: LocalStrategy is "
                           "reserved for internal use.");
    }
    return cql_refuse(&execution->fault, CQL_CONFIG_ERROR,
                      "Unable to find replication strategy class '" STRATEGIES "%.*s'",
                      CQL_SHOW(text));
}

static void put_option(struct buffer *map, struct bytes name, struct bytes value)
{
    buffer_append_text(map, map->size == 0 ? "{" : ", ");
    buffer_append_quoted(map, name, '\'');
    buffer_append_text(map, ": ");
    buffer_append_quoted(map, value, '\'');
}

static int check_factor(struct cql_execution *execution, const char *keyspace, struct bytes value)
{
    const char *text = cql_text(execution->arena, value);
    char *end;
    long factor = strtol(text, &end, 10);
    if (end == text || *end != '\0' || factor < 0) {
        return cql_refuse(&execution->fault, CQL_CONFIG_ERROR,
                          "Replication factor must be numeric; found %s", text);
    }
    if (factor > 1) {
        cql_execution_warn(
            execution,
            "Your replication factor %ld for keyspace %s is higher than the number of nodes 1",
            factor, keyspace);
    }
    return 0;
}

/* Whether the map has a value for the datacenter.  If it has, NetworkTopologyStrategy does not
 * apply replication_factor to the datacenter. */
static bool names_datacenter(const struct cql_property *property)
{
    for (const struct cql_term *key = property->value->arguments; key != NULL;
         key = key->next->next)
        if (is_text(key->text, CQL_DATACENTER))
            return true;
    return false;
}

static int read_replication(struct cql_execution *execution, const char *keyspace,
                            const struct cql_property *property, const char **replication_out)
{
    const char *class = NULL;
    struct buffer map = {.arena = execution->arena};
    int rc = 0;
    for (const struct cql_term *key = property->value->arguments; key != NULL && rc == 0;
         key = key->next->next) {
        if (is_text(key->text, "class"))
            rc = read_class(execution, key->next->text, &class);
    }
    if (rc == 0 && class == NULL)
        rc = cql_refuse(&execution->fault, CQL_CONFIG_ERROR, "Missing replication strategy class");
    bool is_simple = class != NULL && class[0] == 'S';
    if (rc == 0) {
        put_option(&map, bytes_text("class"),
                   bytes_text(cql_text_printf(execution->arena, STRATEGIES "%s", class)));
    }
    for (const struct cql_term *key = property->value->arguments; key != NULL && rc == 0;
         key = key->next->next) {
        bool is_factor = is_text(key->text, "replication_factor");
        if (is_text(key->text, "class"))
            continue;
        if (!is_factor && (is_simple || !is_text(key->text, CQL_DATACENTER))) {
            rc = cql_refuse(&execution->fault, CQL_CONFIG_ERROR,
                            "Unrecognized strategy option {%.*s} passed to %s for keyspace %s",
                            CQL_SHOW(key->text), class, keyspace);
        } else {
            rc = check_factor(execution, keyspace, key->next->text);
            if (is_simple || !is_factor || !names_datacenter(property))
                put_option(&map, is_simple ? key->text : bytes_text(CQL_DATACENTER),
                           key->next->text);
        }
    }
    buffer_put_u8(&map, '}');
    *replication_out = cql_text(execution->arena, buffer_view(&map));
    return rc;
}

int cql_schema_options_read_boolean(struct cql_execution *execution, const char *name,
                                    const char *text, bool *value_out)
{
    static const char *const words[] = {"1", "true", "yes", "0", "false", "no"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value_out = i < 3;
            return 0;
        }
    }
    return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR,
                      "Invalid boolean value %s for '%s'. Positive values can be '1', 'true' or "
                      "'yes'. Negative values can be '0', 'false' or 'no'.",
                      text, name);
}

static int read_durable_writes(struct cql_execution *execution, const struct cql_property *property,
                               bool *value_out)
{
    const struct cql_term *value = property->value;
    if (value->kind == CQL_TERM_MAP || value->kind == CQL_TERM_SET) {
        return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR,
                          "Invalid value for property 'durable_writes'. It should be a string");
    }
    return cql_schema_options_read_boolean(execution, "durable_writes",
                                           cql_text(execution->arena, value->text), value_out);
}

int cql_schema_options_check_keyspace(struct cql_execution *execution,
                                      const struct cql_property *properties, bool is_new)
{
    bool has_replication = false;
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        bool is_replication = is_text(p->name, "replication");
        if (is_replication && p->value->kind != CQL_TERM_MAP) {
            return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR,
                              "Invalid value for property 'replication'. It should be a map.");
        }
        if (!is_replication && !is_text(p->name, "durable_writes")) {
            return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR, "Unknown property '%.*s'",
                              CQL_SHOW(p->name));
        }
        bool has_class = !is_replication || p->value->arguments == NULL;
        for (const struct cql_term *key = is_replication ? p->value->arguments : NULL; key != NULL;
             key = key->next->next) {
            has_class = has_class || is_text(key->text, "class");
        }
        if (!has_class)
            return cql_refuse(&execution->fault, CQL_CONFIG_ERROR,
                              "Missing replication strategy class");
        has_replication |= is_replication;
    }
    return has_replication || !is_new
               ? 0
               : cql_invalid(&execution->fault, "Missing mandatory option 'replication'");
}

int cql_schema_options_read_keyspace(struct cql_execution *execution, const char *keyspace,
                                     const struct cql_property *properties,
                                     struct cql_keyspace_options *options)
{
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        if (is_text(p->name, "replication")) {
            int rc = read_replication(execution, keyspace, p, &options->replication);
            if (rc != 0)
                return rc;
        } else {
            int rc = read_durable_writes(execution, p, &options->durable_writes);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}
