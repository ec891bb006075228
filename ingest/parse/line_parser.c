/* line_parser: see line_parser.h.
 *
 * There are two ways to parse a line, with the same result.  The plain way is for a line that has
 * the right number of delimiters, a time of 13 digits and a short amount.  All other lines take the
 * full way, as do lines with a quote, and lines that row_builder_add_plain refuses.
 *
 *   text    r1,2013-11-28,1385654400123,ad42,0.005\n r2,...
 *   index     ^2         ^13           ^27  ^32   ^38   positions of one window of 16 KiB
 *
 * If a line crosses the end of a window, the next window begins with this line.  A line longer than
 * a window takes the full way. */
#include "ingest/parse/line_parser.h"

#include "ingest/parse/digits.h"
#include "base/memory.h"

enum { AMOUNT_PLAIN_MAX = 18 };

_Static_assert((int)DIGITS_READ <= (int)INTERN_PADDING, "a time is read as far as an id is");

void line_parser_init(struct line_parser *parser)
{
    *parser = (struct line_parser){
        .order = {.line_field = {0, 1, 2, 3, 4, LINE_FIELD_NONE}, .field_count = RECORD_FIELDS},
        .line = 1,
        .index = delimiter_index_best(),
    };
}

void line_parser_fields(struct line_parser *parser, uint8_t field_count)
{
    parser->order.field_count = field_count;
    parser->order.line_field[FIELD_CLICK_ID] =
        field_count > FIELD_CLICK_ID ? FIELD_CLICK_ID : LINE_FIELD_NONE;
}

void line_parser_release(struct line_parser *parser)
{
    buffer_release(&parser->unquoted);
}

/* ---- the full way: fields with quotes ---- */

enum { LINE_FIELDS_MAX = RECORD_FIELDS_MAX + 1 }; /* one more shows that a line has too many */

/* Read the field at *at, and set *at behind its comma, or past the line's end.  A quoted field is a
 * view of `unquoted`, to which its text is appended; any other field is a view of the line.  False:
 * a quote is wrong. */
static bool line_field(struct bytes line, size_t *at, struct buffer *unquoted,
                       struct bytes *field_out)
{
    size_t start = *at;
    size_t i = start;

    if (i >= line.size || line.data[i] != '"') {
        while (i < line.size && line.data[i] != ',')
            i++;
        *field_out = bytes_of(line.data + start, i - start);
        *at = i + 1;
        return memchr(field_out->data, '"', field_out->size) == NULL;
    }
    /* Memory is reserved even for an empty field, because its view must not be NULL. */
    buffer_reserve(unquoted, line.size - i);
    start = unquoted->size;
    for (i++;; i++) {
        if (i >= line.size)
            return false;
        if (line.data[i] == '"') {
            if (i + 1 >= line.size || line.data[i + 1] != '"')
                break;
            i++;
        }
        buffer_put_u8(unquoted, line.data[i]);
    }
    i++;
    if (i < line.size && line.data[i] != ',')
        return false;
    *field_out = bytes_of(unquoted->data + start, unquoted->size - start);
    *at = i + 1;
    return true;
}

/* False: a quote is wrong, and the last field is the rest of the line from the wrong field on. */
static bool line_split(struct line_parser *parser, struct bytes line,
                       struct bytes fields[LINE_FIELDS_MAX], uint32_t *count_out)
{
    size_t at = 0;

    buffer_clear(&parser->unquoted);
    /* The buffer must not move, because fields are views of it. */
    buffer_reserve(&parser->unquoted, line.size + 1);
    for (*count_out = 0; at <= line.size && *count_out < LINE_FIELDS_MAX;) {
        size_t start = at;
        struct bytes *field = &fields[(*count_out)++];

        if (!line_field(line, &at, &parser->unquoted, field)) {
            *field = bytes_of(line.data + start, line.size - start);
            return false;
        }
    }
    return true;
}

void line_parser_line(struct line_parser *parser, struct row_builder *builder, struct bytes line)
{
    struct bytes fields[LINE_FIELDS_MAX];
    struct record record;
    uint64_t number = parser->line++;
    uint32_t count;

    if (!row_builder_takes_line(builder, number, &line))
        return;
    if (!line_split(parser, line, fields, &count))
        reject_list_add(&builder->rejects, number, REJECT_BAD_QUOTE, fields[count - 1], line);
    else if (count < parser->order.field_count)
        reject_list_add(&builder->rejects, number, REJECT_TOO_FEW_FIELDS, line, line);
    else if (count > parser->order.field_count)
        reject_list_add(&builder->rejects, number, REJECT_TOO_MANY_FIELDS, line, line);
    else {
        for (uint32_t i = 0; i < RECORD_FIELDS_MAX; i++)
            record.fields[i] = parser->order.line_field[i] == LINE_FIELD_NONE
                                   ? bytes_of("", 0)
                                   : fields[parser->order.line_field[i]];
        row_builder_add(builder, &record, number, line);
    }
}

/* ---- the header ---- */

uint8_t line_parser_column_count(const struct line_columns *columns)
{
    return columns->names[FIELD_CLICK_ID].size > 0 ? RECORD_FIELDS_MAX : RECORD_FIELDS;
}

static int column_named(const struct line_columns *columns, struct bytes name)
{
    for (int i = 0; i < line_parser_column_count(columns); i++)
        if (bytes_equal(columns->names[i], name))
            return i;
    return -1;
}

bool line_parser_is_header(struct bytes line, const struct line_columns *columns)
{
    struct buffer unquoted = {0};
    struct bytes first;
    size_t at = 0;

    line = row_builder_without_cr(line);
    bool is_header = line_field(line, &at, &unquoted, &first) && column_named(columns, first) >= 0;
    buffer_release(&unquoted);
    return is_header;
}

static int header_error(struct error *err, const char *word, struct bytes text)
{
    struct buffer quoted = {0};

    reject_append_json(&quoted, text);
    buffer_put_u8(&quoted, 0);
    int rc = error_set(err, ERROR_INVALID, "%s %s", word, (const char *)quoted.data);
    buffer_release(&quoted);
    return rc;
}

int line_parser_header(struct line_parser *parser, struct bytes header,
                       const struct line_columns *columns, struct error *err)
{
    uint8_t order[RECORD_FIELDS_MAX];
    uint8_t count = 0;
    size_t at = 0;

    header = row_builder_without_cr(header);
    memset(order, LINE_FIELD_NONE, sizeof order);
    while (at <= header.size) {
        struct bytes name;

        buffer_clear(&parser->unquoted);
        if (!line_field(header, &at, &parser->unquoted, &name))
            return header_error(err, "bad_quote", header);
        int field = column_named(columns, name);
        if (field < 0)
            return header_error(err, "unknown_column", name);
        if (order[field] != LINE_FIELD_NONE)
            return header_error(err, "duplicate_column", name);
        order[field] = count++;
    }
    for (int i = 0; i < line_parser_column_count(columns); i++)
        if (order[i] == LINE_FIELD_NONE && i != FIELD_DAY)
            return header_error(err, "missing_column", columns->names[i]);
    memcpy(parser->order.line_field, order, sizeof order);
    parser->order.field_count = count;
    return 0;
}

/* ---- the plain way ---- */

static inline bool plain_time(struct bytes text, int64_t *time_ms_out)
{
    uint64_t number;

    if (text.size != DIGITS_TIME || !digits_time(text.data, &number))
        return false;
    *time_ms_out = (int64_t)number;
    return true;
}

static bool long_amount(struct bytes text, int64_t *amount_out, uint8_t *scale_out)
{
    uint64_t value = 0;
    size_t point = text.size;

    if (text.size > AMOUNT_PLAIN_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.data[i] - '0');

        if (digit <= 9) {
            value = value * 10 + digit;
        } else {
            if (text.data[i] != '.' || point != text.size || i == 0 || i + 1 == text.size)
                return false;
            point = i;
        }
    }
    *amount_out = (int64_t)value;
    *scale_out = point == text.size ? 0 : (uint8_t)(text.size - point - 1);
    return true;
}

static inline uint64_t first_bytes(size_t count)
{
    return (UINT64_C(1) << 8 * count) - 1;
}

/* Parse an amount of up to eight bytes as one word, without a branch that depends on the place of
 * the point:
 *
 *     "12.34"   12.34xxx     the first point is byte 2
 *               1234xxxx     closed up
 *               00001234     moved to the word's end behind zeros */
static inline bool plain_amount(struct bytes text, int64_t *amount_out, uint8_t *scale_out)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t points = ones * '.';
    size_t digits = text.size;

    if (text.size == 0 || text.size > 8)
        return text.size > 0 && long_amount(text, amount_out, scale_out);
    uint64_t word = load_u64(text.data);
    /* A borrow can set wrong marks, but only above the lowest mark, and only the lowest is used.
     * The text's end gets a mark, too, because the bytes behind it may be uninitialized. */
    uint64_t found = ((word ^ points) - ones) & ~(word ^ points) & ones * 0x80;
    found |= UINT64_C(0x80) << 8 * (text.size - 1) << 8;
    size_t point = found == 0 ? 8 : (size_t)__builtin_ctzll(found) / 8;
    if (point == text.size) {
        *scale_out = 0;
    } else {
        if (point == 0 || point + 1 == text.size)
            return false;
        *scale_out = (uint8_t)(text.size - point - 1);
        word = (word & first_bytes(point)) | (word >> 8 & ~first_bytes(point));
        digits--;
    }
    if (digits < 8)
        word = word << 8 * (8 - digits) | (ones * '0' & first_bytes(8 - digits));
    if (digits_not_in_word(word) != 0)
        return false;
    *amount_out = (int64_t)digits_of_word(word);
    return true;
}

/* Whether row_builder_add_plain reads every field of a line.  If not, the plain way is not used,
 * because it would not check all fields for quotes. */
static bool order_is_plain(const struct line_order *order)
{
    bool has_day = order->line_field[FIELD_DAY] != LINE_FIELD_NONE;

    return order->line_field[FIELD_CLICK_ID] == LINE_FIELD_NONE &&
           order->field_count == (has_day ? RECORD_FIELDS : RECORD_FIELDS - 1);
}

/* False: the line needs the full way. */
static inline bool plain_line(const struct line_parser *parser, struct row_builder *builder,
                              const uint8_t *text, size_t start, const uint32_t *ends,
                              uint32_t count)
{
    struct bytes fields[RECORD_FIELDS];
    struct plain_record record;
    uint32_t last = count - 1;

    for (uint32_t i = 0; i < last; i++) {
        if (text[ends[i]] != ',')
            return false;
        fields[i] = bytes_of(text + start, ends[i] - start);
        start = ends[i] + 1;
    }
    if (text[ends[last]] != '\n')
        return false;
    fields[last] = bytes_of(text + start, ends[last] - start);
    if (fields[last].size > 0 && text[ends[last] - 1] == '\r')
        fields[last].size--;
    record.day = parser->order.line_field[FIELD_DAY] == LINE_FIELD_NONE
                     ? bytes_of("", 0)
                     : fields[parser->order.line_field[FIELD_DAY]];
    record.reseller = fields[parser->order.line_field[FIELD_RESELLER]];
    record.ad = fields[parser->order.line_field[FIELD_AD]];
    return (record.day.size == DAY_TEXT_SIZE || record.day.size == 0) &&
           plain_time(fields[parser->order.line_field[FIELD_TIME]], &record.time_ms) &&
           plain_amount(fields[parser->order.line_field[FIELD_AMOUNT]], &record.amount,
                        &record.amount_scale) &&
           row_builder_add_plain(builder, &record);
}

static size_t window_run(struct line_parser *parser, struct row_builder *builder, struct bytes text,
                         uint64_t lines_max)
{
    uint32_t positions[LINE_PARSER_WINDOW + DELIMITER_EXTRA];
    size_t count = parser->index(text.data, text.size, positions);
    uint32_t fields = parser->order.field_count;
    bool is_plain = !parser->is_exact && order_is_plain(&parser->order);
    uint64_t line_end = parser->line + lines_max;
    size_t start = 0;
    size_t at = 0;

    uint64_t rows_max = text.size / (2 * (RECORD_FIELDS - 1)) + 1;

    /* A line that becomes a row has at least two bytes for each field but the day. */
    block_reserve(builder->block, (uint32_t)(lines_max < rows_max ? lines_max : rows_max));
    while (start < text.size && parser->line < line_end && text.data[start] != '#') {
        /* With the constant RECORD_FIELDS the compiler unrolls the loops. */
        if (is_plain && at + fields <= count &&
            (fields == RECORD_FIELDS
                 ? plain_line(parser, builder, text.data, start, positions + at, RECORD_FIELDS)
                 : plain_line(parser, builder, text.data, start, positions + at, fields))) {
            parser->line++;
            at += fields;
            start = (size_t)positions[at - 1] + 1;
            continue;
        }
        while (at < count && text.data[positions[at]] != '\n')
            at++;
        if (at == count)
            break;
        line_parser_line(parser, builder, bytes_of(text.data + start, positions[at] - start));
        start = (size_t)positions[at++] + 1;
    }
    return start;
}

size_t line_parser_run(struct line_parser *parser, struct row_builder *builder, struct bytes text,
                       uint64_t lines_max)
{
    uint64_t line_end = parser->line + lines_max;
    size_t at = 0;

    while (at < text.size && parser->line < line_end && text.data[at] != '#') {
        size_t left = text.size - at;
        size_t window = left < LINE_PARSER_WINDOW ? left : LINE_PARSER_WINDOW;
        size_t done =
            window_run(parser, builder, bytes_of(text.data + at, window), line_end - parser->line);

        at += done;
        if (done > 0)
            continue;
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        if (end == NULL)
            break;
        line_parser_line(parser, builder, bytes_of(text.data + at, (size_t)(end - text.data) - at));
        at = (size_t)(end - text.data) + 1;
    }
    return at;
}
