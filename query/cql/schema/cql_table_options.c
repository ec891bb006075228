/* The options of a table, checked and spelled as in Cassandra 5.0.9.
 *
 * The values kept are those that Cassandra's DESCRIBE would show, so that Cassandra and daybook can
 * run each other's dumps.  Values that Cassandra refuses are refused with Cassandra's text and
 * code, even if the option has no effect.
 *
 *   written                              kept
 *   caching = {'keys': 'none'}           {'keys': 'NONE', 'rows_per_partition': 'NONE'}
 *   speculative_retry = '99PERCENTILE'   '99p' */
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

struct pair {
    const char *key;
    const char *value;
};

struct pairs {
    struct pair items[PAIRS_MAX];
    uint32_t count;
};

struct option_reader {
    struct cql_execution *execution;
    const struct cql_property *property;
    const char *name;
    int32_t min;
    const char *text;                  /* the value, if it is not a map */
    struct pairs pairs;                /* the value, if it is a map */
    struct buffer value;               /* the value to keep, in CQL; empty: none */
    struct cql_table_options *options; /* NULL: the option is only checked */
    bool is_new;
};

#define CONFIG(reader, ...) cql_refuse(&(reader)->execution->fault, CQL_CONFIG_ERROR, __VA_ARGS__)
#define SYNTAX(reader, ...) cql_refuse(&(reader)->execution->fault, CQL_SYNTAX_ERROR, __VA_ARGS__)

/* ---- single values ---- */

static int read_boolean(struct option_reader *reader)
{
    bool value;
    int rc = cql_schema_options_read_boolean(reader->execution, reader->name, reader->text, &value);
    if (rc == 0)
        buffer_append_text(&reader->value, value ? "true" : "false");
    return rc;
}

static int parse_integer(struct option_reader *reader, int32_t *number_out)
{
    char *end;
    long number = strtol(reader->text, &end, 10);
    *number_out = (int32_t)number;
    return end != reader->text && *end == '\0' && number >= INT32_MIN && number <= INT32_MAX
               ? 0
               : SYNTAX(reader, "Invalid integer value %s for '%s'", reader->text, reader->name);
}

static int read_count(struct option_reader *reader)
{
    int32_t number;
    int rc = parse_integer(reader, &number);
    if (rc == 0 && reader->options != NULL && number < reader->min) {
        rc = CONFIG(reader, "%s must be greater than or equal to %d (got %d)", reader->name,
                    reader->min, number);
    }
    buffer_printf(&reader->value, "%d", number);
    return rc;
}

static int read_ttl(struct option_reader *reader)
{
    int32_t ttl_s;
    int rc = parse_integer(reader, &ttl_s);
    if (rc != 0 || reader->options == NULL)
        return rc;
    if (ttl_s < 0) {
        return CONFIG(reader, "default_time_to_live must be greater than or equal to 0 (got %s)",
                      reader->text);
    }
    if (ttl_s > TTL_MAX_S) {
        return CONFIG(reader, "default_time_to_live must be less than or equal to %d (got %s)",
                      TTL_MAX_S, reader->text);
    }
    reader->options->default_ttl_s = ttl_s;
    return 0;
}

static int read_chance(struct option_reader *reader)
{
    bool is_bloom = reader->name[0] == 'b';
    char *end;
    double number = strtod(reader->text, &end);
    struct buffer value = {.arena = reader->execution->arena};
    uint64_t bits;
    if (end == reader->text || *end != '\0')
        return SYNTAX(reader, "Invalid double value %s for '%s'", reader->text, reader->name);
    memcpy(&bits, &number, sizeof(bits));
    buffer_put_u64_be(&value, bits);
    cql_json_format(type_builtin(TYPE_DOUBLE), buffer_view(&value), &reader->value);
    bool fits = reader->options == NULL;
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

static int read_comment(struct option_reader *reader)
{
    if (reader->options != NULL)
        reader->options->comment = reader->text;
    return 0;
}

static int read_id(struct option_reader *reader)
{
    struct buffer id = {.arena = reader->execution->arena};
    if (reader->options == NULL)
        return 0;
    if (type_parse_text(type_builtin(TYPE_UUID), reader->property->value->text, &id, NULL) != 0)
        return CONFIG(reader, "Invalid table id");
    return reader->is_new ? 0 : CONFIG(reader, "Cannot alter table id.");
}

static int read_obsolete(struct option_reader *reader)
{
    return reader->options == NULL ? 0 : SYNTAX(reader, "Unknown property '%s'", reader->name);
}

/* ---- speculative retry ---- */

/* Append the value with which `text` begins, such as 99p or 50ms.  Returns the text after it; NULL:
 * there is none.  Sets `*is_beyond` for a percentile that is not between 0 and 100. */
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
        return CONFIG(reader, "Invalid value %s for option 'speculative_retry'", reader->text);
    return is_beyond ? CONFIG(reader,
                              "Invalid value %s for PERCENTILE option 'speculative_retry': must be "
                              "between (0.0 and 100.0)",
                              reader->text)
                     : 0;
}

/* ---- maps ---- */

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

static int pairs_read(struct option_reader *reader)
{
    const struct cql_term *key = reader->property->value->arguments;
    for (; key != NULL; key = key->next->next) {
        if (reader->pairs.count == PAIRS_MAX)
            return CONFIG(reader, "over %d sub-options of '%s'", PAIRS_MAX, reader->name);
        pairs_set(&reader->pairs, cql_text(reader->execution->arena, key->text),
                  cql_text(reader->execution->arena, key->next->text));
    }
    return 0;
}

static void pairs_put(struct pairs *pairs, struct buffer *value)
{
    qsort(pairs->items, pairs->count, sizeof(pairs->items[0]), order_pairs);
    buffer_put_u8(value, '{');
    for (uint32_t i = 0; i < pairs->count; i++) {
        buffer_append_text(value, i == 0 ? "" : ", ");
        buffer_append_quoted(value, bytes_text(pairs->items[i].key), '\'');
        buffer_append_text(value, ": ");
        buffer_append_quoted(value, bytes_text(pairs->items[i].value), '\'');
    }
    buffer_put_u8(value, '}');
}

/* Whether `name` is one of `words`, which blanks separate. */
static bool is_in(const char *name, const char *words)
{
    size_t size = strlen(name);
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        if (length == size && memcmp(words, name, size) == 0)
            return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

static const char *pairs_unknown(const struct pairs *pairs, const char *words)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        if (!is_in(pairs->items[i].key, words))
            return pairs->items[i].key;
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
    size_t i = 0;
    if (text == NULL)
        return "NONE";
    char *copy = arena_alloc(execution->arena, strlen(text) + 1, 1);
    for (; text[i] != '\0'; i++)
        copy[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
    copy[i] = '\0';
    return copy;
}

static int read_caching(struct option_reader *reader)
{
    struct pairs *pairs = &reader->pairs;
    const char *unknown = pairs_unknown(pairs, "keys rows_per_partition");
    const char *keys = pairs_get(pairs, "keys");
    const char *rows = pairs_get(pairs, "rows_per_partition");
    const char *shown_keys = upper(reader->execution, keys);
    const char *shown_rows = upper(reader->execution, rows);
    if (unknown != NULL) {
        return CONFIG(reader,
                      "Invalid caching sub-options [%s]: only 'keys' and 'rows_per_partition' are "
                      "allowed",
                      unknown);
    }
    if (!is_in(shown_keys, "ALL NONE")) {
        return CONFIG(reader,
                      "Invalid value '%s' for caching sub-option 'keys': only 'ALL' and 'NONE' are "
                      "allowed",
                      keys);
    }
    if (!is_in(shown_rows, "ALL NONE") && !is_number(shown_rows)) {
        return CONFIG(reader,
                      "Invalid value '%s' for caching sub-option 'rows_per_partition': only 'ALL', "
                      "'NONE', and integer values are allowed",
                      rows);
    }
    pairs_set(pairs, "keys", shown_keys);
    pairs_set(pairs, "rows_per_partition", shown_rows);
    return 0;
}

/* A class that an option may name, with or without its package. */
struct class_rule {
    const char *name;
    const char *options; /* the keys that its map may have, separated by blanks */
};

static const struct class_rule *find_class(struct option_reader *reader, const char *package,
                                           const struct class_rule *rules, const char **sought_out)
{
    const char *text = pairs_get(&reader->pairs, "class");
    size_t size = strncmp(text, package, strlen(package)) == 0 ? strlen(package) : 0;
    *sought_out = cql_text_printf(reader->execution->arena, "%s%s",
                                  strchr(text, '.') == NULL ? package : "", text);
    while (rules->name != NULL && strcmp(rules->name, text + size) != 0)
        rules++;
    if (rules->name == NULL)
        return NULL;
    pairs_set(&reader->pairs, "class", *sought_out);
    return rules;
}

static int check_thresholds(struct option_reader *reader)
{
    static const char *const names[] = {"min_threshold", "max_threshold"};
    static const char *const defaults[] = {"4", "32"};
    struct pairs *pairs = &reader->pairs;
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

#define STRATEGY_OPTIONS                                                                           \
    "class enabled tombstone_threshold tombstone_compaction_interval "                             \
    "unchecked_tombstone_compaction only_purge_repaired_tombstones "                               \
    "provide_overlapping_tombstones log_all "
#define TIER_OPTIONS "min_threshold max_threshold min_sstable_size bucket_low bucket_high "
#define EXPIRED_OPTIONS                                                                            \
    "expired_sstable_check_frequency_seconds unsafe_aggressive_sstable_expiration "

static int read_compaction(struct option_reader *reader)
{
    static const struct class_rule strategies[] = {
        {"SizeTieredCompactionStrategy", STRATEGY_OPTIONS TIER_OPTIONS},
        {"LeveledCompactionStrategy",
         STRATEGY_OPTIONS TIER_OPTIONS "sstable_size_in_mb fanout_size single_sstable_uplevel"},
        {"TimeWindowCompactionStrategy", STRATEGY_OPTIONS TIER_OPTIONS EXPIRED_OPTIONS
         "compaction_window_unit compaction_window_size timestamp_resolution"},
        {"UnifiedCompactionStrategy", STRATEGY_OPTIONS EXPIRED_OPTIONS
         "scaling_parameters min_sstable_size target_sstable_size flush_size_override "
         "base_shard_count max_sstables_to_compact overlap_inclusion_method sstable_growth "
         "parallelize_output_shards"},
        {NULL, NULL}};
    const char *sought;
    if (pairs_get(&reader->pairs, "class") == NULL)
        return CONFIG(reader, "Missing sub-option 'class' for the 'compaction' option");
    const struct class_rule *strategy = find_class(reader, STRATEGIES, strategies, &sought);
    if (strategy == NULL)
        return CONFIG(reader, "Unable to find compaction strategy class '%s'", sought);
    int rc = strategy->name[0] == 'U' ? 0 : check_thresholds(reader);
    const char *unknown = pairs_unknown(&reader->pairs, strategy->options);
    const char *size = pairs_get(&reader->pairs, "sstable_size_in_mb");
    if (rc == 0 && unknown != NULL) {
        return CONFIG(reader, "Properties specified [%s] are not understood by %s", unknown,
                      strategy->name);
    }
    if (rc == 0 && size != NULL && strtol(size, NULL, 10) < 1)
        return CONFIG(reader, "sstable_size_in_mb must be larger than 0, but was %s", size);
    return rc;
}

static int check_chunk(struct option_reader *reader)
{
    const char *chunk = pairs_get(&reader->pairs, "chunk_length_in_kb");
    long kib = chunk == NULL ? 16 : strtol(chunk, NULL, 10);
    if (chunk != NULL && !is_number(chunk))
        return CONFIG(reader, "Invalid value for chunk_length_in_kb");
    if (kib <= 0 || (kib & (kib - 1)) != 0)
        return CONFIG(reader, "chunk_length_in_kb must be a power of 2");
    pairs_set(&reader->pairs, "chunk_length_in_kb", chunk == NULL ? "16" : chunk);
    return 0;
}

static int read_compression(struct option_reader *reader)
{
    static const char known[] = "class enabled chunk_length_in_kb min_compress_ratio "
                                "max_compressed_length compression_level lz4_compressor_type "
                                "lz4_high_compressor_level";
    static const struct class_rule compressors[] = {
        {"LZ4Compressor", known},     {"SnappyCompressor", known}, {"ZstdCompressor", known},
        {"DeflateCompressor", known}, {"NoopCompressor", known},   {NULL, NULL}};
    struct pairs *pairs = &reader->pairs;
    const char *enabled = pairs_get(pairs, "enabled");
    const char *sought;
    if (pairs->count == 0 || (enabled != NULL && strcasecmp(enabled, "false") == 0)) {
        pairs->count = 0;
        pairs_set(pairs, "enabled", "false");
        return 0;
    }
    if (pairs_get(pairs, "class") == NULL)
        return CONFIG(reader, "Missing sub-option 'class' for the 'compression' option.");
    if (find_class(reader, COMPRESSORS, compressors, &sought) == NULL)
        return CONFIG(reader, "Could not create Compression for type %s", sought);
    const char *unknown = pairs_unknown(pairs, known);
    return unknown != NULL ? CONFIG(reader, "Unknown compression options %s", unknown)
                           : check_chunk(reader);
}

/* As in Cassandra, extensions of a statement are ignored. */
static int read_extensions(struct option_reader *reader)
{
    buffer_append_text(&reader->value, "{}");
    return 0;
}

/* ---- the table of options ---- */

/* TEXT: no map; PAIRS: a map whose pairs are read and kept; MAP: any other map; ANY: unchecked. */
enum option_form { TEXT, PAIRS, MAP, ANY };

static const struct option_rule {
    const char *name;
    enum option_form form;
    int (*read)(struct option_reader *reader);
    int32_t min;
} rules[] = {
    {"additional_write_policy", TEXT, read_retry, 0},
    {"allow_auto_snapshot", TEXT, read_boolean, 0},
    {"bloom_filter_fp_chance", TEXT, read_chance, 0},
    {"caching", PAIRS, read_caching, 0},
    {"cdc", TEXT, read_boolean, 0},
    {"comment", TEXT, read_comment, 0},
    {"compaction", PAIRS, read_compaction, 0},
    {"compression", PAIRS, read_compression, 0},
    {"crc_check_chance", TEXT, read_chance, 0},
    {"dclocal_read_repair_chance", ANY, read_obsolete, 0},
    {"default_time_to_live", ANY, read_ttl, 0},
    {"extensions", MAP, read_extensions, 0},
    {"gc_grace_seconds", TEXT, read_count, 0},
    {"id", ANY, read_id, 0},
    {"incremental_backups", TEXT, read_boolean, 0},
    {"max_index_interval", TEXT, read_count, 0},
    {"memtable", TEXT, read_memtable, 0},
    {"memtable_flush_period_in_ms", TEXT, read_count, 0},
    {"min_index_interval", TEXT, read_count, 1},
    {"read_repair", TEXT, read_read_repair, 0},
    {"read_repair_chance", ANY, read_obsolete, 0},
    {"speculative_retry", TEXT, read_retry, 0},
};

/* Returns whether the table had another value. */
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

static int read_option(struct cql_execution *execution, const struct table *table,
                       const struct cql_property *property, bool is_new,
                       struct cql_table_options *options)
{
    const struct option_rule *rule = rules;
    const struct option_rule *end = rules + sizeof(rules) / sizeof(rules[0]);
    while (rule < end && !bytes_equal(property->name, bytes_text(rule->name)))
        rule++;
    if (rule == end) {
        return cql_refuse(&execution->fault, CQL_SYNTAX_ERROR, "Unknown property '%.*s'",
                          CQL_SHOW(property->name));
    }
    struct option_reader reader = {.execution = execution,
                                   .value = {.arena = execution->arena},
                                   .property = property,
                                   .name = rule->name,
                                   .min = rule->min,
                                   .text = cql_text(execution->arena, property->value->text),
                                   .options = options,
                                   .is_new = is_new};
    bool is_map = property->value->kind == CQL_TERM_MAP;
    if (rule->form != ANY && is_map != (rule->form != TEXT)) {
        return SYNTAX(&reader,
                      is_map ? "Invalid value for property '%s'. It should be a string"
                             : "Invalid value for property '%s'. It should be a map.",
                      rule->name);
    }
    int rc = rule->form == PAIRS ? pairs_read(&reader) : 0;
    rc = rc == 0 ? rule->read(&reader) : rc;
    if (rc == 0 && rule->form == PAIRS)
        pairs_put(&reader.pairs, &reader.value);
    if (rc == 0 && options != NULL && reader.value.size > 0) {
        options->is_changed |= set_option(options, table, rule->name,
                                          cql_text(execution->arena, buffer_view(&reader.value)));
    }
    return rc;
}

/* As in Cassandra, the default is used for an interval that the statement does not give. */
static int check_intervals(struct cql_execution *execution, const struct cql_property *properties)
{
    long min = INDEX_INTERVAL_MIN;
    long max = INDEX_INTERVAL_MAX;
    for (const struct cql_property *p = properties; p != NULL; p = p->next) {
        const char *text = cql_text(execution->arena, p->value->text);
        if (bytes_equal(p->name, bytes_text("min_index_interval")))
            min = strtol(text, NULL, 10);
        else if (bytes_equal(p->name, bytes_text("max_index_interval")))
            max = strtol(text, NULL, 10);
    }
    return min <= max ? 0
                      : cql_refuse(&execution->fault, CQL_CONFIG_ERROR,
                                   "max_index_interval must be greater than or equal to "
                                   "min_index_interval (%ld) (got %ld)",
                                   min, max);
}

int cql_table_options_check(struct cql_execution *execution, const struct cql_property *properties)
{
    int rc = 0;
    for (const struct cql_property *p = properties; p != NULL && rc == 0; p = p->next)
        rc = read_option(execution, NULL, p, false, NULL);
    return rc;
}

int cql_table_options_read(struct cql_execution *execution, const struct table *table,
                           const struct cql_property *properties, bool is_new,
                           struct cql_table_options *options)
{
    check(table != NULL);
    *options = (struct cql_table_options){.comment = table->comment,
                                          .default_ttl_s = table->default_ttl_s,
                                          .count = table->option_count};
    for (uint32_t i = 0; i < table->option_count; i++)
        options->items[i] = table->options[i];
    int rc = 0;
    for (const struct cql_property *p = properties; p != NULL && rc == 0; p = p->next)
        rc = read_option(execution, table, p, is_new, options);
    rc = rc == 0 ? check_intervals(execution, properties) : rc;
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
