/* row_builder: see row_builder.h.
 *
 * What must hold: a row is added only if all of its fields are valid, and a rejected record leaves
 * nothing in the block.  A partition without rows would become a reseller's day without clicks, and
 * an ad without rows would become a counter.
 *
 * row_builder_add_plain is a shortcut: it never rejects, and it adds only rows that row_builder_add
 * would add in the same way.  It checks an id only if the id is new.  An id with a quote has a
 * separate key (intern_key_apart), which the shortcut does not use, because the same bytes in a
 * line of text are another id, or a wrong quote.
 *
 *   reseller ─ code ─ memo of its last day ─ same day ─▶ partition
 *                            └ another day: (reseller, day) in `partitions`, else a new key */
#include "ingest/parse/row_builder.h"

#include "base/memory.h"

/* ---- life ---- */

struct schema *row_builder_schema(const struct ingest_stream *stream)
{
    const uint32_t *ids = stream->column_ids;
    struct column_definition columns[10] = {
        {ids[FIELD_RESELLER], "reseller", "text", COLUMN_PARTITION, false},
        {ids[FIELD_DAY], "day", "text", COLUMN_PARTITION, false},
        {ids[FIELD_TIME], "time", "timestamp", COLUMN_CLUSTERING, true},
        {ids[FIELD_AD], "ad", "text", COLUMN_CLUSTERING, false},
        {ROW_BUILDER_RANK, "rank", "bigint", COLUMN_CLUSTERING, false},
        {ids[FIELD_AMOUNT], "amount", "decimal", COLUMN_REGULAR, false},
    };
    struct table_definition table = {
        .id = ROW_BUILDER_TABLE,
        .keyspace = "ingest",
        .name = "keyed",
        .flags = TABLE_OF_EVENTS,
        .columns = columns,
        .column_count = 6,
    };
    struct schema *schema = schema_new();

    if (stream->day_derived_column_id != 0)
        columns[table.column_count++] = (struct column_definition){
            stream->day_derived_column_id, "day_derived", "boolean", COLUMN_REGULAR, false};
    if (stream->click_id_column_id != 0) {
        columns[table.column_count++] = (struct column_definition){ROW_BUILDER_CLICK_ID, "click_id",
                                                                   "blob", COLUMN_REGULAR, false};
        columns[table.column_count++] =
            (struct column_definition){ROW_BUILDER_LINE, "line", "bigint", COLUMN_REGULAR, false};
        columns[table.column_count++] = (struct column_definition){ROW_BUILDER_CONTENT, "content",
                                                                   "blob", COLUMN_REGULAR, false};
    }
    check(schema_add_keyspace(schema, table.keyspace, NULL) == 0 &&
          schema_add_table(schema, &table, NULL) == 0);
    return schema;
}

static int builder_columns(struct row_builder *builder, struct error *err)
{
    const struct ingest_stream *stream = builder->stream;

    builder->time = block_column_at(builder->block, stream->column_ids[FIELD_TIME]);
    builder->ad = block_column_at(builder->block, stream->column_ids[FIELD_AD]);
    builder->amount = block_column_at(builder->block, stream->column_ids[FIELD_AMOUNT]);
    if (stream->day_derived_column_id != 0)
        builder->day_derived = block_column_at(builder->block, stream->day_derived_column_id);
    if (stream->click_id_column_id != 0) {
        builder->click_id = block_column_at(builder->block, ROW_BUILDER_CLICK_ID);
        builder->line = block_column_at(builder->block, ROW_BUILDER_LINE);
        builder->content = block_column_at(builder->block, ROW_BUILDER_CONTENT);
    }
    if (builder->time == NULL || builder->time->kind != VECTOR_INTEGER || builder->ad == NULL ||
        builder->ad->kind != VECTOR_CODE || builder->amount == NULL ||
        builder->amount->kind != VECTOR_DECIMAL ||
        (stream->day_derived_column_id != 0 && builder->day_derived == NULL))
        return error_set(err, ERROR_INVALID, "stream %s does not fit its table", stream->name);
    return 0;
}

int row_builder_new(const struct ingest_stream *stream, const struct table *table, uint64_t seed,
                    struct row_builder **builder_out, struct error *err)
{
    struct row_builder *builder = memory_zeroed(1, sizeof *builder);

    *builder_out = NULL;
    builder->stream = stream;
    builder->block = block_new(table, 0);
    builder->block->is_checked = true;
    int rc = builder_columns(builder, err);
    if (rc != 0) {
        block_free(builder->block);
        memory_free(builder);
        return rc;
    }
    intern_init(&builder->reseller_intern, seed, &builder->resellers);
    intern_init(&builder->ad_intern, seed, &builder->ad->dictionary);
    partition_table_init(&builder->partitions);
    *builder_out = builder;
    return 0;
}

void row_builder_free(struct row_builder *builder)
{
    if (builder == NULL)
        return;
    block_free(builder->block);
    reject_list_release(&builder->rejects);
    buffer_release(&builder->resellers.text);
    memory_free(builder->resellers.offsets);
    intern_release(&builder->reseller_intern);
    intern_release(&builder->ad_intern);
    memory_free(builder->memos);
    partition_table_release(&builder->partitions);
    buffer_release(&builder->key);
    memory_free(builder);
}

void row_builder_clear(struct row_builder *builder)
{
    block_clear(builder->block);
    reject_list_clear(&builder->rejects);
    buffer_clear(&builder->resellers.text);
    builder->resellers.count = 0;
    intern_clear(&builder->reseller_intern);
    intern_clear(&builder->ad_intern);
    partition_table_clear(&builder->partitions, builder->partitions.first == UINT32_MAX
                                                    ? 1
                                                    : builder->partitions.first + 1);
}

bool row_builder_is_empty(const struct row_builder *builder)
{
    return builder->block->rows == 0 && builder->rejects.count == 0;
}

size_t row_builder_bytes(const struct row_builder *builder)
{
    return block_memory(builder->block) + reject_list_bytes(&builder->rejects) +
           builder->resellers.text.capacity + intern_bytes(&builder->reseller_intern) +
           intern_bytes(&builder->ad_intern) + builder->memo_capacity * sizeof *builder->memos +
           partition_table_bytes(&builder->partitions);
}

void row_builder_part_ads(struct row_builder *builder)
{
    intern_clear(&builder->ad_intern);
}

static void column_absent(struct block *block, struct block_column *column)
{
    block_set_absent(block, column, 0);
    memset(column->absent, 1, block->rows);
    if (column->kind == VECTOR_CODE) {
        memset(column->codes, 0, block->rows * sizeof *column->codes);
        return;
    }
    memset(column->integers, 0, block->rows * sizeof *column->integers);
    if (column->kind == VECTOR_DECIMAL)
        memset(column->scales, 0, block->rows);
}

/* While rows are added, day_derived is 1 or 0.  In a finished block, 0 is marked as absent. */
static void day_derived_finish(struct block *block, struct block_column *column)
{
    uint32_t row = 0;

    while (row < block->rows && column->integers[row] != 0)
        row++;
    if (row == block->rows)
        return;
    block_set_absent(block, column, row);
    for (; row < block->rows; row++)
        column->absent[row] = column->integers[row] == 0;
}

void row_builder_finish(struct row_builder *builder)
{
    struct block *block = builder->block;

    if (block->rows == 0)
        return;
    for (uint32_t i = 0; i < block->column_count; i++) {
        struct block_column *column = &block->columns[i];

        if (column == builder->day_derived)
            day_derived_finish(block, column);
        else if (column != builder->time && column != builder->ad && column != builder->amount &&
                 column != builder->click_id && column != builder->line &&
                 column != builder->content)
            column_absent(block, column);
    }
}

void row_builder_emit(struct row_builder *builder, struct row_part *part)
{
    struct row_part full = {builder->block, builder->rejects};
    struct error err = {0};

    row_builder_finish(builder);
    builder->block = part->block;
    builder->rejects = part->rejects;
    check(builder_columns(builder, &err) == 0);
    builder->ad_intern.dictionary = &builder->ad->dictionary;
    row_builder_clear(builder);
    *part = full;
}

/* ---- partitions ---- */

static uint32_t builder_partition(struct row_builder *builder, uint32_t reseller, int32_t day)
{
    struct partition_table *partitions = &builder->partitions;
    struct partition_slot *slot = partition_table_find(partitions, reseller, day);

    if (!partition_table_is_free(partitions, slot))
        return slot->code;
    buffer_clear(&builder->key);
    type_key_put_component(&builder->key, 2, block_dictionary_get(&builder->resellers, reseller));
    type_key_put_component(&builder->key, 2, day_memo_format(&builder->days, day));
    uint32_t code = block_dictionary_add(&builder->block->partitions, buffer_view(&builder->key));
    partition_table_put(partitions, slot,
                        (struct partition_slot){reseller, day, code, partitions->first});
    partition_table_reserve(partitions, 1);
    return code;
}

static uint32_t builder_add_reseller(struct row_builder *builder, struct intern_key key,
                                     struct bytes id)
{
    uint32_t code = intern_add(&builder->reseller_intern, key, id);

    builder->memos =
        memory_make_room(builder->memos, code, &builder->memo_capacity, sizeof *builder->memos);
    builder->memos[code] = (struct partition_memo){.text_high = MEMO_NO_TEXT, .day = INT32_MIN};
    return code;
}

static void memo_set(struct partition_memo *memo, struct bytes text, int32_t day,
                     uint32_t partition)
{
    memo->text_low = text.size == 0 ? 0 : load_u64(text.data);
    memo->text_high = text.size == 0 ? MEMO_NO_TEXT : load_u16(text.data + 8);
    memo->day = day;
    memo->partition = partition;
}

/* ---- values ---- */

/* Returns 0 only if all eight bytes are printable ASCII and not quotes. */
static inline uint64_t not_simple(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t quotes = word ^ ones * '"';
    /* A borrow or carry into a byte comes only from a byte that is marked itself.  So it cannot
     * change whether any byte is marked. */
    uint64_t marks = word | (word - ones * 0x20) | (word + ones) | ((quotes - ones) & ~quotes);

    return marks & ones * 0x80;
}

static bool has_control_character(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (text.size - i >= 8 && not_simple(load_u64(text.data + i)) == 0) {
            i += 7;
            continue;
        }
        if (byte < 0x20 || byte == 0x7F)
            return true;
        if (byte == 0xC2 && i + 1 < text.size && text.data[i + 1] < 0xA0)
            return true;
    }
    return false;
}

static bool id_is_refused(struct bytes id, enum reject_code *code_out)
{
    if (id.size == 0)
        *code_out = REJECT_EMPTY_ID;
    else if (id.size > RECORD_ID_MAX)
        *code_out = REJECT_ID_TOO_LONG;
    else if (!bytes_valid_utf8(id))
        *code_out = REJECT_BAD_UTF8;
    else if (has_control_character(id))
        *code_out = REJECT_CONTROL_CHARACTER;
    else
        return false;
    return true;
}

bool row_builder_takes_id(struct bytes id)
{
    enum reject_code code;

    return !id_is_refused(id, &code);
}

static bool is_integer(struct bytes text)
{
    size_t start = text.size > 1 && text.data[0] == '-' ? 1 : 0;

    for (size_t i = start; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size > 0;
}

static bool is_before_1970(struct bytes text)
{
    int32_t day;

    return text.size > DAY_TEXT_SIZE &&
           calendar_day_parse(bytes_of(text.data, DAY_TEXT_SIZE), &day) && day < 0;
}

static bool time_is_refused(struct bytes text, int64_t *time_ms_out, enum reject_code *code_out)
{
    if (calendar_time_parse(text, time_ms_out) && *time_ms_out >= TIME_MS_MIN &&
        *time_ms_out <= TIME_MS_MAX)
        return false;
    *code_out = is_integer(text) || is_before_1970(text) || calendar_time_parse(text, time_ms_out)
                    ? REJECT_TIME_OUT_OF_RANGE
                    : REJECT_BAD_TIME;
    return true;
}

static bool amount_is_refused(struct bytes text, int64_t *amount_out, uint8_t *scale_out)
{
    struct decimal decimal;
    int128 unscaled;

    if (decimal_parse_input(text, &decimal) != 0 || !decimal_to_int128(decimal, &unscaled))
        return true;
    *amount_out = (int64_t)unscaled; /* at most 18 digits */
    *scale_out = (uint8_t)decimal.scale;
    return false;
}

static int32_t builder_day_of(const struct row_builder *builder, int64_t time_ms)
{
    const struct zone *zone = builder->stream->zone;

    return zone == NULL ? calendar_day_of_time(time_ms) : calendar_zone_day(zone, time_ms);
}

static bool day_is_near(int32_t day, int64_t time_ms)
{
    int32_t distance = day - (int32_t)(time_ms / DAY_MS); /* time_ms is not negative */

    return distance >= -1 && distance <= 1;
}

/* ---- rows ---- */

static void builder_append(struct row_builder *builder, uint32_t partition, uint32_t ad,
                           int64_t time_ms, int64_t amount, uint8_t scale, bool is_derived)
{
    struct block *block = builder->block;
    uint32_t row = block->rows++;

    block->partition_codes[row] = partition;
    builder->time->integers[row] = time_ms;
    builder->ad->codes[row] = ad;
    builder->amount->integers[row] = amount;
    builder->amount->scales[row] = scale;
    if (builder->day_derived != NULL)
        builder->day_derived->integers[row] = is_derived;
}

bool row_builder_takes_line(struct row_builder *builder, uint64_t line, struct bytes *text)
{
    *text = row_builder_without_cr(*text);
    if (text->size > 0 && text->size <= RECORD_LINE_MAX)
        return true;
    reject_list_add(&builder->rejects, line,
                    text->size == 0 ? REJECT_EMPTY_LINE : REJECT_LINE_TOO_LONG, *text, *text);
    return false;
}

static bool record_is_refused(const struct row_builder *builder, const struct record *record,
                              struct plain_record *plain, int32_t *day, enum reject_code *code_out,
                              enum record_field *field_out)
{
    const struct bytes *fields = record->fields;
    bool is_derived = fields[FIELD_DAY].size == 0;

    *plain = (struct plain_record){.reseller = fields[FIELD_RESELLER], .ad = fields[FIELD_AD]};
    *field_out = FIELD_RESELLER;
    if (id_is_refused(plain->reseller, code_out))
        return true;
    *field_out = FIELD_DAY;
    *code_out = REJECT_BAD_DAY;
    if (!is_derived && !calendar_day_parse(fields[FIELD_DAY], day))
        return true;
    *field_out = FIELD_TIME;
    if (time_is_refused(fields[FIELD_TIME], &plain->time_ms, code_out))
        return true;
    *field_out = FIELD_AD;
    if (id_is_refused(plain->ad, code_out))
        return true;
    *field_out = FIELD_AMOUNT;
    *code_out = REJECT_BAD_AMOUNT;
    if (amount_is_refused(fields[FIELD_AMOUNT], &plain->amount, &plain->amount_scale))
        return true;
    if (is_derived) {
        *field_out = FIELD_TIME;
        *code_out = REJECT_TIME_OUT_OF_RANGE;
        *day = builder_day_of(builder, plain->time_ms);
        return *day > DAY_MAX;
    }
    *field_out = FIELD_DAY;
    *code_out = REJECT_DAY_MISMATCH;
    return !day_is_near(*day, plain->time_ms);
}

static bool click_id_read(struct row_builder *builder, struct bytes text)
{
    const struct type *type = builder->stream->click_id_type;

    buffer_clear(&builder->key);
    if (type->kind == TYPE_TEXT ? !row_builder_takes_id(text) : text.size == 0)
        return false;
    return type_parse_text(type, text, &builder->key, NULL) == 0;
}

static void click_id_append(struct row_builder *builder, uint64_t line, struct bytes content)
{
    uint32_t row = builder->block->rows;

    if (content.size > REJECT_CONTENT_MAX)
        content.size = REJECT_CONTENT_MAX;
    builder->click_id->codes[row] =
        block_dictionary_add(&builder->click_id->dictionary, buffer_view(&builder->key));
    builder->line->integers[row] = (int64_t)line;
    builder->content->codes[row] = block_dictionary_add(&builder->content->dictionary, content);
}

/* Add `id` if it is new.  Returns its code.  A short id is copied, because it may lack the padding
 * that intern_key_of reads. */
static uint32_t builder_intern(struct row_builder *builder, struct intern *intern, struct bytes id)
{
    uint8_t padded[INTERN_SHORT_MAX + INTERN_PADDING] = {0};

    if (id.size <= INTERN_SHORT_MAX) {
        memcpy(padded, id.data, id.size);
        id.data = padded;
    }
    struct intern_key key = intern_key_of(id);
    if (memchr(id.data, '"', id.size) != NULL)
        key = intern_key_apart(key);
    int32_t code = intern_find(intern, key, id);
    if (code != INTERN_NONE)
        return (uint32_t)code;
    return intern == &builder->reseller_intern ? builder_add_reseller(builder, key, id)
                                               : intern_add(intern, key, id);
}

void row_builder_add(struct row_builder *builder, const struct record *record, uint64_t line,
                     struct bytes content)
{
    struct plain_record plain;
    enum reject_code code;
    enum record_field field;
    int32_t day = 0;

    if (record_is_refused(builder, record, &plain, &day, &code, &field)) {
        reject_list_add(&builder->rejects, line, code, record->fields[field], content);
        return;
    }
    block_reserve(builder->block, 1);
    if (builder->click_id != NULL) {
        const struct bytes *id = &record->fields[FIELD_CLICK_ID];

        if (!click_id_read(builder, *id)) {
            reject_list_add(&builder->rejects, line, REJECT_BAD_CLICK_ID, *id, content);
            return;
        }
        click_id_append(builder, line, content);
    }
    uint32_t reseller = builder_intern(builder, &builder->reseller_intern, plain.reseller);
    uint32_t ad = builder_intern(builder, &builder->ad_intern, plain.ad);
    builder_append(builder, builder_partition(builder, reseller, day), ad, plain.time_ms,
                   plain.amount, plain.amount_scale, record->fields[FIELD_DAY].size == 0);
}

/* Whether all bytes of a short id are simple (not_simple).  The zeros behind them in the key are
 * replaced by spaces, which are simple. */
static inline bool id_is_simple(struct intern_key key)
{
    const uint64_t spaces = UINT64_C(0x2020202020202020);

    if (key.size == 0 || key.size > INTERN_SHORT_MAX)
        return false;
    key.low |= spaces & ~intern_masks[key.size].low;
    key.high |= spaces & ~intern_masks[key.size].high;
    return (not_simple(key.low) | not_simple(key.high)) == 0;
}

static bool odd_id_is_taken(struct bytes id)
{
    return row_builder_takes_id(id) && memchr(id.data, '"', id.size) == NULL;
}

static inline bool plain_takes_id(struct intern_key key, struct bytes id)
{
    return id_is_simple(key) || odd_id_is_taken(id);
}

/* The memo of the record's reseller; *day_out is the row's day.  NULL: the day is not valid, or not
 * near the time. */
static inline struct partition_memo *plain_memo(struct row_builder *builder,
                                                const struct plain_record *record, int32_t reseller,
                                                int32_t *day_out)
{
    struct partition_memo *memo = &builder->memos[reseller];

    if (record->day.size == 0) {
        *day_out = builder_day_of(builder, record->time_ms);
        return *day_out > DAY_MAX ? NULL : memo;
    }
    if (load_u64(record->day.data) == memo->text_low &&
        load_u16(record->day.data + 8) == memo->text_high)
        *day_out = memo->day;
    else if (!day_memo_parse(&builder->days, record->day.data, day_out))
        return NULL;
    return day_is_near(*day_out, record->time_ms) ? memo : NULL;
}

static inline void plain_append(struct row_builder *builder, const struct plain_record *record,
                                int32_t reseller, int32_t ad, struct partition_memo *memo,
                                int32_t day)
{
    if (memo->day != day)
        memo_set(memo, record->day, day, builder_partition(builder, (uint32_t)reseller, day));
    builder_append(builder, memo->partition, (uint32_t)ad, record->time_ms, record->amount,
                   record->amount_scale, record->day.size == 0);
}

bool row_builder_add_plain(struct row_builder *builder, const struct plain_record *record)
{
    struct intern_key key = intern_key_of(record->reseller);
    struct intern_key ad_key = intern_key_of(record->ad);
    int32_t reseller = intern_find(&builder->reseller_intern, key, record->reseller);
    int32_t ad = intern_find(&builder->ad_intern, ad_key, record->ad);
    int32_t day;

    if (reseller == INTERN_NONE) {
        if (!plain_takes_id(key, record->reseller))
            return false;
        reseller = (int32_t)builder_add_reseller(builder, key, record->reseller);
    }
    struct partition_memo *memo = plain_memo(builder, record, reseller, &day);
    if (memo == NULL)
        return false;
    if (ad == INTERN_NONE) {
        if (!plain_takes_id(ad_key, record->ad))
            return false;
        ad = (int32_t)intern_add(&builder->ad_intern, ad_key, record->ad);
    }
    plain_append(builder, record, reseller, ad, memo, day);
    return true;
}

bool row_builder_add_coded(struct row_builder *builder, const struct plain_record *record,
                           int32_t *reseller, int32_t *ad)
{
    int32_t day;

    if (*reseller == INTERN_NONE)
        *reseller = (int32_t)builder_intern(builder, &builder->reseller_intern, record->reseller);
    struct partition_memo *memo = plain_memo(builder, record, *reseller, &day);
    if (memo == NULL)
        return false;
    if (*ad == INTERN_NONE)
        *ad = (int32_t)builder_intern(builder, &builder->ad_intern, record->ad);
    plain_append(builder, record, *reseller, *ad, memo, day);
    return true;
}
