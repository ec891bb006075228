/* table_print: appends the lines of a table.
 *
 * What must hold: in CSV and JSON null differs from empty text; an aligned table has no control
 * characters other than LF.  The width of a cell is its number of code points. */
#include "base/cli/table_print.h"

#include <string.h>

#include "base/memory.h"
#include "base/reader.h"

struct table_print {
    enum table_format format;
    const struct table_column *columns;
    uint32_t column_count;
    struct buffer *text;
    uint64_t rows;
    struct buffer held;
    uint32_t held_rows;
    bool is_flowing;
    size_t widths[TABLE_COLUMNS_MAX];
};

bool table_print_format_parse(const char *name, enum table_format *format_out)
{
    static const char *const names[] = {[TABLE_ALIGNED] = "table",
                                        [TABLE_CSV] = "csv",
                                        [TABLE_CSV_SAFE] = "csv-safe",
                                        [TABLE_JSON] = "json",
                                        [TABLE_MARKDOWN] = "md"};
    size_t i = 0;
    while (i < sizeof(names) / sizeof(names[0]) && strcmp(name, names[i]) != 0)
        i++;
    if (i == sizeof(names) / sizeof(names[0]))
        return false;
    *format_out = (enum table_format)i;
    return true;
}

/* ---- fields ---- */

void table_print_csv_field(struct buffer *text, struct bytes field)
{
    bool quoted = field.size == 0 || field.data[0] == '#';
    for (size_t i = 0; i < field.size && !quoted; i++) {
        uint8_t c = field.data[i];
        quoted = c == ',' || c == '"' || c == '\n' || c == '\r';
    }
    if (quoted)
        buffer_append_quoted(text, field, '"');
    else
        buffer_append_bytes(text, field);
}

static void json_append_list(struct buffer *text, struct bytes list)
{
    const char *separator = "";
    size_t start = 0;
    buffer_put_u8(text, '[');
    for (size_t i = 0; i <= list.size; i++) {
        if (i < list.size && list.data[i] != ' ')
            continue;
        if (i > start) {
            buffer_append_text(text, separator);
            separator = ", ";
            buffer_append_json(text, bytes_of(list.data + start, i - start));
        }
        start = i + 1;
    }
    buffer_put_u8(text, ']');
}

static void json_append_cell(struct buffer *text, enum table_cell_kind kind, struct bytes cell)
{
    if (cell.data == NULL) {
        buffer_append_text(text, "null");
        return;
    }
    switch (kind) {
    case TABLE_TEXT:
    case TABLE_DECIMAL:
        buffer_append_json(text, cell);
        break;
    case TABLE_NUMBER:
    case TABLE_BOOLEAN:
        buffer_append_bytes(text, cell);
        break;
    case TABLE_LIST:
        json_append_list(text, cell);
        break;
    }
}

static bool is_right(enum table_cell_kind kind)
{
    return kind == TABLE_DECIMAL || kind == TABLE_NUMBER;
}

/* ---- aligned ---- */

static size_t text_width(struct bytes text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.size; i++)
        width += (text.data[i] & 0xC0) != 0x80;
    return width;
}

/* U+0080 to U+009F (C2 80 to C2 9F) are control characters, too. */
static void append_printable(struct buffer *text, struct bytes cell)
{
    buffer_reserve(text, cell.size);
    uint8_t *to = text->data + text->size;
    for (size_t i = 0; i < cell.size; i++) {
        uint8_t c = cell.data[i];
        bool is_c1 = c == 0xC2 && i + 1 < cell.size && cell.data[i + 1] < 0xA0;
        if (is_c1)
            i++;
        *to++ = is_c1 || c < 0x20 || c == 0x7F ? '?' : c;
    }
    text->size = (size_t)(to - text->data);
}

static void aligned_line(struct table_print *print, const struct bytes *cells)
{
    size_t owed = 0; /* spaces before the next text, so that no line ends with spaces */
    for (uint32_t i = 0; i < print->column_count; i++) {
        size_t width = text_width(cells[i]);
        size_t fill = width < print->widths[i] ? print->widths[i] - width : 0;
        bool right = is_right(print->columns[i].kind);
        if (i > 0)
            owed += 2;
        if (cells[i].size > 0) {
            buffer_put_repeated(print->text, ' ', owed + (right ? fill : 0));
            append_printable(print->text, cells[i]);
            owed = right ? 0 : fill;
        } else {
            owed += fill;
        }
    }
    buffer_put_u8(print->text, '\n');
}

static void header_cells(const struct table_print *print, struct bytes *cells)
{
    for (uint32_t i = 0; i < print->column_count; i++)
        cells[i] = bytes_text(print->columns[i].name);
}

static void widen(struct table_print *print, const struct bytes *cells)
{
    for (uint32_t i = 0; i < print->column_count; i++) {
        size_t width = text_width(cells[i]);
        if (width > print->widths[i])
            print->widths[i] = width;
    }
}

static void hold_row(struct table_print *print, const struct bytes *cells)
{
    widen(print, cells);
    for (uint32_t i = 0; i < print->column_count; i++)
        buffer_put_sized(&print->held, cells[i]);
    print->held_rows++;
}

static void release_held(struct table_print *print)
{
    struct bytes cells[TABLE_COLUMNS_MAX];
    struct reader reader = reader_of(buffer_view(&print->held));
    header_cells(print, cells);
    aligned_line(print, cells);
    for (uint32_t row = 0; row < print->held_rows; row++) {
        for (uint32_t i = 0; i < print->column_count; i++)
            cells[i] = reader_sized(&reader);
        aligned_line(print, cells);
    }
    check(!reader.failed);
    buffer_release(&print->held);
    print->held_rows = 0;
    print->is_flowing = true;
}

/* ---- CSV, JSON, Markdown ---- */

static bool is_formula(struct bytes cell)
{
    return cell.size > 0 && memchr("=+-@\t\r\n", cell.data[0], 7) != NULL;
}

static void csv_guarded_cell(struct buffer *text, enum table_cell_kind kind, struct bytes cell)
{
    struct buffer guarded = {0};
    if (is_right(kind) || !is_formula(cell)) {
        table_print_csv_field(text, cell);
        return;
    }
    buffer_put_u8(&guarded, '\'');
    buffer_append_bytes(&guarded, cell);
    table_print_csv_field(text, buffer_view(&guarded));
    buffer_release(&guarded);
}

static void csv_line(struct table_print *print, const struct bytes *cells)
{
    for (uint32_t i = 0; i < print->column_count; i++) {
        if (i > 0)
            buffer_put_u8(print->text, ',');
        if (cells[i].data == NULL)
            continue;
        if (print->format == TABLE_CSV_SAFE)
            csv_guarded_cell(print->text, print->columns[i].kind, cells[i]);
        else
            table_print_csv_field(print->text, cells[i]);
    }
    buffer_put_u8(print->text, '\n');
}

static void json_line(struct table_print *print, const struct bytes *cells)
{
    buffer_append_text(print->text, print->rows == 0 ? "[\n  {" : ",\n  {");
    for (uint32_t i = 0; i < print->column_count; i++) {
        if (i > 0)
            buffer_append_text(print->text, ", ");
        buffer_append_json(print->text, bytes_text(print->columns[i].name));
        buffer_append_text(print->text, ": ");
        json_append_cell(print->text, print->columns[i].kind, cells[i]);
    }
    buffer_put_u8(print->text, '}');
}

static void markdown_line(struct table_print *print, const struct bytes *cells)
{
    for (uint32_t i = 0; i < print->column_count; i++) {
        buffer_append_text(print->text, i == 0 ? "| " : " | ");
        for (size_t k = 0; k < cells[i].size; k++) {
            uint8_t c = cells[i].data[k];
            if (c == '|' || c == '\\')
                buffer_put_u8(print->text, '\\');
            buffer_put_u8(print->text, c < 0x20 ? ' ' : c);
        }
    }
    buffer_append_text(print->text, " |\n");
}

static void markdown_header(struct table_print *print)
{
    struct bytes cells[TABLE_COLUMNS_MAX];
    header_cells(print, cells);
    markdown_line(print, cells);
    for (uint32_t i = 0; i < print->column_count; i++)
        buffer_append_text(print->text, is_right(print->columns[i].kind) ? "|---:" : "|---");
    buffer_append_text(print->text, "|\n");
}

/* ---- life ---- */

struct table_print *table_print_new(enum table_format format, const struct table_column *columns,
                                    uint32_t column_count, struct buffer *text)
{
    struct bytes cells[TABLE_COLUMNS_MAX];
    struct table_print *print = memory_zeroed(1, sizeof(*print));
    check(column_count > 0 && column_count <= TABLE_COLUMNS_MAX);
    print->format = format;
    print->columns = columns;
    print->column_count = column_count;
    print->text = text;
    header_cells(print, cells);
    widen(print, cells);
    if (format == TABLE_CSV || format == TABLE_CSV_SAFE)
        csv_line(print, cells);
    if (format == TABLE_MARKDOWN)
        markdown_header(print);
    return print;
}

struct buffer *table_print_cell(struct table_cells *cells, bool is_null)
{
    check(cells->count < TABLE_COLUMNS_MAX);
    cells->is_null[cells->count] = is_null;
    cells->starts[cells->count++] = cells->text.size;
    buffer_reserve(&cells->text, 1); /* the data of an empty cell must not be NULL */
    return &cells->text;
}

void table_print_cells(struct table_print *print, struct table_cells *cells)
{
    struct bytes views[TABLE_COLUMNS_MAX];
    size_t end = cells->text.size;
    check(cells->count == print->column_count);
    for (uint32_t i = cells->count; i > 0; i--) {
        size_t start = cells->starts[i - 1];
        views[i - 1] = cells->is_null[i - 1] ? bytes_of(NULL, 0)
                                             : bytes_of(cells->text.data + start, end - start);
        end = start;
    }
    table_print_row(print, views);
    buffer_release(&cells->text);
    cells->count = 0;
}

void table_print_row(struct table_print *print, const struct bytes *cells)
{
    switch (print->format) {
    case TABLE_ALIGNED:
        if (print->is_flowing)
            aligned_line(print, cells);
        else
            hold_row(print, cells);
        if (print->held_rows == TABLE_ROWS_HELD)
            release_held(print);
        break;
    case TABLE_CSV:
    case TABLE_CSV_SAFE:
        csv_line(print, cells);
        break;
    case TABLE_JSON:
        json_line(print, cells);
        break;
    case TABLE_MARKDOWN:
        markdown_line(print, cells);
        break;
    }
    print->rows++;
}

void table_print_finish(struct table_print *print)
{
    if (print->format == TABLE_ALIGNED && !print->is_flowing)
        release_held(print);
    if (print->format == TABLE_JSON)
        buffer_append_text(print->text, print->rows == 0 ? "[]\n" : "\n]\n");
    table_print_abandon(print);
}

void table_print_abandon(struct table_print *print)
{
    buffer_release(&print->held);
    memory_free(print);
}
