/* tables: the built-in tables that streams and their rollups use.  Tables that DESCRIBE leaves out
 * (TABLE_HIDDEN) are in the keyspace `daybook_system`, all others in `daybook`.
 *
 * Table and column numbers are written to disk and never change. */
#ifndef DAYBOOK_ROLLUP_TABLES_H
#define DAYBOOK_ROLLUP_TABLES_H

#include "storage/schema/schema.h"

enum rollup_table {
    TABLE_AD_CLICK = 1,
    TABLE_RESELLER = 2,
    TABLE_AMOUNT_BY_DAY = 3,
    TABLE_CLICKS_PER_AD = 4,
    TABLE_CLICKS_PER_RESELLER_PER_DAY = 5,     /* never written; read from the figures */
    TABLE_CLICKS_PER_RESELLER = 6,
    TABLE_RESTATEMENT = 7,
    TABLE_CHANGE = 8,
    TABLE_DIRTY_DAY = 20,
    TABLE_VOIDED_CLICK = 23,                   /* voided clicks, for `clicks restore` */
    TABLE_SEALED_DAY = 30,
    TABLE_SEALED_AD = 31,
    TABLE_RETENTION = 32,
    TABLE_DEFINED_STREAM = 33,
    TABLE_CLICKS_BY_HOUR = 34,                 /* never written; read from the clicks */
    TABLE_CLICKS_BY_MINUTE = 35                /* never written; read from the clicks */
};

enum ad_click_column {
    AD_CLICK_RESELLER_ID = 1,
    AD_CLICK_DAY = 2,
    AD_CLICK_TIME = 3,
    AD_CLICK_AD_ID = 4,
    AD_CLICK_CLICK_ID = 5,
    AD_CLICK_AMOUNT = 6,
    AD_CLICK_DAY_DERIVED = 7
};

enum reseller_column { RESELLER_ID = 1, RESELLER_EFFECTIVE_SINCE = 2, RESELLER_REWARD_PERCENT = 3 };

enum amount_by_day_column {
    AMOUNT_RESELLER_ID = 1,
    AMOUNT_DAY = 2,
    AMOUNT_CLICKS = 3,
    AMOUNT_GROSS = 4,
    AMOUNT_RATE = 5,
    AMOUNT_AMOUNT = 6,
    AMOUNT_STATE = 7,
    AMOUNT_DATE = 8                            /* the day as a date; null in rows of older versions,
                                                * absent in tables of older streams */
};

/* Of clicks_by_hour and clicks_by_minute. */
enum clicks_by_time_column {
    BY_TIME_RESELLER_ID = 1,
    BY_TIME_DAY = 2,
    BY_TIME_AT = 3,
    BY_TIME_CLICKS = 4,
    BY_TIME_GROSS = 5
};

/* clicks_per_ad and clicks_per_reseller have COUNTER_KEY and COUNTER_CLICKS;
 * clicks_per_reseller_per_day has COUNTER_KEY (the reseller), COUNTER_DAY and
 * COUNTER_DAY_CLICKS. */
enum counter_column {
    COUNTER_KEY = 1,
    COUNTER_CLICKS = 2,
    COUNTER_DAY = 2,
    COUNTER_DAY_CLICKS = 3
};

enum restatement_column {
    RESTATEMENT_RESELLER_ID = 1,
    RESTATEMENT_DAY = 2,
    RESTATEMENT_AT = 3,
    RESTATEMENT_SEQ = 4,
    RESTATEMENT_CAUSES = 5,
    RESTATEMENT_CHANGES = 6,
    RESTATEMENT_OLD_CLICKS = 7,
    RESTATEMENT_NEW_CLICKS = 8,
    RESTATEMENT_OLD_GROSS = 9,
    RESTATEMENT_NEW_GROSS = 10,
    RESTATEMENT_OLD_RATE = 11,
    RESTATEMENT_NEW_RATE = 12,
    RESTATEMENT_OLD_AMOUNT = 13,
    RESTATEMENT_NEW_AMOUNT = 14
};

enum change_column {
    CHANGE_MONTH = 1,
    CHANGE_ID = 2,
    CHANGE_AT = 3,
    CHANGE_DOOR = 4,
    CHANGE_ACTOR = 5,
    CHANGE_COMMAND = 6,
    CHANGE_NOTE = 7,
    CHANGE_PEER = 8,
    CHANGE_KEYS = 9,                           /* the keys that were changed (change_lines.h) */
    CHANGE_OLD = 10,
    CHANGE_NEW = 11,
    CHANGE_COLUMNS = 11
};

/* Each row is a mark: the cause for which a day is dirty, and the id of the causing row of `change`
 * (null: none).  `until` null: the mark is for `day` alone; empty: for all days from `day` on;
 * else: for the days before `until`. */
enum dirty_day_column {
    DIRTY_RESELLER_ID = 1,
    DIRTY_DAY = 2,
    DIRTY_ID = 3,
    DIRTY_CAUSE = 4,
    DIRTY_CHANGE_ID = 5,
    DIRTY_UNTIL = 6
};

/* The table has the columns of ad_click and, last in the key, the id of the void, because a
 * click_id can be voided more than once. */
enum voided_click_column {
    VOIDED_RESELLER_ID = 1,
    VOIDED_DAY = 2,
    VOIDED_TIME = 3,
    VOIDED_AD_ID = 4,
    VOIDED_CLICK_ID = 5,
    VOIDED_CHANGE_ID = 6,                      /* id in `change` of the void */
    VOIDED_AMOUNT = 7,
    VOIDED_DAY_DERIVED = 8
};

/* Each row is a seal, with the partition key of ad_click.  `stats` is encoded as in a segment's
 * list of partitions (segment_directory.h); `checksum` is a CRC-32C (seal.h). */
enum sealed_day_column {
    SEALED_RESELLER_ID = 1,
    SEALED_DAY = 2,
    SEALED_ID = 3,                             /* id in `change` of the seal */
    SEALED_STATS = 4,
    SEALED_ADS = 5,                            /* number of the seal's rows in sealed_ad */
    SEALED_CHECKSUM = 6
};

enum sealed_ad_column {
    SEALED_AD_RESELLER_ID = 1,
    SEALED_AD_DAY = 2,
    SEALED_AD_AD_ID = 3,
    SEALED_AD_ID = 4,                          /* SEALED_ID of the seal */
    SEALED_AD_CLICKS = 5,
    SEALED_AD_GROSS = 6,
    SEALED_AD_CHECKSUM = 7
};

enum retention_column {
    RETENTION_STREAM = 1,
    RETENTION_KEEP_DAYS = 2,                   /* 0: for ever; null: as many as `daybook init`
                                                * was given */
    RETENTION_SEALED_TO = 3                    /* the last sealed day; null: none */
};

/* Text i of enum stream_text (stream_definition.h) is in column DEFINED_TEXT_FIRST + i, but
 * STREAM_RATES_UNIT is in DEFINED_RATES_UNIT. */
enum defined_stream_column {
    DEFINED_NAME = 1,
    DEFINED_TEXT_FIRST = 2,
    DEFINED_UNMARKED = 16,
    DEFINED_RATES_UNIT = 17                    /* null in rows of older versions */
};

/* Add a built-in table to a schema in which senders give clicks their ids.  `click_id` is the CQL
 * type of the column click_id, such as "uuid".  Tables without clicks are added unchanged. */
must_check int tables_add_keyed(struct schema *schema,
                                      const struct table_definition *definition,
                                      const char *click_id, struct error *err);

/* Add the tables to which the rollup of a user's stream writes, with the names of
 * tables_of_stream_name. */
must_check int tables_add_of_stream(struct schema *schema, const char *stream,
                                        struct error *err);
enum { ROLLUP_STREAM_TABLES = 3 };
/* The built-in table with the columns of table `number`, which is below ROLLUP_STREAM_TABLES. */
const struct table_definition *tables_of_stream(uint32_t number);
void tables_of_stream_name(const char *stream, uint32_t number,
                              char name_out[SCHEMA_NAME_MAX + 1]);

const struct table_definition *const *tables_builtin(uint32_t *count_out);
#endif
