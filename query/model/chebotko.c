/* Makes a box of each table and user type, and SVG of the boxes.
 *
 * Lines are drawn first, boxes over them, labels last. */
#include "query/model/chebotko.h"

#include "query/cql/index/cql_index.h"
#include "query/model/chebotko_layout.h"
#include "query/report/svg.h"
#include "base/arena.h"
#include "base/memory.h"

enum {
    ARENA_CHUNK = 16 * 1024,
    MARGIN = 24,
    HEADING = 56,
    ROW_HEIGHT = 22,
    PADDING = 10,
    GAP = 16,      /* between a row's name, type and marks */
    FOOT_STEP = 20 /* between lines of text below the boxes */
};

struct chebotko_row {
    struct bytes name;
    struct bytes type;
    struct bytes marks;
    bool is_key;
};

struct chebotko_box {
    struct bytes title;
    struct chebotko_row *rows;
    uint32_t row_count;
    uint32_t key_count;
    int32_t type_x; /* pixels from the box's left side */
};

struct chebotko {
    const struct schema *schema;
    const char *keyspace;
    const struct query_flow *flow;
    struct arena *arena;
    struct chebotko_box *boxes;
    struct chebotko_layout layout;
    struct buffer *svg;
};

/* ---- boxes ---- */

static const char *brackets_of(const struct type *type)
{
    switch ((int)type->kind) {
    case TYPE_LIST:
        return "[]";
    case TYPE_SET:
        return "{}";
    case TYPE_MAP:
        return "<>";
    case TYPE_UDT:
        return "**";
    case TYPE_TUPLE:
        return "()";
    default:
        return "";
    }
}

static void name_row(struct chebotko *chebotko, const char *name, const struct type *type,
                     struct chebotko_row *row)
{
    const char *brackets = brackets_of(type);
    struct buffer shown = {.arena = chebotko->arena};
    struct buffer cql = {.arena = chebotko->arena};

    if (brackets[0] != '\0')
        buffer_put_u8(&shown, (uint8_t)brackets[0]);
    buffer_append_text(&shown, name);
    if (brackets[0] != '\0')
        buffer_put_u8(&shown, (uint8_t)brackets[1]);
    row->name = buffer_view(&shown);
    type_print(type, &cql);
    row->type = buffer_view(&cql);
}

static bool is_indexed(const struct column *column, const struct cql_index *indexes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (indexes[i].column->id == column->id)
            return true;
    return false;
}

static const char *kind_mark(const struct column *column)
{
    switch (column->kind) {
    case COLUMN_PARTITION:
        return "K";
    case COLUMN_CLUSTERING:
        return column->descending ? "C↓" : "C↑";
    case COLUMN_STATIC:
        return column->type->kind == TYPE_COUNTER ? "S ++" : "S";
    case COLUMN_REGULAR:
        return column->type->kind == TYPE_COUNTER ? "++" : "";
    }
    return "";
}

static void mark_row(struct chebotko *chebotko, const struct column *column, bool has_index,
                     struct chebotko_row *row)
{
    struct buffer text = {.arena = chebotko->arena};

    buffer_append_text(&text, kind_mark(column));
    if (has_index)
        buffer_append_text(&text, text.size > 0 ? " IDX" : "IDX");
    row->marks = buffer_view(&text);
    row->is_key = column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING;
}

static void measure(struct chebotko_box *box, struct chebotko_place *place)
{
    int32_t name = 0;
    int32_t type = 0;
    int32_t marks = 0;

    for (uint32_t i = 0; i < box->row_count; i++) {
        const struct chebotko_row *row = &box->rows[i];
        name = svg_width(row->name) > name ? svg_width(row->name) : name;
        type = svg_width(row->type) > type ? svg_width(row->type) : type;
        marks = svg_width(row->marks) > marks ? svg_width(row->marks) : marks;
    }
    box->type_x = PADDING + name + GAP;
    int32_t rows = box->type_x + type + (marks > 0 ? GAP + marks : 0) + PADDING;
    int32_t title = svg_width(box->title) * 15 / 13 + 2 * PADDING;
    place->width = rows > title ? rows : title;
    place->height = CHEBOTKO_TITLE_HEIGHT + (int32_t)box->row_count * ROW_HEIGHT + 4;
}

static struct chebotko_row *new_rows(struct chebotko *chebotko, uint32_t count)
{
    return arena_alloc_zeroed(chebotko->arena, count * sizeof(struct chebotko_row) + 1,
                              _Alignof(struct chebotko_row));
}

static void make_table(struct chebotko *chebotko, const struct table *table,
                       struct chebotko_box *box)
{
    const struct cql_index *indexes;
    uint32_t count = cql_index_list(chebotko->schema, table, chebotko->arena, &indexes);

    box->title = bytes_text(table->name);
    box->row_count = table->column_count;
    box->key_count = table->partition_count + table->clustering_count;
    box->rows = new_rows(chebotko, box->row_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        name_row(chebotko, column->name, column->type, &box->rows[i]);
        mark_row(chebotko, column, is_indexed(column, indexes, count), &box->rows[i]);
    }
}

static void make_type(struct chebotko *chebotko, const struct type *type, struct chebotko_box *box)
{
    struct buffer title = {.arena = chebotko->arena};

    buffer_printf(&title, "*%s*", type->name);
    box->title = buffer_view(&title);
    box->row_count = type->argument_count;
    box->rows = new_rows(chebotko, box->row_count);
    for (uint32_t i = 0; i < type->argument_count; i++)
        name_row(chebotko, type->field_names[i], type->arguments[i], &box->rows[i]);
}

static bool is_drawn(const struct chebotko *chebotko, const struct table *table)
{
    return strcmp(table->keyspace, chebotko->keyspace) == 0 && (table->flags & TABLE_HIDDEN) == 0;
}

/* Make the boxes of tables in the order of names, then of types in the order of their creation. */
static void make_boxes(struct chebotko *chebotko)
{
    struct chebotko_layout *layout = &chebotko->layout;
    const struct user_type *type;
    const struct table *table = NULL;
    uint32_t count = 0;

    while ((table = schema_table_next(chebotko->schema, table)) != NULL)
        count += is_drawn(chebotko, table);
    for (uint32_t i = 0; (type = schema_type_at(chebotko->schema, i)) != NULL; i++)
        count += strcmp(type->keyspace, chebotko->keyspace) == 0;
    chebotko->boxes = memory_zeroed(count, sizeof(*chebotko->boxes));
    layout->places = memory_zeroed(count, sizeof(*layout->places));
    while ((table = schema_table_next(chebotko->schema, table)) != NULL)
        if (is_drawn(chebotko, table))
            make_table(chebotko, table, &chebotko->boxes[layout->place_count++]);
    for (uint32_t i = 0; (type = schema_type_at(chebotko->schema, i)) != NULL; i++) {
        if (strcmp(type->keyspace, chebotko->keyspace) != 0)
            continue;
        layout->places[layout->place_count].is_second = true;
        make_type(chebotko, type->type, &chebotko->boxes[layout->place_count++]);
    }
    for (uint32_t i = 0; i < count; i++)
        measure(&chebotko->boxes[i], &layout->places[i]);
}

/* ---- queries ---- */

static int find_box(const struct chebotko *chebotko, struct bytes name, uint32_t line,
                    uint32_t *box_out, struct error *err)
{
    int shown = name.size > 100 ? 100 : (int)name.size;

    for (uint32_t i = 0; i < chebotko->layout.place_count; i++) {
        *box_out = i;
        if (!chebotko->layout.places[i].is_second && bytes_equal(chebotko->boxes[i].title, name))
            return 0;
    }
    return error_set(err, ERROR_INVALID, "line %u: keyspace %s has no table %.*s", line,
                     chebotko->keyspace, shown, (const char *)name.data);
}

static int make_lines(struct chebotko *chebotko, struct error *err)
{
    struct chebotko_layout *layout = &chebotko->layout;
    uint32_t count = chebotko->flow->count;
    int rc = 0;

    layout->lines = memory_zeroed(count, sizeof(*layout->lines));
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        const struct query_flow_line *query = &chebotko->flow->lines[i];
        struct chebotko_line *line = &layout->lines[i];
        *line = (struct chebotko_line){.from = CHEBOTKO_NOWHERE,
                                       .label_width = svg_width(query->name) + 12};
        if (query->from.size > 0)
            rc = find_box(chebotko, query->from, query->line, &line->from, err);
        rc = rc == 0 ? find_box(chebotko, query->to, query->line, &line->to, err) : rc;
        layout->line_count = i + 1;
    }
    return rc;
}

/* ---- drawing ---- */

static const char style[] =
    SVG_TEXT_STYLE ".keyspace { font-size: 20px; font-weight: bold; }\n"
                   ".title { font-size: 15px; font-weight: bold; text-anchor: middle; }\n"
                   ".key { font-weight: bold; }\n"
                   ".type, .note { fill: #5b6b7c; }\n"
                   ".mark { font-weight: bold; fill: #9a3412; text-anchor: end; }\n"
                   ".query { font-weight: bold; fill: #ffffff; text-anchor: middle; }\n"
                   ".box { fill: #ffffff; stroke: #44546a; stroke-width: 1.5; }\n"
                   ".table { fill: #d6e4f5; stroke: #44546a; stroke-width: 1.5; }\n"
                   ".udt { fill: #e3efd9; stroke: #44546a; stroke-width: 1.5; }\n"
                   ".rule { stroke: #b8c4d2; }\n"
                   ".line { fill: none; stroke: #2f6db5; stroke-width: 1.5; }\n"
                   ".tip { fill: #2f6db5; }\n";

static void draw_row(struct chebotko *chebotko, const struct chebotko_box *box,
                     const struct chebotko_place *place, uint32_t index)
{
    const struct chebotko_row *row = &box->rows[index];
    struct buffer *svg = chebotko->svg;
    int32_t y = place->y + CHEBOTKO_TITLE_HEIGHT + (int32_t)index * ROW_HEIGHT;

    if (index > 0 && index == box->key_count)
        buffer_printf(svg, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"rule\"/>\n",
                      place->x, y + 2, place->x + place->width, y + 2);
    y += ROW_HEIGHT - 5;
    svg_put_label(svg, place->x + PADDING, y, row->is_key ? "key" : "name", row->name);
    svg_put_label(svg, place->x + box->type_x, y, "type", row->type);
    if (row->marks.size > 0)
        svg_put_label(svg, place->x + place->width - PADDING, y, "mark", row->marks);
}

static void draw_box(struct chebotko *chebotko, uint32_t index)
{
    const struct chebotko_box *box = &chebotko->boxes[index];
    const struct chebotko_place *place = &chebotko->layout.places[index];
    struct buffer *svg = chebotko->svg;

    buffer_printf(svg, "<g>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"box\"/>\n",
                  place->x, place->y, place->width, place->height);
    buffer_printf(svg, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"%s\"/>\n",
                  place->x, place->y, place->width, CHEBOTKO_TITLE_HEIGHT,
                  place->is_second ? "udt" : "table");
    svg_put_label(svg, place->x + place->width / 2, place->y + 20, "title", box->title);
    for (uint32_t i = 0; i < box->row_count; i++)
        draw_row(chebotko, box, place, i);
    buffer_append_text(svg, "</g>\n");
}

static void draw_line(struct chebotko *chebotko, const struct chebotko_line *line)
{
    struct buffer *svg = chebotko->svg;
    int32_t out = line->leaves_left ? -1 : 1;
    int32_t in = line->arrives_right ? 1 : -1;
    int32_t bent = line->x2 + in * chebotko_layout_straight(line);
    int32_t reach = (bent > line->x1 ? bent - line->x1 : line->x1 - bent) / 2;

    reach = reach > 40 ? reach : 40;
    buffer_printf(svg, "<path class=\"line\" d=\"M%d %d", line->x1, line->y1);
    if (line->x1 != bent || line->y1 != line->y2)
        buffer_printf(svg, " C%d %d %d %d %d %d", line->x1 + out * reach, line->y1,
                      bent + in * reach, line->y2, bent, line->y2);
    buffer_printf(svg, " H%d\"/>\n", line->x2 + in * 8);
    buffer_printf(svg, "<path class=\"tip\" d=\"M%d %d l%d -5 v10 z\"/>\n", line->x2, line->y2,
                  in * 10);
}

static void draw_query(struct chebotko *chebotko, uint32_t index)
{
    const struct chebotko_line *line = &chebotko->layout.lines[index];
    int32_t in = line->arrives_right ? 1 : -1;
    int32_t center = line->x2 + in * (14 + line->label_width / 2);

    buffer_printf(chebotko->svg,
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"20\" rx=\"10\" class=\"tip\"/>\n",
                  center - line->label_width / 2, line->y2 - 10, line->label_width);
    svg_put_label(chebotko->svg, center, line->y2 + 5, "query", chebotko->flow->lines[index].name);
}

static const char *const marks_explained[] = {
    "K partition key · C↑ C↓ clustering, ascending or descending · S static · ++ counter · "
    "IDX secondary index",
    "[list] · {set} · <map> · (tuple) · *user type*",
};
enum { MARKS_EXPLAINED = sizeof(marks_explained) / sizeof(marks_explained[0]) };

/* Returns the y below the texts; *width is raised if the texts are wider. */
static int32_t draw_foot(struct chebotko *chebotko, int32_t y, int32_t *width)
{
    uint32_t count = chebotko->layout.line_count;
    int32_t name_width = 0;

    for (uint32_t i = 0; i < count; i++) {
        int32_t name = svg_width(chebotko->flow->lines[i].name);
        name_width = name > name_width ? name : name_width;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct query_flow_line *query = &chebotko->flow->lines[i];
        int32_t end = MARGIN + name_width + GAP + svg_width(query->text);
        svg_put_label(chebotko->svg, MARGIN, y, "key", query->name);
        svg_put_label(chebotko->svg, MARGIN + name_width + GAP, y, "name", query->text);
        *width = end > *width ? end : *width;
        y += FOOT_STEP;
    }
    y += count > 0 ? FOOT_STEP / 2 : 0;
    for (uint32_t i = 0; i < MARKS_EXPLAINED; i++) {
        int32_t end = MARGIN + svg_width(bytes_text(marks_explained[i]));
        svg_put_label(chebotko->svg, MARGIN, y, "note", bytes_text(marks_explained[i]));
        *width = end > *width ? end : *width;
        y += FOOT_STEP;
    }
    return y;
}

/* `drawn` collects the drawing, because the diagram's size, which the head of the file has, is
 * known only afterwards. */
static void draw(struct chebotko *chebotko)
{
    struct chebotko_layout *layout = &chebotko->layout;
    struct buffer *svg = chebotko->svg;
    struct buffer drawn = {0};
    int32_t width = layout->width;

    chebotko->svg = &drawn;
    svg_put_label(&drawn, MARGIN, MARGIN + 16, "keyspace", bytes_text(chebotko->keyspace));
    if (layout->second_y > 0)
        svg_put_label(&drawn, MARGIN, layout->second_y - 10, "note", bytes_text("user types"));
    for (uint32_t i = 0; i < layout->line_count; i++)
        draw_line(chebotko, &layout->lines[i]);
    for (uint32_t i = 0; i < layout->place_count; i++)
        draw_box(chebotko, i);
    for (uint32_t i = 0; i < layout->line_count; i++)
        draw_query(chebotko, i);
    int32_t height = draw_foot(chebotko, layout->height + 2 * FOOT_STEP, &width);
    svg_put_document(svg, width + MARGIN, height, bytes_text(chebotko->keyspace), style,
                     buffer_view(&drawn));
    buffer_release(&drawn);
}

int chebotko_draw(const struct schema *schema, const char *keyspace, const struct query_flow *flow,
                  struct buffer *svg, struct error *err)
{
    struct chebotko chebotko = {.schema = schema, .keyspace = keyspace, .flow = flow, .svg = svg};

    if (schema_keyspace(schema, keyspace) == NULL)
        return error_set(err, ERROR_NOT_FOUND, "there is no keyspace %s", keyspace);
    chebotko.arena = arena_new(ARENA_CHUNK);
    chebotko.layout.left = MARGIN;
    chebotko.layout.top = HEADING + MARGIN;
    make_boxes(&chebotko);
    int rc = make_lines(&chebotko, err);
    if (rc == 0) {
        chebotko_layout_make(&chebotko.layout);
        draw(&chebotko);
    }
    memory_free(chebotko.layout.lines);
    memory_free(chebotko.layout.places);
    memory_free(chebotko.boxes);
    arena_free(chebotko.arena);
    return rc;
}
