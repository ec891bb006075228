/* directory: see the header.
 *
 * Settings are plain text:
 *
 *     zone=Europe/Berlin
 *     currency=EUR
 *     click_id=serial
 *     keep_days=400 */
#include "program/directory.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_tables.h"
#include "query/cql/common/cql_tables.h"
#include "rollup/tables.h"
#include "base/calendar.h"
#include "storage/engine/engine.h"

const char *directory_path(const char *given)
{
    const char *path = given != NULL ? given : getenv("DAYBOOK_DIR");
    return path != NULL && path[0] != '\0' ? path : "./daybook-data";
}

/* ---- settings ---- */

static const struct directory_settings bare = {.zone = "UTC", .click_id = "serial"};

int directory_settings_check(const struct directory_settings *settings, struct error *err)
{
    struct zone *zone;
    int rc = calendar_zone_open(settings->zone, &zone, err);
    if (rc != 0) {
        return error_set(err, ERROR_INVALID,
                         "'%s' is no time zone of this system; an IANA name such as Europe/Berlin "
                         "is needed",
                         settings->zone);
    }
    calendar_zone_close(zone);
    static const char *const kinds[] = {"serial", "uuid", "text", "bigint"};
    bool is_kind = false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        is_kind |= strcmp(settings->click_id, kinds[i]) == 0;
    if (!is_kind) {
        return error_set(err, ERROR_INVALID,
                         "a click's id is serial, uuid, text or bigint, not '%s'",
                         settings->click_id);
    }
    for (const char *c = settings->currency; *c != '\0'; c++) {
        if (!isgraph((unsigned char)*c)) {
            return error_set(err, ERROR_INVALID,
                             "a currency is a code of letters such as EUR, not '%s'",
                             settings->currency);
        }
    }
    return 0;
}

bool directory_has_click_ids(const struct directory_settings *settings)
{
    return strcmp(settings->click_id, bare.click_id) != 0;
}

static void settings_write(const struct directory_settings *settings, struct buffer *properties)
{
    buffer_printf(properties, "zone=%s\ncurrency=%s\nclick_id=%s\nkeep_days=%s\n", settings->zone,
                  settings->currency, settings->click_id, settings->keep_days);
}

static void settings_take(const char *line, size_t length, const char *key, char *to, size_t size)
{
    size_t key_length = strlen(key);
    if (length > key_length && strncmp(line, key, key_length) == 0 && line[key_length] == '=')
        snprintf(to, size, "%.*s", (int)(length - key_length - 1), line + key_length + 1);
}

void directory_settings_read(struct bytes properties, struct directory_settings *settings)
{
    const char *at = (const char *)properties.data;
    const char *end = at + properties.size;
    *settings = bare;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = newline != NULL ? (size_t)(newline - at) : (size_t)(end - at);
        settings_take(at, length, "zone", settings->zone, sizeof(settings->zone));
        settings_take(at, length, "currency", settings->currency, sizeof(settings->currency));
        settings_take(at, length, "click_id", settings->click_id, sizeof(settings->click_id));
        settings_take(at, length, "keep_days", settings->keep_days, sizeof(settings->keep_days));
        at += length + 1;
    }
}

/* ---- init ---- */

static void check_numbers(const struct table_definition *const *tables, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            check(tables[i]->id != tables[j]->id);
}

uint32_t directory_tables(const struct table_definition *tables_out[DIRECTORY_TABLES_MAX])
{
    static const struct table_definition *const *(*const lists[])(uint32_t *count_out) = {
        tables_builtin, ingest_tables, cql_tables};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        uint32_t listed;
        const struct table_definition *const *tables = lists[i](&listed);
        check(count + listed <= DIRECTORY_TABLES_MAX);
        memcpy(tables_out + count, tables, listed * sizeof(*tables));
        count += listed;
    }
    check_numbers(tables_out, count);
    return count;
}

static int first_schema(struct schema *schema, const struct directory_settings *settings,
                        struct error *err)
{
    const struct table_definition *tables[DIRECTORY_TABLES_MAX];
    uint32_t count = directory_tables(tables);
    int rc = schema_add_keyspace(schema, "daybook", err);
    rc = rc == 0 ? schema_add_keyspace(schema, "daybook_system", err) : rc;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = directory_has_click_ids(settings)
                 ? tables_add_keyed(schema, tables[i], settings->click_id, err)
                 : schema_add_table(schema, tables[i], err);
    }
    return rc;
}

/* If `store_out` is NULL, no store is opened. */
static int directory_create(struct world *world, const struct directory_settings *settings,
                            const struct engine_options *options, struct store **store_out,
                            struct error *err)
{
    struct buffer text = {0};
    struct schema *schema = schema_new();
    int rc = first_schema(schema, settings, err);
    settings_write(settings, &text);
    const struct bytes properties = buffer_view(&text);
    if (rc == 0)
        rc = store_out != NULL ? engine_open_new(world, options, schema, properties, store_out, err)
                               : engine_create(world, schema, properties, err);
    buffer_release(&text);
    schema_unref(schema);
    return rc;
}

int directory_open_new(struct world *world, const struct engine_options *options,
                       struct store **store_out, struct error *err)
{
    check(store_out != NULL);
    return directory_create(world, &bare, options, store_out, err);
}

int directory_init(const char *path, const struct directory_settings *settings, struct error *err)
{
    struct world *world;
    int rc = world_uv_open(path, true, NULL, &world, err);
    if (rc == 0) {
        rc = directory_create(world, settings, NULL, NULL, err);
        world_uv_close(world);
    }
    if (rc != 0)
        directory_explain(path, rc, err);
    return rc;
}

/* ---- refusals ---- */

void directory_explain(const char *path, int rc, struct error *err)
{
    char cause[sizeof(err->text)];
    snprintf(cause, sizeof(cause), "%s", err->text);
    if (rc == ERROR_NOT_FOUND) {
        (void)error_set(err, rc, "%s is no daybook directory; daybook init -d %s makes it one",
                        path, path);
    } else if (rc == ERROR_EXISTS) {
        (void)error_set(err, rc, "%s is a daybook directory already; nothing was changed", path);
    } else if (rc == ERROR_NOT_OURS) {
        (void)error_set(err, rc,
                        "%s is not a daybook directory (%.300s); name an empty or a new one with "
                        "-d DIR",
                        path, cause);
    } else if (rc == ERROR_NEWER_FORMAT) {
        (void)error_set(err, rc,
                        "%s was written by a newer version of daybook (%.300s); use that version",
                        path, cause);
    } else if (rc == -EACCES || rc == -EPERM || rc == -EROFS) {
        (void)error_set(err, rc,
                        "no permission in %s (%.300s); run this as its owner, or give another "
                        "directory with -d DIR",
                        path, cause);
    } else {
        error_wrap(err, "%s", path);
    }
}
