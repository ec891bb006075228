/* tables: the definitions of the built-in tables.
 *
 * Numbers of tables and columns are on disk: none is changed or used again.
 *
 * Each mark of a dirty day has an id, so that the removal of a mark never removes a newer one. */
#include "rollup/tables.h"

#include <stdio.h>

#include "base/error.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static const struct column_definition ad_click_columns[] = {
    {AD_CLICK_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {AD_CLICK_DAY, "day", "text", COLUMN_PARTITION, false},
    {AD_CLICK_TIME, "time", "timestamp", COLUMN_CLUSTERING, true},
    {AD_CLICK_AD_ID, "ad_id", "text", COLUMN_CLUSTERING, false},
    {AD_CLICK_CLICK_ID, "click_id", "bigint", COLUMN_CLUSTERING, false},
    {AD_CLICK_AMOUNT, "amount", "decimal", COLUMN_REGULAR, false},
    {AD_CLICK_DAY_DERIVED, "day_derived", "boolean", COLUMN_REGULAR, false},
};

static const struct column_definition reseller_columns[] = {
    {RESELLER_ID, "id", "text", COLUMN_PARTITION, false},
    {RESELLER_EFFECTIVE_SINCE, "effective_since", "text", COLUMN_CLUSTERING, true},
    {RESELLER_REWARD_PERCENT, "reward_percent", "decimal", COLUMN_REGULAR, false},
};

static const struct column_definition amount_by_day_columns[] = {
    {AMOUNT_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {AMOUNT_DAY, "day", "text", COLUMN_CLUSTERING, true},
    {AMOUNT_CLICKS, "clicks", "bigint", COLUMN_REGULAR, false},
    {AMOUNT_GROSS, "gross", "decimal", COLUMN_REGULAR, false},
    {AMOUNT_RATE, "rate", "decimal", COLUMN_REGULAR, false},
    {AMOUNT_AMOUNT, "amount", "decimal", COLUMN_REGULAR, false},
    {AMOUNT_STATE, "state", "text", COLUMN_REGULAR, false},
    {AMOUNT_DATE, "date", "date", COLUMN_REGULAR, false},
};

static const struct column_definition clicks_by_time_columns[] = {
    {BY_TIME_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {BY_TIME_DAY, "day", "text", COLUMN_PARTITION, false},
    {BY_TIME_AT, "at", "timestamp", COLUMN_CLUSTERING, false},
    {BY_TIME_CLICKS, "clicks", "bigint", COLUMN_REGULAR, false},
    {BY_TIME_GROSS, "gross", "decimal", COLUMN_REGULAR, false},
};

static const struct column_definition clicks_per_ad_columns[] = {
    {COUNTER_KEY, "ad_id", "text", COLUMN_PARTITION, false},
    {COUNTER_CLICKS, "clicks", "counter", COLUMN_REGULAR, false},
};

static const struct column_definition clicks_per_reseller_per_day_columns[] = {
    {COUNTER_KEY, "reseller_id", "text", COLUMN_PARTITION, false},
    {COUNTER_DAY, "day", "text", COLUMN_PARTITION, false},
    {COUNTER_DAY_CLICKS, "clicks", "counter", COLUMN_REGULAR, false},
};

static const struct column_definition clicks_per_reseller_columns[] = {
    {COUNTER_KEY, "reseller_id", "text", COLUMN_PARTITION, false},
    {COUNTER_CLICKS, "clicks", "counter", COLUMN_REGULAR, false},
};

static const struct column_definition restatement_columns[] = {
    {RESTATEMENT_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {RESTATEMENT_DAY, "day", "text", COLUMN_CLUSTERING, false},
    {RESTATEMENT_AT, "at", "timestamp", COLUMN_CLUSTERING, false},
    {RESTATEMENT_SEQ, "seq", "bigint", COLUMN_CLUSTERING, false},
    {RESTATEMENT_CAUSES, "causes", "set<text>", COLUMN_REGULAR, false},
    {RESTATEMENT_CHANGES, "changes", "set<timeuuid>", COLUMN_REGULAR, false},
    {RESTATEMENT_OLD_CLICKS, "old_clicks", "bigint", COLUMN_REGULAR, false},
    {RESTATEMENT_NEW_CLICKS, "new_clicks", "bigint", COLUMN_REGULAR, false},
    {RESTATEMENT_OLD_GROSS, "old_gross", "decimal", COLUMN_REGULAR, false},
    {RESTATEMENT_NEW_GROSS, "new_gross", "decimal", COLUMN_REGULAR, false},
    {RESTATEMENT_OLD_RATE, "old_rate", "decimal", COLUMN_REGULAR, false},
    {RESTATEMENT_NEW_RATE, "new_rate", "decimal", COLUMN_REGULAR, false},
    {RESTATEMENT_OLD_AMOUNT, "old_amount", "decimal", COLUMN_REGULAR, false},
    {RESTATEMENT_NEW_AMOUNT, "new_amount", "decimal", COLUMN_REGULAR, false},
};

static const struct column_definition change_columns[] = {
    {CHANGE_MONTH, "month", "text", COLUMN_PARTITION, false},
    {CHANGE_ID, "id", "timeuuid", COLUMN_CLUSTERING, false},
    {CHANGE_AT, "at", "timestamp", COLUMN_REGULAR, false},
    {CHANGE_DOOR, "door", "text", COLUMN_REGULAR, false},
    {CHANGE_ACTOR, "actor", "text", COLUMN_REGULAR, false},
    {CHANGE_COMMAND, "command", "text", COLUMN_REGULAR, false},
    {CHANGE_NOTE, "note", "text", COLUMN_REGULAR, false},
    {CHANGE_PEER, "peer", "text", COLUMN_REGULAR, false},
    {CHANGE_KEYS, "keys", "text", COLUMN_REGULAR, false},
    {CHANGE_OLD, "old", "text", COLUMN_REGULAR, false},
    {CHANGE_NEW, "new", "text", COLUMN_REGULAR, false},
};

static const struct column_definition dirty_day_columns[] = {
    {DIRTY_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {DIRTY_DAY, "day", "text", COLUMN_CLUSTERING, false},
    {DIRTY_ID, "id", "timeuuid", COLUMN_CLUSTERING, false},
    {DIRTY_CAUSE, "cause", "text", COLUMN_REGULAR, false},
    {DIRTY_CHANGE_ID, "change_id", "timeuuid", COLUMN_REGULAR, false},
    {DIRTY_UNTIL, "until", "text", COLUMN_REGULAR, false},
};

static const struct column_definition voided_click_columns[] = {
    {VOIDED_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {VOIDED_DAY, "day", "text", COLUMN_PARTITION, false},
    {VOIDED_TIME, "time", "timestamp", COLUMN_CLUSTERING, true},
    {VOIDED_AD_ID, "ad_id", "text", COLUMN_CLUSTERING, false},
    {VOIDED_CLICK_ID, "click_id", "bigint", COLUMN_CLUSTERING, false},
    {VOIDED_CHANGE_ID, "change_id", "timeuuid", COLUMN_CLUSTERING, false},
    {VOIDED_AMOUNT, "amount", "decimal", COLUMN_REGULAR, false},
    {VOIDED_DAY_DERIVED, "day_derived", "boolean", COLUMN_REGULAR, false},
};

static const struct column_definition sealed_day_columns[] = {
    {SEALED_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {SEALED_DAY, "day", "text", COLUMN_PARTITION, false},
    {SEALED_ID, "id", "timeuuid", COLUMN_CLUSTERING, false},
    {SEALED_STATS, "stats", "blob", COLUMN_REGULAR, false},
    {SEALED_ADS, "ads", "bigint", COLUMN_REGULAR, false},
    {SEALED_CHECKSUM, "checksum", "bigint", COLUMN_REGULAR, false},
};

static const struct column_definition sealed_ad_columns[] = {
    {SEALED_AD_RESELLER_ID, "reseller_id", "text", COLUMN_PARTITION, false},
    {SEALED_AD_DAY, "day", "text", COLUMN_PARTITION, false},
    {SEALED_AD_AD_ID, "ad_id", "text", COLUMN_CLUSTERING, false},
    {SEALED_AD_ID, "id", "timeuuid", COLUMN_CLUSTERING, false},
    {SEALED_AD_CLICKS, "clicks", "bigint", COLUMN_REGULAR, false},
    {SEALED_AD_GROSS, "gross", "decimal", COLUMN_REGULAR, false},
    {SEALED_AD_CHECKSUM, "checksum", "bigint", COLUMN_REGULAR, false},
};

static const struct column_definition retention_columns[] = {
    {RETENTION_STREAM, "stream", "text", COLUMN_PARTITION, false},
    {RETENTION_KEEP_DAYS, "keep_days", "bigint", COLUMN_REGULAR, false},
    {RETENTION_SEALED_TO, "sealed_to", "text", COLUMN_REGULAR, false},
};

static const struct column_definition defined_stream_columns[] = {
    {DEFINED_NAME, "name", "text", COLUMN_PARTITION, false},
    {DEFINED_TEXT_FIRST, "clicks", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 1, "reseller", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 2, "day", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 3, "time", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 4, "ad", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 5, "amount", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 6, "rates", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 7, "rates_reseller", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 8, "rates_since", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 9, "rates_rate", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 10, "counters", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 11, "refusal", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 12, "zone", "text", COLUMN_REGULAR, false},
    {DEFINED_TEXT_FIRST + 13, "currency", "text", COLUMN_REGULAR, false},
    {DEFINED_UNMARKED, "unmarked", "blob", COLUMN_REGULAR, false},
    {DEFINED_RATES_UNIT, "rates_unit", "text", COLUMN_REGULAR, false},
};

#define DEFINITION(id, keyspace, name, comment, flags, columns)                                    \
    &(const struct table_definition)                                                               \
    {                                                                                              \
        id, keyspace, name, comment, flags, columns, COUNT_OF(columns)                             \
    }

static const struct table_definition *const tables[] = {
    DEFINITION(TABLE_AD_CLICK, "daybook", "ad_click", "Every click once, as it was accepted.",
               TABLE_OF_EVENTS | TABLE_STREAM, ad_click_columns),
    DEFINITION(TABLE_RESELLER, "daybook", "reseller",
               "The share of a click's amount a reseller earns, from a day on.", TABLE_STREAM,
               reseller_columns),
    DEFINITION(TABLE_AMOUNT_BY_DAY, "daybook", "amount_by_day",
               "Clicks, gross and amount of every reseller and day, kept by daybook.", TABLE_KEPT,
               amount_by_day_columns),
    DEFINITION(TABLE_CLICKS_PER_AD, "daybook", "clicks_per_ad", "Kept by daybook from ad_click.",
               TABLE_COUNTER | TABLE_KEPT, clicks_per_ad_columns),
    DEFINITION(TABLE_CLICKS_PER_RESELLER_PER_DAY, "daybook", "clicks_per_reseller_per_day",
               "Kept by daybook from ad_click.", TABLE_COUNTER | TABLE_KEPT,
               clicks_per_reseller_per_day_columns),
    DEFINITION(TABLE_CLICKS_PER_RESELLER, "daybook", "clicks_per_reseller",
               "Kept by daybook from ad_click.", TABLE_COUNTER | TABLE_KEPT,
               clicks_per_reseller_columns),
    DEFINITION(TABLE_RESTATEMENT, "daybook", "restatement",
               "The ledger: publication of a day, and every later change of its figure.",
               TABLE_KEPT, restatement_columns),
    DEFINITION(TABLE_CHANGE, "daybook", "change", "Who changed clicks or rates, when, and how.",
               TABLE_KEPT, change_columns),
    DEFINITION(TABLE_DIRTY_DAY, "daybook_system", "dirty_day",
               "Days whose figure or ledger is owed something, and why.", TABLE_KEPT | TABLE_HIDDEN,
               dirty_day_columns),
    DEFINITION(TABLE_VOIDED_CLICK, "daybook_system", "voided_click",
               "Clicks that were voided, as they were.", TABLE_KEPT | TABLE_HIDDEN,
               voided_click_columns),
    DEFINITION(TABLE_SEALED_DAY, "daybook_system", "sealed_day",
               "What is kept of days whose clicks have expired.", TABLE_KEPT | TABLE_HIDDEN,
               sealed_day_columns),
    DEFINITION(TABLE_SEALED_AD, "daybook_system", "sealed_ad",
               "Clicks and gross of each ad on such a day.", TABLE_KEPT | TABLE_HIDDEN,
               sealed_ad_columns),
    DEFINITION(TABLE_RETENTION, "daybook_system", "retention",
               "How long clicks are kept, and up to which day they have expired.",
               TABLE_KEPT | TABLE_HIDDEN, retention_columns),
    DEFINITION(TABLE_DEFINED_STREAM, "daybook_system", "stream",
               "Streams over tables of the users' own.", TABLE_KEPT | TABLE_HIDDEN,
               defined_stream_columns),
    DEFINITION(TABLE_CLICKS_BY_HOUR, "daybook", "clicks_by_hour",
               "Clicks and gross of every reseller, day and hour, from ad_click.", TABLE_KEPT,
               clicks_by_time_columns),
    DEFINITION(TABLE_CLICKS_BY_MINUTE, "daybook", "clicks_by_minute",
               "Clicks and gross of every reseller, day and minute, from ad_click.", TABLE_KEPT,
               clicks_by_time_columns),
};

const struct table_definition *const *tables_builtin(uint32_t *count_out)
{
    *count_out = COUNT_OF(tables);
    return tables;
}

int tables_add_keyed(struct schema *schema, const struct table_definition *definition,
                     const char *click_id, struct error *err)
{
    struct column_definition columns[VOIDED_DAY_DERIVED];
    struct table_definition keyed = *definition;
    if (definition->id != TABLE_AD_CLICK && definition->id != TABLE_VOIDED_CLICK)
        return schema_add_table(schema, definition, err);
    for (uint32_t i = 0; i < definition->column_count; i++) {
        columns[i] = definition->columns[i];
        if (columns[i].id == (definition->id == TABLE_AD_CLICK ? (uint32_t)AD_CLICK_CLICK_ID
                                                               : (uint32_t)VOIDED_CLICK_ID))
            columns[i].type = click_id;
    }
    keyed.flags &= ~(uint32_t)TABLE_OF_EVENTS;
    keyed.columns = columns;
    return schema_add_table(schema, &keyed, err);
}

static const struct {
    uint32_t like;
    const char *suffix;
} stream_tables[ROLLUP_STREAM_TABLES] = {{TABLE_AMOUNT_BY_DAY, "by_day"},
                                         {TABLE_RESTATEMENT, "restatement"},
                                         {TABLE_DIRTY_DAY, "dirty_day"}};

const struct table_definition *tables_of_stream(uint32_t number)
{
    check(number < ROLLUP_STREAM_TABLES);
    const struct table_definition *const *table = tables;
    while ((*table)->id != stream_tables[number].like)
        table++;
    return *table;
}

void tables_of_stream_name(const char *stream, uint32_t number, char name_out[SCHEMA_NAME_MAX + 1])
{
    check(number < ROLLUP_STREAM_TABLES);
    int length =
        snprintf(name_out, SCHEMA_NAME_MAX + 1, "%s_%s", stream, stream_tables[number].suffix);
    check(length > 0 && length <= SCHEMA_NAME_MAX);
}

int tables_add_of_stream(struct schema *schema, const char *stream, struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < ROLLUP_STREAM_TABLES; i++) {
        char name[SCHEMA_NAME_MAX + 1];
        struct table_definition own = *tables_of_stream(i);
        tables_of_stream_name(stream, i, name);
        own.id = 0;
        own.name = name;
        rc = schema_add_table(schema, &own, err);
    }
    return rc;
}
