/* stream_definition_resolve checks all properties of a stream's tables on which the rollup relies,
 * whenever the stream is made or the schema has changed. */
#include "rollup/streams/stream_definition.h"

#include <string.h>

#include "base/calendar.h"
#include "base/memory.h"
#include "storage/schema/type.h"

static const char *const text_names[STREAM_TEXTS] = {
    "clicks", "reseller",       "day",         "time",       "ad",       "amount",
    "rates",  "rates_reseller", "rates_since", "rates_rate", "counters", "refusal",
    "zone",   "currency",       "rates_unit"};

/* The text rates_unit was added later, so its column number does not follow the others. */
uint32_t stream_definition_column(enum stream_text text)
{
    check(text < STREAM_TEXTS);
    return text == STREAM_RATES_UNIT ? (uint32_t)DEFINED_RATES_UNIT : DEFINED_TEXT_FIRST + text;
}

const char *stream_definition_text_name(enum stream_text text)
{
    check(text < STREAM_TEXTS);
    return text_names[text];
}

struct stream_definition *stream_definition_copy(const struct stream_definition *definition)
{
    struct stream_definition *copy = memory_zeroed(1, sizeof(*copy));
    copy->name = memory_string(definition->name);
    for (uint32_t i = 0; i < STREAM_TEXTS; i++)
        copy->texts[i] = memory_string(definition->texts[i]);
    return copy;
}

void stream_definition_free(struct stream_definition *definition)
{
    if (definition == NULL)
        return;
    memory_free((void *)(uintptr_t)definition->name);
    for (uint32_t i = 0; i < STREAM_TEXTS; i++)
        memory_free((void *)(uintptr_t)definition->texts[i]);
    memory_free(definition);
}

/* ---- tables and columns ---- */

/* The table with the name KEYSPACE.TABLE, which is the first `size` bytes of `name`. */
static const struct table *table_of(const struct schema *schema, const char *name, size_t size,
                                    struct error *err)
{
    char keyspace[SCHEMA_NAME_MAX + 1];
    char table_name[SCHEMA_NAME_MAX + 1];
    const char *point = memchr(name, '.', size);
    size_t before = point != NULL ? (size_t)(point - name) : 0;
    size_t after = point != NULL ? size - before - 1 : 0;
    if (before == 0 || before > SCHEMA_NAME_MAX || after == 0 || after > SCHEMA_NAME_MAX) {
        error_set(err, ERROR_INVALID,
                  "a table is KEYSPACE.TABLE, such as ad_network.ad_click, not "
                  "'%.*s'",
                  (int)size, name);
        return NULL;
    }
    memcpy(keyspace, name, before);
    keyspace[before] = '\0';
    memcpy(table_name, point + 1, after);
    table_name[after] = '\0';
    const struct table *table = schema_table_named(schema, keyspace, table_name);
    if (table == NULL || (table->flags & TABLE_HIDDEN) != 0) {
        error_set(err, ERROR_INVALID, "there is no table %.*s", (int)size, name);
        return NULL;
    }
    return table;
}

static bool is_text(const struct column *column)
{
    return column->type->kind == TYPE_TEXT || column->type->kind == TYPE_ASCII;
}

static int refuse_type(const struct table *table, const struct column *column, const char *what,
                       const char *wanted, struct error *err)
{
    struct buffer type = {0};
    type_print(column->type, &type);
    int rc =
        error_set(err, ERROR_INVALID, "column %s of %s.%s is the %s and of type %.*s; %s would do",
                  column->name, table->keyspace, table->name, what, (int)type.size,
                  (const char *)type.data, wanted);
    buffer_release(&type);
    return rc;
}

static bool is_time(const struct column *column)
{
    return column->type->kind == TYPE_TIMESTAMP;
}

static bool is_number(const struct column *column)
{
    return column->kind == COLUMN_REGULAR && type_is_number(column->type);
}

static const char number_types[] =
    "a column that is no part of the key, of a type of numbers (decimal, varint, int, bigint, "
    "smallint, tinyint, float, double),";

struct wanted_column {
    enum stream_text text;
    const char *what;
    bool (*is_right)(const struct column *column);
    const char *types; /* for the error message */
};

static int find_columns(const struct stream_definition *definition, const struct table *table,
                        const struct wanted_column *wanted, uint32_t count,
                        const struct column **columns_out, struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const char *name = definition->texts[wanted[i].text];
        columns_out[i] = schema_column_named(table, bytes_text(name));
        if (columns_out[i] == NULL)
            rc =
                error_set(err, ERROR_INVALID, "table %s.%s has no column %s, which is to be the %s",
                          table->keyspace, table->name, name, wanted[i].what);
        else if (!wanted[i].is_right(columns_out[i]))
            rc = refuse_type(table, columns_out[i], wanted[i].what, wanted[i].types, err);
    }
    return rc;
}

static int check_partition(const struct table *table, const struct column *const *columns,
                           uint32_t count, const char *wanted, struct error *err)
{
    bool is_key = table->partition_count == count;
    for (uint32_t i = 0; is_key && i < count; i++)
        is_key = columns[i]->kind == COLUMN_PARTITION && columns[i]->position == i;
    return is_key ? 0
                  : error_set(err, ERROR_INVALID, "the partition key of %s.%s is not %s",
                              table->keyspace, table->name, wanted);
}

static int resolve_clicks(const struct stream_definition *definition, const struct table *table,
                          struct click_stream_clicks *clicks, struct error *err)
{
    static const struct wanted_column wanted[] = {
        {STREAM_RESELLER, "reseller", is_text, "text"},
        {STREAM_DAY, "day", is_text, "text, with days such as 2013-11-28,"},
        {STREAM_TIME, "time", is_time, "timestamp"},
        {STREAM_AD, "ad", is_text, "text"},
        {STREAM_AMOUNT, "amount", is_number, number_types}};
    static const char wanted_key[] =
        "(reseller, day); with PRIMARY KEY ((reseller, day), ...) a partition is one reseller's "
        "day, and a stream can be laid over it";
    const struct column *columns[5];
    int rc = find_columns(definition, table, wanted, 2, columns, err);
    rc = rc == 0 ? check_partition(table, columns, 2, wanted_key, err) : rc;
    rc = rc == 0 ? find_columns(definition, table, &wanted[2], 3, &columns[2], err) : rc;
    if (rc == 0)
        *clicks = (struct click_stream_clicks){.table_id = table->id,
                                               .reseller = columns[0]->id,
                                               .day = columns[1]->id,
                                               .time = columns[2]->id,
                                               .ad = columns[3]->id,
                                               .amount = columns[4]->id};
    return rc;
}

static int resolve_rates(const struct stream_definition *definition, const struct table *table,
                         struct click_stream_rates *rates, struct error *err)
{
    static const struct wanted_column wanted[] = {
        {STREAM_RATES_RESELLER, "reseller of a rate", is_text, "text"},
        {STREAM_RATES_SINCE, "day a rate is in effect from", is_text,
         "text, with days such as 2013-11-01,"},
        {STREAM_RATES_RATE, "rate", is_number, number_types}};
    static const char wanted_key[] = "the reseller alone; PRIMARY KEY (reseller, since) would do";
    const char *unit = definition->texts[STREAM_RATES_UNIT];
    const struct column *columns[3];
    int rc = find_columns(definition, table, wanted, 1, columns, err);
    rc = rc == 0 ? check_partition(table, columns, 1, wanted_key, err) : rc;
    rc = rc == 0 ? find_columns(definition, table, &wanted[1], 1, &columns[1], err) : rc;
    if (rc == 0 && (table->clustering_count != 1 || columns[1]->kind != COLUMN_CLUSTERING))
        rc = error_set(err, ERROR_INVALID,
                       "the key of %s.%s is not the reseller and %s; PRIMARY KEY (%s, %s) would do",
                       table->keyspace, table->name, columns[1]->name, columns[0]->name,
                       columns[1]->name);
    rc = rc == 0 ? find_columns(definition, table, &wanted[2], 1, &columns[2], err) : rc;
    if (rc == 0)
        *rates = (struct click_stream_rates){.table_id = table->id,
                                             .reseller = columns[0]->id,
                                             .since = columns[1]->id,
                                             .rate = columns[2]->id,
                                             .is_percent = strcmp(unit, "percent") == 0};
    return rc;
}

/* ---- counters ---- */

static bool has_name(const struct column *column, const char *name)
{
    return strcmp(column->name, name) == 0 && is_text(column);
}

static int resolve_counter(const struct stream_definition *definition, const struct table *table,
                           struct click_stream_counter *counter, struct error *err)
{
    const char *ad = definition->texts[STREAM_AD];
    const char *reseller = definition->texts[STREAM_RESELLER];
    const char *day = definition->texts[STREAM_DAY];
    const struct column *key = table->columns;
    bool is_one = table->partition_count == 1 && table->clustering_count == 0;
    bool is_two = table->partition_count == 2 && table->clustering_count == 0;
    bool is_day = is_two && has_name(&key[0], reseller) && has_name(&key[1], day);
    bool has_one_counter =
        (table->flags & TABLE_COUNTER) != 0 && table->column_count == table->partition_count + 1;
    if (!has_one_counter ||
        !((is_one && (has_name(&key[0], ad) || has_name(&key[0], reseller))) || is_day))
        return error_set(err, ERROR_INVALID,
                         "%s.%s is no counter table that the stream could keep: one with a single "
                         "counter and the key (%s), (%s) or ((%s, %s)), of texts, would do",
                         table->keyspace, table->name, ad, reseller, reseller, day);
    counter->key = is_day                  ? CLICKS_OF_DAY
                   : has_name(&key[0], ad) ? CLICKS_OF_AD
                                           : CLICKS_OF_RESELLER;
    counter->table_id = table->id;
    counter->column_id = table->columns[table->column_count - 1].id;
    return 0;
}

static int resolve_counters(const struct stream_definition *definition, const struct schema *schema,
                            struct click_stream *stream, struct error *err)
{
    const char *at = definition->texts[STREAM_COUNTERS];
    int rc = 0;
    while (rc == 0 && *at != '\0') {
        size_t size = strcspn(at, ",");
        const struct table *table = table_of(schema, at, size, err);
        if (stream->counter_count == CLICK_STREAM_COUNTERS_MAX)
            return error_set(err, ERROR_LIMIT, "a stream keeps at most %d counter tables",
                             CLICK_STREAM_COUNTERS_MAX);
        rc = table == NULL ? ERROR_INVALID
                           : resolve_counter(definition, table,
                                             &stream->counters[stream->counter_count++], err);
        at += size + (at[size] == ',');
    }
    stream->ignores_clients = strcmp(definition->texts[STREAM_REFUSAL], "ignore") == 0;
    return rc;
}

/* ---- the whole ---- */

static int check_settings(const struct stream_definition *definition, struct error *err)
{
    struct zone *zone;
    const char *name = definition->texts[STREAM_ZONE];
    const char *unit = definition->texts[STREAM_RATES_UNIT];
    if (unit[0] != '\0' && strcmp(unit, "percent") != 0)
        return error_set(err, ERROR_INVALID, "rates are fractions or percent, not '%s'", unit);
    if (name[0] == '\0')
        return 0;
    if (calendar_zone_open(name, &zone, err) < 0)
        return error_set(err, ERROR_INVALID,
                         "'%s' is no time zone of this system; an IANA name such as Europe/Berlin "
                         "is needed",
                         name);
    calendar_zone_close(zone);
    return 0;
}

static const struct table *own_table(const struct stream_definition *definition,
                                     const struct schema *schema, uint32_t number)
{
    char name[SCHEMA_NAME_MAX + 1];
    tables_of_stream_name(definition->name, number, name);
    return schema_table_named(schema, tables_of_stream(number)->keyspace, name);
}

int stream_definition_resolve(const struct stream_definition *definition,
                              const struct schema *schema, struct click_stream *stream_out,
                              struct error *err)
{
    const char *const *texts = definition->texts;
    struct click_stream stream = {
        .name = definition->name, .zone = texts[STREAM_ZONE], .currency = texts[STREAM_CURRENCY]};
    uint32_t *own[ROLLUP_STREAM_TABLES] = {&stream.figures_table_id, &stream.ledger_table_id,
                                           &stream.dirty_table_id};
    const struct table *clicks =
        table_of(schema, texts[STREAM_CLICKS], strlen(texts[STREAM_CLICKS]), err);
    const struct table *rates =
        clicks == NULL ? NULL
                       : table_of(schema, texts[STREAM_RATES], strlen(texts[STREAM_RATES]), err);
    if (clicks == NULL || rates == NULL)
        return ERROR_INVALID;
    if (clicks->default_ttl_s != 0 || rates->default_ttl_s != 0)
        return error_set(err, ERROR_INVALID,
                         "rows of %s expire by themselves, which a stream's cannot; "
                         "default_time_to_live = 0 would do",
                         texts[clicks->default_ttl_s != 0 ? STREAM_CLICKS : STREAM_RATES]);
    int rc = resolve_clicks(definition, clicks, &stream.clicks, err);
    rc = rc == 0 ? resolve_rates(definition, rates, &stream.rates, err) : rc;
    rc = rc == 0 ? resolve_counters(definition, schema, &stream, err) : rc;
    rc = rc == 0 ? check_settings(definition, err) : rc;
    for (uint32_t i = 0; rc == 0 && i < ROLLUP_STREAM_TABLES; i++) {
        const struct table *table = own_table(definition, schema, i);
        if (table == NULL)
            rc = error_set(err, ERROR_NOT_FOUND, "stream %s has lost a table of its own",
                           definition->name);
        else
            *own[i] = table->id;
    }
    if (rc == 0)
        *stream_out = stream;
    return rc;
}

/* ---- making and dropping ---- */

static int check_name(const char *name, struct error *err)
{
    size_t size = strlen(name);
    bool is_right = size > 0 && size <= STREAM_NAME_MAX && name[0] >= 'a' && name[0] <= 'z';
    for (const char *c = name; *c != '\0'; c++)
        is_right &= (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_';
    if (!is_right)
        return error_set(err, ERROR_INVALID,
                         "a stream's name begins with a letter and has up to %d of a-z, 0-9 and _, "
                         "not '%s'",
                         STREAM_NAME_MAX, name);
    if (strcmp(name, click_stream_builtin()->name) == 0)
        return error_set(err, ERROR_INVALID, "the stream %s is built in", name);
    return 0;
}

static int set_flags(struct schema *schema, uint32_t table_id, uint32_t added, uint32_t removed,
                     struct error *err)
{
    const struct table *table = schema_table(schema, table_id);
    return schema_set_table(schema, table_id, table->comment, table->default_ttl_s,
                            (table->flags | added) & ~removed, err);
}

static int claim(struct schema *schema, uint32_t table_id, uint32_t flag, struct error *err)
{
    const struct table *table = schema_table(schema, table_id);
    if ((table->flags & (TABLE_STREAM | TABLE_KEPT)) != 0)
        return error_set(err, ERROR_INVALID, "table %s.%s belongs to a stream already",
                         table->keyspace, table->name);
    return set_flags(schema, table_id, flag, 0, err);
}

int stream_definition_make(const struct stream_definition *definition, struct schema *schema,
                           struct write_batch *batch, struct error *err)
{
    struct column_value values[STREAM_TEXTS + 2];
    struct click_stream stream = {0};
    uint32_t count = 0;
    int rc = check_name(definition->name, err);
    rc = rc == 0 ? tables_add_of_stream(schema, definition->name, err) : rc;
    rc = rc == 0 ? stream_definition_resolve(definition, schema, &stream, err) : rc;
    rc = rc == 0 ? claim(schema, stream.clicks.table_id, TABLE_STREAM, err) : rc;
    rc = rc == 0 ? claim(schema, stream.rates.table_id, TABLE_STREAM, err) : rc;
    for (uint32_t i = 0; rc == 0 && i < stream.counter_count; i++)
        rc = claim(schema, stream.counters[i].table_id, TABLE_KEPT, err);
    if (rc < 0)
        return rc;
    values[count++] = (struct column_value){DEFINED_NAME, false, bytes_text(definition->name)};
    for (uint32_t i = 0; i < STREAM_TEXTS; i++)
        values[count++] = (struct column_value){stream_definition_column(i), false,
                                                bytes_text(definition->texts[i])};
    values[count++] = (struct column_value){DEFINED_UNMARKED, false, STREAM_ALL_UNMARKED};
    write_batch_insert(batch, schema_table(schema, TABLE_DEFINED_STREAM), values, count);
    return 0;
}

int stream_definition_drop(const struct stream_definition *definition, struct schema *schema,
                           struct write_batch *batch, struct error *err)
{
    struct click_stream stream;
    const struct column_value key = {DEFINED_NAME, false, bytes_text(definition->name)};
    int rc = stream_definition_resolve(definition, schema, &stream, err);
    rc = rc == 0 ? set_flags(schema, stream.clicks.table_id, 0, TABLE_STREAM, err) : rc;
    rc = rc == 0 ? set_flags(schema, stream.rates.table_id, 0, TABLE_STREAM, err) : rc;
    for (uint32_t i = 0; rc == 0 && i < stream.counter_count; i++)
        rc = set_flags(schema, stream.counters[i].table_id, 0, TABLE_KEPT, err);
    for (uint32_t i = 0; rc == 0 && i < ROLLUP_STREAM_TABLES; i++)
        rc = schema_drop_table(schema, own_table(definition, schema, i)->id, err);
    if (rc == 0)
        write_batch_delete(batch, schema_table(schema, TABLE_DEFINED_STREAM), &key, 1);
    return rc;
}

void stream_definition_write_unmarked(const char *name, struct bytes unmarked,
                                      const struct schema *schema, struct write_batch *batch)
{
    const struct column_value values[] = {
        {DEFINED_NAME, false, bytes_text(name)},
        {DEFINED_UNMARKED, unmarked.size == 0, unmarked},
    };
    write_batch_insert(batch, schema_table(schema, TABLE_DEFINED_STREAM), values, 2);
}

int stream_definition_read(const struct table *table, const struct page_row *row,
                           struct arena *arena, struct stream_definition *definition_out,
                           struct bytes *unmarked_out, struct error *err)
{
    struct bytes value;
    *unmarked_out = bytes_of(NULL, 0);
    for (uint32_t i = 0; i <= STREAM_TEXTS; i++) {
        uint32_t column_id = i == 0 ? (uint32_t)DEFINED_NAME : stream_definition_column(i - 1);
        bool is_there = store_row_value(table, row, column_id, &value);
        if (!is_there && column_id == DEFINED_RATES_UNIT)
            value = bytes_text("");
        else if (!is_there)
            return error_set(err, ERROR_CORRUPT, "the definition of a stream has no %s",
                             i == 0 ? "name" : text_names[i - 1]);
        if (memchr(value.data, '\0', value.size) != NULL)
            return error_set(err, ERROR_CORRUPT, "the definition of a stream has a zero in its %s",
                             i == 0 ? "name" : text_names[i - 1]);
        char *text = arena_alloc(arena, value.size + 1, 1);
        memcpy(text, value.data, value.size);
        text[value.size] = '\0';
        *(i == 0 ? &definition_out->name : &definition_out->texts[i - 1]) = text;
    }
    if (store_row_value(table, row, DEFINED_UNMARKED, &value))
        *unmarked_out = arena_copy(arena, value);
    return check_name(definition_out->name, NULL) == 0
               ? 0
               : error_set(err, ERROR_CORRUPT, "the definition of a stream has the name '%.*s'",
                           2 * STREAM_NAME_MAX, definition_out->name);
}
