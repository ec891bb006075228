/* row_window: see the header. */
#include "query/web/row_window.h"

static bool is_header(const struct row_window *window)
{
    return window->is_csv && window->rows == 0;
}

static bool is_wanted(const struct row_window *window, const struct buffer *rows)
{
    return is_header(window) ||
           (row_window_total(window) >= window->skipped && window->taken < window->rows_max &&
            rows->size < window->bytes_max);
}

static void begin_line(struct row_window *window, uint8_t first, struct buffer *rows)
{
    /* Lines of JSON that are no rows begin with a bracket. */
    bool is_row = window->is_csv || first == ' ';

    window->is_in_line = true;
    window->is_quoted = false;
    window->is_taken = is_row && is_wanted(window, rows);
    if (window->is_taken && window->taken > 0 && !window->is_csv)
        buffer_append_text(rows, ",\n");
    window->taken += window->is_taken && !is_header(window);
    window->rows += is_row;
    window->row_start = rows->size;
}

static void end_line(struct row_window *window, struct buffer *rows)
{
    window->is_in_line = false;
    if (!window->is_taken)
        return;
    if (window->is_csv)
        buffer_put_u8(rows, '\n');
    else if (rows->size > 0 && rows->data[rows->size - 1] == ',')
        rows->size--;
}

/* Returns the number of bytes before the line's end, or of all bytes if the line does not end
 * here. */
static size_t line_left(struct row_window *window, struct bytes left)
{
    for (size_t i = 0; i < left.size; i++) {
        if (left.data[i] == '"' && window->is_csv)
            window->is_quoted = !window->is_quoted;
        if (left.data[i] == '\n' && !window->is_quoted)
            return i;
    }
    return left.size;
}

void row_window_take(struct row_window *window, struct bytes printed, struct buffer *rows)
{
    for (size_t at = 0; at < printed.size;) {
        if (!window->is_in_line)
            begin_line(window, printed.data[at], rows);
        struct bytes left = bytes_of(printed.data + at, printed.size - at);
        size_t size = line_left(window, left);

        for (size_t i = 0; window->is_taken && i < size; i++)
            if (window->is_csv || left.data[i] != ' ' || rows->size > window->row_start)
                buffer_put_u8(rows, left.data[i]);
        at += size;
        if (size < left.size) {
            end_line(window, rows);
            at++;
        }
    }
}

uint64_t row_window_total(const struct row_window *window)
{
    return window->rows - (window->is_csv && window->rows > 0);
}

bool row_window_has_enough(const struct row_window *window)
{
    return window->is_open && window->taken >= window->rows_max && !window->is_in_line;
}
