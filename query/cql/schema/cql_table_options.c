/* The options of a table, checked and spelled as Cassandra 5.0.9 does.
 *
 * What decides correctness: what is kept is what DESCRIBE of Cassandra would show, so that a dump
 * can be played to either; what Cassandra refuses is refused in its words and with its code, even
 * where daybook has no use for the option.  A form that cannot be read is a syntax error, a value
 * that may not be an error of configuration.
 *
 *   caching = {'keys': 'none'}       {'keys': 'NONE', 'rows_per_partition': 'NONE'}
 *   speculative_retry = '99PERCENTILE'   '99p' */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "query/cql/expression/cql_json.h"
#include "query/cql/schema/cql_schema_options.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

enum { TTL_MAX_S = 630720000, PAIRS_MAX = 64, INDEX_INTERVAL_MIN = 128, INDEX_INTERVAL_MAX = 2048 };

#define STRATEGIES  "org.apache.cassandra.db.compaction."
#define COMPRESSORS "org.apache.cassandra.io.compress."

/* An option being read: its value goes to `value`, as CQL spells it. */
struct option_reader {
    struct cql_execution *execution;
    const struct cql_property *property;
    const char *name;
    const char *text;  /* of a value that is no map */
    bool checks_range; /* which Cassandra does once it knows the table */
    struct buffer value;
};

#define CONFIG(reader, ...) cql_refuse(&(reader)->execution->fault, CQL_CONFIG_ERROR, __VA_ARGS__)

/* ---- single values ---- */

static int read_boolean(struct option_reader *reader)
{
    static const char *const words[] = {"1", "true", "yes", "0", "false", "no"};
    for (size_t i = 0; i < 6; i++) {
        if (strcasecmp(reader->text, words[i]) == 0) {
            buffer_append_text(&reader->value, i < 3 ? "true" : "false");
            return 0;
        }
    }
    return cql_refuse(&reader->execution->fault, CQL_SYNTAX_ERROR,
                      "Invalid boolean value %s for '%s'. Positive values can be '1', 'true' or "
                      "'yes'. Negative values can be '0', 'false' or 'no'.",
                      reader->text, reader->name);
}

static int parse_integer(struct option_reader *reader, int32_t *number_out)
{
    char *end;
    long number = strtol(reader->text, &end, 10);
    *number_out = (int32_t)number;
    return end != reader->text && *end == '\0' && number >= INT32_MIN && number <= INT32_MAX
               ? 0
               : cql_refuse(&reader->execution->fault, CQL_SYNTAX_ERROR,
                            "Invalid integer value %s for '%s'", reader->text, reader->name);
}

static int read_integer_from(struct option_reader *reader, int32_t min)
{
    int32_t number;
    int rc = parse_integer(reader, &number);
    if (rc == 0 && reader->checks_range && number < min) {
        rc = CONFIG(reader, "%s must be greater than or equal to %d (got %d)", reader->name, min,
                    number);
    }
    buffer_printf(&reader->value, "%d", number);
    return rc;
}

static int read_count(struct option_reader *reader)
{
    return read_integer_from(reader, 0);
}

static int read_interval(struct option_reader *reader)
{
    return read_integer_from(reader, strcmp(reader->name, "min_index_interval") == 0 ? 1 : 0);
}

static int read_chance(struct option_reader *reader)
{
    bool is_bloom = reader->name[0] == 'b';
    char *end;
    double number = strtod(reader->text, &end);
    struct buffer value = {.arena = reader->execution->arena};
    uint64_t bits;
    if (end == reader->text || *end != '\0') {
        return cql_refuse(&reader->execution->fault, CQL_SYNTAX_ERROR,
                          "Invalid double value %s for '%s'", reader->text, reader->name);
    }
    memcpy(&bits, &number, sizeof(bits));
    buffer_put_u64_be(&value, bits);
    cql_json_format(type_builtin(TYPE_DOUBLE), buffer_view(&value), &reader->value);
    bool fits = !reader->checks_range;
    fits = fits || (number <= 1.0 && (is_bloom ? number > 6.71e-5 : number >= 0.0));
    return fits
               ? 0
               : CONFIG(reader,
                        is_bloom ? "%s must be larger than 6.71E-5 and less than or equal to 1.0 "
                                   "(got %.*s)"
                                 : "%s must be larger than or equal to 0 and smaller than or equal "
                                   "to 1.0 (got %.*s)",
                        reader->name, CQL_SHOW(buffer_view(&reader->value)));
}

static int read_memtable(struct option_reader *reader)
{
    if (strcmp(reader->text, "default") != 0)
        return CONFIG(reader, "Memtable configuration \"%s\" not found.", reader->text);
    buffer_append_text(&reader->value, "'default'");
    return 0;
}

static int read_read_repair(struct option_reader *reader)
{
    bool is_none = strcasecmp(reader->text, "NONE") == 0;
    if (!is_none && strcasecmp(reader->text, "BLOCKING") != 0)
        return CONFIG(reader, "Invalid value %s for option 'read_repair'", reader->text);
    buffer_append_text(&reader->value, is_none ? "'NONE'" : "'BLOCKING'");
    return 0;
}

/* ---- when another replica is asked too ---- */

static int retry_refused(struct option_reader *reader)
{
    return CONFIG(reader, "Invalid value %s for option 'speculative_retry'", reader->text);
}

/* 99p, 99.9percentile or 50ms; what is left of the text is NULL where it is none. */
static const char *put_retry(struct option_reader *reader, const char *text, bool *is_beyond)
{
    static const char *const units[] = {"percentile", "p", "ms"};
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < 3 && end != text && text[0] >= '0' && text[0] <= '9'; i++) {
        size_t size = strlen(units[i]);
        if (strncasecmp(end, units[i], size) == 0) {
            *is_beyond |= i < 2 && (number <= 0.0 || number >= 100.0);
            buffer_printf(&reader->value, "%.*s%s", (int)(end - text), text, i < 2 ? "p" : "ms");
            return end + size;
        }
    }
    return NULL;
}

static const char *put_retry_pair(struct option_reader *reader, bool *is_beyond)
{
    const char *rest = reader->text + 4;
    buffer_append_text(&reader->value, strncasecmp(reader->text, "MIN(", 4) == 0 ? "MIN(" : "MAX(");
    rest = put_retry(reader, rest, is_beyond);
    if (rest == NULL || *rest != ',')
        return NULL;
    buffer_put_u8(&reader->value, ',');
    rest = put_retry(reader, rest + 1, is_beyond);
    buffer_put_u8(&reader->value, ')');
    return rest != NULL && *rest == ')' ? rest + 1 : NULL;
}

static int read_retry(struct option_reader *reader)
{
    bool is_never = strcasecmp(reader->text, "NEVER") == 0 || strcasecmp(reader->text, "NONE") == 0;
    bool is_pair =
        strncasecmp(reader->text, "MIN(", 4) == 0 || strncasecmp(reader->text, "MAX(", 4) == 0;
    bool is_beyond = false;
    if (is_never || strcasecmp(reader->text, "ALWAYS") == 0) {
        buffer_append_text(&reader->value, is_never ? "'NEVER'" : "'ALWAYS'");
        return 0;
    }
    buffer_put_u8(&reader->value, '\'');
    const char *rest =
        is_pair ? put_retry_pair(reader, &is_beyond) : put_retry(reader, reader->text, &is_beyond);
    buffer_put_u8(&reader->value, '\'');
    if (rest == NULL || *rest != '\0')
        return retry_refused(reader);
    return is_beyond ? CONFIG(reader,
                              "Invalid value %s for PERCENTILE option 'speculative_retry': must be "
                              "between (0.0 and 100.0)",
                              reader->text)
                     : 0;
}

/* ---- maps ---- */

struct pair {
    const char *key;
    const char *value;
};

struct pairs {
    struct pair items[PAIRS_MAX];
    uint32_t count;
};

static const char *pairs_get(const struct pairs *pairs, const char *key)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].key, key) == 0)
            return pairs->items[i].value;
    return NULL;
}

static void pairs_set(struct pairs *pairs, const char *key, const char *value)
{
    uint32_t place = 0;
    while (place < pairs->count && strcmp(pairs->items[place].key, key) != 0)
        place++;
    if (place == PAIRS_MAX)
        return;
    pairs->count += place == pairs->count ? 1 : 0;
    pairs->items[place] = (struct pair){key, value};
}

static int order_pairs(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

static int pairs_read(struct option_reader *reader, struct pairs *pairs)
{
    const struct cql_term *key = reader->property->value->arguments;
    pairs->count = 0;
    for (; key != NULL; key = key->next->next) {
        if (pairs->count == PAIRS_MAX)
            return CONFIG(reader, "over %d sub-options of '%s'", PAIRS_MAX, reader->name);
        pairs_set(pairs, cql_text(reader->execution->arena, key->text),
                  cql_text(reader->execution->arena, key->next->text));
    }
    return 0;
}

/* In the order of their keys. */
static void pairs_put(struct option_reader *reader, struct pairs *pairs)
{
    qsort(pairs->items, pairs->count, sizeof(pairs->items[0]), order_pairs);
    buffer_put_u8(&reader->value, '{');
    for (uint32_t i = 0; i < pairs->count; i++) {
        buffer_append_text(&reader->value, i == 0 ? "" : ", ");
        buffer_append_quoted(&reader->value, bytes_text(pairs->items[i].key), '\'');
        buffer_append_text(&reader->value, ": ");
        buffer_append_quoted(&reader->value, bytes_text(pairs->items[i].value), '\'');
    }
    buffer_put_u8(&reader->value, '}');
}

/* Whether a name is in a list that ends with NULL. */
static bool is_in(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* The first key that none of the lists has. */
static const char *pairs_unknown(const struct pairs *pairs, const char *const *const *lists,
                                 size_t count)
{
    for (uint32_t i = 0; i < pairs->count; i++) {
        bool is_known = false;
        for (size_t list = 0; list < count && !is_known; list++)
            is_known = is_in(pairs->items[i].key, lists[list]);
        if (!is_known)
            return pairs->items[i].key;
    }
    return NULL;
}

static bool is_number(const char *text)
{
    char *end;
    (void)strtol(text, &end, 10);
    return end != text && *end == '\0';
}

static const char *upper(struct cql_execution *execution, const char *text)
{
    char *copy = arena_alloc(execution->arena, strlen(text) + 1, 1);
    size_t i = 0;
    for (; text[i] != '\0'; i++)
        copy[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
    copy[i] = '\0';
    return copy;
}

static int read_caching(struct option_reader *reader)
{
    static const char *const known[] = {"keys", "rows_per_partition", NULL};
    static const char *const *const lists[] = {known};
    struct pairs pairs;
    int rc = pairs_read(reader, &pairs);
    if (rc != 0)
        return rc;
    const char *unknown = pairs_unknown(&pairs, lists, 1);
    if (unknown != NULL) {
        return CONFIG(reader,
                      "Invalid caching sub-options [%s]: only 'keys' and 'rows_per_partition' are "
                      "allowed",
                      unknown);
    }
    const char *keys = pairs_get(&pairs, "keys");
    const char *rows = pairs_get(&pairs, "rows_per_partition");
    const char *shown_keys = keys == NULL ? "NONE" : upper(reader->execution, keys);
    const char *shown_rows = rows == NULL ? "NONE" : upper(reader->execution, rows);
    if (strcmp(shown_keys, "ALL") != 0 && strcmp(shown_keys, "NONE") != 0) {
        return CONFIG(reader,
                      "Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are "
                      "allowed",
                      keys);
    }
    if (strcmp(shown_rows, "ALL") != 0 && strcmp(shown_rows, "NONE") != 0 &&
        !is_number(shown_rows)) {
        return CONFIG(reader,
                      "Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', "
                      "'NONE', and integer values are allowed",
                      rows);
    }
    pairs_set(&pairs, "keys", shown_keys);
    pairs_set(&pairs, "rows_per_partition", shown_rows);
    pairs_put(reader, &pairs);
    return 0;
}

/* A class by its own name or with its package; NULL when there is none. */
static const char *class_named(const char *text, const char *package, const char *const *names)
{
    size_t size = strlen(package);
    text += strncmp(text, package, size) == 0 ? size : 0;
    while (*names != NULL && strcmp(*names, text) != 0)
        names++;
    return *names;
}

static const char *class_text(struct cql_execution *execution, const char *package,
                              const char *name)
{
    struct buffer text = {.arena = execution->arena};
    buffer_printf(&text, "%s%s", package, name);
    return cql_text(execution->arena, buffer_view(&text));
}

/* The text of a class that is not there, with the package that is looked into. */
static const char *class_sought(struct cql_execution *execution, const char *package,
                                const char *text)
{
    return strchr(text, '.') == NULL ? class_text(execution, package, text) : text;
}

/* The thresholds of tiers; those that are not given are 4 and 32. */
static int check_thresholds(struct option_reader *reader, struct pairs *pairs)
{
    static const char *const names[] = {"min_threshold", "max_threshold"};
    static const char *const defaults[] = {"4", "32"};
    for (size_t i = 0; i < 2; i++) {
        const char *value = pairs_get(pairs, names[i]);
        if (value == NULL) {
            pairs_set(pairs, names[i], defaults[i]);
        } else if (!is_number(value)) {
            return CONFIG(reader,
                          "Invalid value %s for '%s' compaction sub-option - must be an integer",
                          value, names[i]);
        }
    }
    const char *min = pairs_get(pairs, names[0]);
    const char *max = pairs_get(pairs, names[1]);
    return strtol(min, NULL, 10) <= strtol(max, NULL, 10)
               ? 0
               : CONFIG(reader,
                        "Min compaction threshold (got %s) cannot be greater than max compaction "
                        "threshold (got %s)",
                        min, max);
}

static int read_compaction(struct option_reader *reader)
{
    static const char *const strategies[] = {
        "SizeTieredCompactionStrategy", "LeveledCompactionStrategy", "TimeWindowCompactionStrategy",
        "UnifiedCompactionStrategy", NULL};
    static const char *const common[] = {"class",
                                         "enabled",
                                         "tombstone_threshold",
                                         "tombstone_compaction_interval",
                                         "unchecked_tombstone_compaction",
                                         "only_purge_repaired_tombstones",
                                         "provide_overlapping_tombstones",
                                         "log_all",
                                         NULL};
    static const char *const tiered[] = {"min_threshold", "max_threshold", "min_sstable_size",
                                         "bucket_low",    "bucket_high",   NULL};
    static const char *const leveled[] = {"sstable_size_in_mb", "fanout_size",
                                          "single_sstable_uplevel", NULL};
    static const char *const windows[] = {"compaction_window_unit",
                                          "compaction_window_size",
                                          "timestamp_resolution",
                                          "expired_sstable_check_frequency_seconds",
                                          "unsafe_aggressive_sstable_expiration",
                                          NULL};
    static const char *const unified[] = {"scaling_parameters",
                                          "min_sstable_size",
                                          "target_sstable_size",
                                          "flush_size_override",
                                          "base_shard_count",
                                          "max_sstables_to_compact",
                                          "expired_sstable_check_frequency_seconds",
                                          "unsafe_aggressive_sstable_expiration",
                                          "overlap_inclusion_method",
                                          "sstable_growth",
                                          "parallelize_output_shards",
                                          NULL};
    static const char *const none[] = {NULL};
    struct pairs pairs;
    int rc = pairs_read(reader, &pairs);
    const char *class = rc == 0 ? pairs_get(&pairs, "class") : NULL;
    if (rc == 0 && class == NULL)
        rc = CONFIG(reader, "Missing sub-option 'class' for the 'compaction' option");
    if (rc != 0)
        return rc;
    const char *name = class_named(class, STRATEGIES, strategies);
    if (name == NULL) {
        return CONFIG(reader, "Unable to find compaction strategy class '%s'",
                      class_sought(reader->execution, STRATEGIES, class));
    }
    bool is_unified = name[0] == 'U';
    const char *const *const lists[] = {common, is_unified ? unified : tiered,
                                        name[0] == 'L'   ? leveled
                                        : name[0] == 'T' ? windows
                                                         : none};
    rc = is_unified ? 0 : check_thresholds(reader, &pairs);
    const char *unknown = rc == 0 ? pairs_unknown(&pairs, lists, 3) : NULL;
    if (unknown != NULL)
        return CONFIG(reader, "Properties specified [%s] are not understood by %s", unknown, name);
    const char *size = pairs_get(&pairs, "sstable_size_in_mb");
    if (rc == 0 && size != NULL && strtol(size, NULL, 10) < 1)
        return CONFIG(reader, "sstable_size_in_mb must be larger than 0, but was %s", size);
    pairs_set(&pairs, "class", class_text(reader->execution, STRATEGIES, name));
    pairs_put(reader, &pairs);
    return rc;
}

static int check_chunk(struct option_reader *reader, struct pairs *pairs)
{
    const char *chunk = pairs_get(pairs, "chunk_length_in_kb");
    long kib = chunk == NULL ? 16 : strtol(chunk, NULL, 10);
    if (chunk != NULL && !is_number(chunk))
        return CONFIG(reader, "Invalid value for chunk_length_in_kb");
    if (kib <= 0 || (kib & (kib - 1)) != 0)
        return CONFIG(reader, "chunk_length_in_kb must be a power of 2");
    pairs_set(pairs, "chunk_length_in_kb", chunk == NULL ? "16" : chunk);
    return 0;
}

static int read_compression(struct option_reader *reader)
{
    static const char *const compressors[] = {"LZ4Compressor",  "SnappyCompressor",
                                              "ZstdCompressor", "DeflateCompressor",
                                              "NoopCompressor", NULL};
    static const char *const known[] = {"class",
                                        "enabled",
                                        "chunk_length_in_kb",
                                        "min_compress_ratio",
                                        "max_compressed_length",
                                        "compression_level",
                                        "lz4_compressor_type",
                                        "lz4_high_compressor_level",
                                        NULL};
    static const char *const *const lists[] = {known};
    struct pairs pairs;
    int rc = pairs_read(reader, &pairs);
    if (rc != 0)
        return rc;
    const char *enabled = pairs_get(&pairs, "enabled");
    const char *class = pairs_get(&pairs, "class");
    if (pairs.count == 0 || (enabled != NULL && strcasecmp(enabled, "false") == 0)) {
        buffer_append_text(&reader->value, "{'enabled': 'false'}");
        return 0;
    }
    if (class == NULL)
        return CONFIG(reader, "Missing sub-option 'class' for the 'compression' option.");
    const char *name = class_named(class, COMPRESSORS, compressors);
    if (name == NULL) {
        return CONFIG(reader, "Could not create Compression for type %s",
                      class_sought(reader->execution, COMPRESSORS, class));
    }
    const char *unknown = pairs_unknown(&pairs, lists, 1);
    if (unknown != NULL)
        return CONFIG(reader, "Unknown compression options %s", unknown);
    rc = check_chunk(reader, &pairs);
    pairs_set(&pairs, "class", class_text(reader->execution, COMPRESSORS, name));
    pairs_put(reader, &pairs);
    return rc;
}

/* Cassandra takes extensions from its own code only. */
static int read_extensions(struct option_reader *reader)
{
    buffer_append_text(&reader->value, "{}");
    return 0;
}

/* ---- all of them ---- */

static const struct option_rule {
    const char *name;
    bool is_map;
    int (*read)(struct option_reader *reader);
} rules[] = {
    {"additional_write_policy", false, read_retry},
    {"allow_auto_snapshot", false, read_boolean},
    {"bloom_filter_fp_chance", false, read_chance},
    {"caching", true, read_caching},
    {"cdc", false, read_boolean},
    {"compaction", true, read_compaction},
    {"compression", true, read_compression},
    {"crc_check_chance", false, read_chance},
    {"extensions", true, read_extensions},
    {"gc_grace_seconds", false, read_count},
    {"incremental_backups", false, read_boolean},
    {"max_index_interval", false, read_interval},
    {"memtable", false, read_memtable},
    {"memtable_flush_period_in_ms", false, read_count},
    {"min_index_interval", false, read_interval},
    {"read_repair", false, read_read_repair},
    {"speculative_retry", false, read_retry},
};

static const struct option_rule *rule_of(struct bytes name)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (bytes_equal(name, bytes_text(rules[i].name)))
            return &rules[i];
    return NULL;
}

static bool is_named(const struct cql_property *property, const char *name)
{
    return bytes_equal(property->name, bytes_text(name));
}

/* The value of an option that is kept, in the execution's arena. */
static int read_option(struct cql_execution *execution, const struct option_rule *rule,
                       const struct cql_property *property, bool checks_range,
                       const char **value_out)
{
    struct option_reader reader = {.execution = execution,
                                   .value = {.arena = execution->arena},
                                   .property = property,
                                   .name = rule->name,
                                   .text = cql_text(execution->arena, property->value->text),
                                   .checks_range = checks_range};
    bool is_map = property->value->kind == CQL_TERM_MAP;
    if (is_map != rule->is_map) {
        return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR,
                          rule->is_map ? "Invalid value for property '%s'. It should be a map."
                                       : "Invalid value for property '%s'. It should be a string",
                          rule->name);
    }
    int rc = rule->read(&reader);
    *value_out = cql_text(execution->arena, buffer_view(&reader.value));
    buffer_release(&reader.value);
    return rc;
}

static int read_ttl(struct cql_execution *execution, const struct cql_property *property,
                    bool checks_range, int32_t *ttl_s_out)
{
    struct option_reader reader = {.execution = execution,
                                   .value = {.arena = execution->arena},
                                   .name = "default_time_to_live",
                                   .text = cql_text(execution->arena, property->value->text)};
    int rc = parse_integer(&reader, ttl_s_out);
    if (rc == 0 && checks_range && *ttl_s_out < 0) {
        return CONFIG(&reader, "default_time_to_live must be greater than or equal to 0 (got %s)",
                      reader.text);
    }
    if (rc == 0 && checks_range && *ttl_s_out > TTL_MAX_S) {
        return CONFIG(&reader, "default_time_to_live must be less than or equal to %d (got %s)",
                      TTL_MAX_S, reader.text);
    }
    return rc;
}

static int check_id(struct cql_execution *execution, const struct cql_property *property,
                    bool is_new)
{
    struct buffer id = {.arena = execution->arena};
    int rc = type_parse_text(type_builtin(TYPE_UUID), property->value->text, &id, NULL);
    if (rc != 0)
        return cql_refuse(&execution->fault, CQL_CONFIG_ERROR, "Invalid table id");
    return is_new ? 0 : cql_refuse(&execution->fault, CQL_CONFIG_ERROR, "Cannot alter table id.");
}

/* Of older Cassandras. */
static bool is_obsolete(const struct cql_property *property)
{
    return is_named(property, "read_repair_chance") ||
           is_named(property, "dclocal_read_repair_chance");
}

static int check_one(struct cql_execution *execution, const struct cql_property *property)
{
    const struct option_rule *rule = rule_of(property->name);
    const char *value;
    int32_t ttl_s;
    if (is_named(property, "comment")) {
        return property->value->kind != CQL_TERM_MAP
                   ? 0
                   : cql_refuse(&execution->fault, CQL_SYNTAX_ERROR,
                                "Invalid value for property 'comment'. It should be a string");
    }
    if (is_named(property, "default_time_to_live"))
        return read_ttl(execution, property, false, &ttl_s);
    if (is_named(property, "id") || is_obsolete(property))
        return 0;
    if (rule == NULL) {
        return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR, "Unknown property '%.*s'",
                          CQL_SHOW(property->name));
    }
    return read_option(execution, rule, property, false, &value);
}

/* What is not given counts with its default, also of a table that has another one. */
static int check_intervals(struct cql_execution *execution, const struct cql_property *properties)
{
    long min = INDEX_INTERVAL_MIN;
    long max = INDEX_INTERVAL_MAX;
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        const char *text = cql_text(execution->arena, p->value->text);
        min = is_named(p, "min_index_interval") ? strtol(text, NULL, 10) : min;
        max = is_named(p, "max_index_interval") ? strtol(text, NULL, 10) : max;
    }
    return min <= max ? 0
                      : cql_refuse(&execution->fault, CQL_CONFIG_ERROR,
                                   "max_index_interval must be greater than or equal to "
                                   "min_index_interval (%ld) (got %ld)",
                                   min, max);
}

int cql_table_options_check(struct cql_execution *execution, const struct cql_property *properties)
{
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        for (const struct cql_property *other = p->next; other != NULL; other = other->next) {
            if (bytes_equal(p->name, other->name)) {
                return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR,
                                  "Multiple definitions for property '%.*s'", CQL_SHOW(p->name));
            }
        }
    }
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        int rc = check_one(execution, p);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static void options_of(const struct table *table, struct cql_table_options *options)
{
    *options = (struct cql_table_options){.comment = table->comment,
                                          .default_ttl_s = table->default_ttl_s,
                                          .count = table->option_count};
    for (uint32_t i = 0; i < table->option_count; i++)
        options->items[i] = table->options[i];
}

/* Whether the option was another one before. */
static bool set_option(struct cql_table_options *options, const struct table *table,
                       const char *name, const char *value)
{
    bool is_new = strcmp(schema_option(table, name), value) != 0;
    uint32_t place = 0;
    while (place < options->count && strcmp(options->items[place].name, name) != 0)
        place++;
    check(place < SCHEMA_OPTIONS_MAX);
    options->count += place == options->count ? 1 : 0;
    options->items[place] = (struct table_option){name, value};
    return is_new;
}

int cql_table_options_read(struct cql_execution *execution, const struct table *table,
                           const struct cql_property *properties, bool is_new,
                           struct cql_table_options *options)
{
    options_of(table, options);
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        const struct option_rule *rule = rule_of(p->name);
        const char *value = cql_text(execution->arena, p->value->text);
        int rc = 0;
        if (rule != NULL) {
            rc = read_option(execution, rule, p, true, &value);
            options->is_changed |= rc == 0 && set_option(options, table, rule->name, value);
        } else if (is_named(p, "comment")) {
            options->comment = value;
        } else if (is_named(p, "default_time_to_live")) {
            rc = read_ttl(execution, p, true, &options->default_ttl_s);
        } else if (is_named(p, "id")) {
            rc = check_id(execution, p, is_new);
        } else {
            rc = cql_refuse(&execution->fault, CQL_SYNTAX_ERROR, "Unknown property '%.*s'",
                            CQL_SHOW(p->name));
        }
        if (rc != 0)
            return rc;
    }
    int rc = check_intervals(execution, properties);
    if (rc != 0)
        return rc;
    if (options->default_ttl_s > 0 && (table->flags & TABLE_COUNTER) != 0) {
        return cql_invalid(&execution->fault,
                           "Cannot set default_time_to_live on a table with counters");
    }
    options->is_changed |= strcmp(options->comment, table->comment) != 0 ||
                           options->default_ttl_s != table->default_ttl_s;
    return 0;
}
