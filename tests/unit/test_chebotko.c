/* test_chebotko: where boxes and lines go, and what is drawn of a keyspace. */
#include <criterion/criterion.h>

#include "query/model/chebotko.h"
#include "query/model/chebotko_layout.h"
#include "base/arena.h"

/* ---- layout ---- */

enum { PLACES_MAX = 40, LINES_MAX = 60 };

struct diagram {
    struct chebotko_place places[PLACES_MAX];
    struct chebotko_line lines[LINES_MAX];
    struct chebotko_layout layout;
};

/* Boxes and lines out of a small generator of numbers; the last places are of the second kind. */
static void make(struct diagram *diagram, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    struct chebotko_layout *layout = &diagram->layout;

    memset(diagram, 0, sizeof(*diagram));
    layout->places = diagram->places;
    layout->lines = diagram->lines;
    layout->place_count = seed % PLACES_MAX + 1;
    layout->line_count = seed / 3 % LINES_MAX;
    layout->top = 80;
    layout->left = 24;
    uint32_t first_kind = (layout->place_count + 2) / 2;
    for (uint32_t i = 0; i < layout->place_count; i++) {
        state = state * 1664525 + 1013904223;
        diagram->places[i].width = 80 + (int32_t)(state >> 24);
        diagram->places[i].height = CHEBOTKO_TITLE_HEIGHT + (int32_t)(state >> 16) % 200;
        diagram->places[i].is_second = i >= first_kind;
    }
    for (uint32_t i = 0; i < layout->line_count; i++) {
        struct chebotko_line *line = &diagram->lines[i];
        state = state * 1664525 + 1013904223;
        line->from = state >> 30 == 0 ? CHEBOTKO_NOWHERE : (state >> 20) % first_kind;
        line->to = (state >> 8) % first_kind;
        line->label_width = 20 + (int32_t)(state >> 5) % 100;
    }
    chebotko_layout_make(layout);
}

static bool overlap(const struct chebotko_place *a, const struct chebotko_place *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
           b->y < a->y + a->height;
}

static void check_boxes(const struct diagram *diagram)
{
    const struct chebotko_layout *layout = &diagram->layout;

    for (uint32_t i = 0; i < layout->place_count; i++) {
        const struct chebotko_place *place = &layout->places[i];
        cr_assert(place->x >= layout->left && place->y >= layout->top);
        cr_assert(place->x + place->width <= layout->width);
        cr_assert(place->y + place->height <= layout->height);
        for (uint32_t j = 0; j < i; j++)
            cr_assert_not(overlap(place, &layout->places[j]), "%u and %u", i, j);
    }
}

/* Where a line's label may be. */
static struct chebotko_place label_of(const struct chebotko_line *line)
{
    int32_t width = chebotko_layout_straight(line);

    return (struct chebotko_place){.width = width,
                                   .height = 20,
                                   .x = line->x2 - (line->arrives_right ? 0 : width),
                                   .y = line->y2 - 10};
}

static void check_labels(const struct diagram *diagram)
{
    const struct chebotko_layout *layout = &diagram->layout;

    for (uint32_t i = 0; i < layout->line_count; i++) {
        struct chebotko_place label = label_of(&layout->lines[i]);
        cr_assert(label.x >= layout->left && label.x + label.width <= layout->width);
        for (uint32_t j = 0; j < layout->place_count; j++)
            cr_assert_not(overlap(&label, &layout->places[j]), "label %u and box %u", i, j);
        for (uint32_t j = 0; j < i; j++) {
            struct chebotko_place other = label_of(&layout->lines[j]);
            cr_assert_not(overlap(&label, &other), "labels of %u and %u", i, j);
        }
    }
}

static void check_lines(const struct diagram *diagram)
{
    const struct chebotko_layout *layout = &diagram->layout;

    for (uint32_t i = 0; i < layout->line_count; i++) {
        const struct chebotko_line *line = &layout->lines[i];
        const struct chebotko_place *to = &layout->places[line->to];
        cr_assert_eq(line->x2, to->x + (line->arrives_right ? to->width : 0));
        cr_assert(line->y2 > to->y && line->y2 < to->y + to->height);
        if (line->from == CHEBOTKO_NOWHERE)
            continue;
        const struct chebotko_place *from = &layout->places[line->from];
        cr_assert_eq(line->x1, from->x + (line->leaves_left ? 0 : from->width));
        cr_assert(line->y1 > from->y && line->y1 < from->y + from->height);
    }
}

Test(chebotko, boxes_and_labels_never_overlap_and_lines_end_at_their_boxes)
{
    static struct diagram diagram;

    for (uint32_t seed = 0; seed < 3000; seed++) {
        make(&diagram, seed);
        check_boxes(&diagram);
        check_lines(&diagram);
        check_labels(&diagram);
    }
}

Test(chebotko, the_same_boxes_and_lines_are_laid_out_the_same)
{
    static struct diagram one;
    static struct diagram other;

    make(&one, 1234);
    make(&other, 1234);
    cr_assert_eq(memcmp(one.places, other.places, sizeof(one.places)), 0);
    cr_assert_eq(memcmp(one.lines, other.lines, sizeof(one.lines)), 0);
}

Test(chebotko, queries_go_from_left_to_right)
{
    struct chebotko_place places[] = {
        {.width = 100, .height = 60}, {.width = 50, .height = 60}, {.width = 70, .height = 60}};
    struct chebotko_line lines[] = {{.from = CHEBOTKO_NOWHERE, .to = 2, .label_width = 30},
                                    {.from = 2, .to = 0, .label_width = 30},
                                    {.from = 0, .to = 2, .label_width = 30}};
    struct chebotko_layout layout = {
        .places = places, .place_count = 3, .lines = lines, .line_count = 3, .top = 5, .left = 7};

    chebotko_layout_make(&layout);
    cr_assert_eq(places[2].x, 7 + chebotko_layout_straight(&lines[0]));
    cr_assert(places[0].x > places[2].x + 70);
    cr_assert_eq(places[0].y, places[2].y);
    cr_assert_not(lines[1].leaves_left);
    cr_assert(lines[2].leaves_left && lines[2].arrives_right);
    cr_assert(places[1].y > places[0].y + 60, "a box without lines stands below");
}

/* ---- drawing ---- */

static struct schema *shop(void)
{
    static const struct column_definition columns[] = {
        {.name = "a<b>&\x01\xef\xbf\xbf", .type = "int", .kind = COLUMN_PARTITION},
        {.name = "time", .type = "timestamp", .kind = COLUMN_CLUSTERING, .descending = true},
        {.name = "n", .type = "int", .kind = COLUMN_CLUSTERING},
        {.name = "s", .type = "text", .kind = COLUMN_STATIC},
        {.name = "tags", .type = "set<text>", .kind = COLUMN_REGULAR},
        {.name = "lines", .type = "list<int>", .kind = COLUMN_REGULAR},
        {.name = "prices", .type = "map<text, int>", .kind = COLUMN_REGULAR},
        {.name = "pair", .type = "tuple<int, int>", .kind = COLUMN_REGULAR},
        {.name = "place", .type = "frozen<address>", .kind = COLUMN_REGULAR},
    };
    static const struct column_definition counts[] = {
        {.name = "k", .type = "int", .kind = COLUMN_PARTITION},
        {.name = "hits", .type = "counter", .kind = COLUMN_REGULAR},
    };
    const struct table_definition orders = {
        .keyspace = "shop", .name = "orders", .comment = "", .columns = columns, .column_count = 9};
    const struct table_definition totals = {.keyspace = "shop",
                                            .name = "totals",
                                            .comment = "",
                                            .flags = TABLE_COUNTER,
                                            .columns = counts,
                                            .column_count = 2};
    const char *const fields[] = {"street"};
    const char *const types[] = {"text"};
    struct schema *schema = schema_new();

    cr_assert_eq(schema_add_keyspace(schema, "shop", NULL), 0);
    cr_assert_eq(schema_add_type(schema, "shop", "address", 1, fields, types, NULL), 0);
    cr_assert_eq(schema_add_table(schema, &orders, NULL), 0);
    cr_assert_eq(schema_add_table(schema, &totals, NULL), 0);
    return schema;
}

/* What is drawn, with a final NUL; the error where it is refused. */
static void draw(const char *keyspace, const char *queries, struct buffer *svg)
{
    struct schema *schema = shop();
    struct arena *arena = arena_new(4096);
    struct query_flow flow;
    struct error err = {0};

    cr_assert_eq(query_flow_parse(bytes_text(queries), arena, &flow, NULL), 0);
    if (chebotko_draw(schema, keyspace, &flow, svg, &err) < 0)
        buffer_append_text(svg, err.text);
    buffer_put_u8(svg, '\0');
    arena_free(arena);
    schema_unref(schema);
}

Test(chebotko, columns_are_drawn_with_their_marks)
{
    static const char *const wanted[] = {">orders</text>",
                                         ">K</text>",
                                         ">C↓</text>",
                                         ">C↑</text>",
                                         ">S</text>",
                                         ">++</text>",
                                         ">{tags}</text>",
                                         ">[lines]</text>",
                                         ">&lt;prices&gt;<",
                                         ">(pair)</text>",
                                         ">*place*</text>",
                                         ">*address*</text>",
                                         (">a&lt;b&gt;&amp;?"
                                          "?<"),
                                         ">user types</text>"};
    struct buffer svg = {0};

    draw("shop", "", &svg);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        cr_assert(strstr((const char *)svg.data, wanted[i]) != NULL, "%s", wanted[i]);
    cr_assert(strstr((const char *)svg.data, "class=\"line\"") == NULL);
    buffer_release(&svg);
}

Test(chebotko, queries_are_drawn_as_lines)
{
    struct buffer svg = {0};

    draw("shop", "Q1 -> orders All & <everything>\nQ2 orders -> totals", &svg);
    cr_assert(strstr((const char *)svg.data, "class=\"line\"") != NULL);
    cr_assert(strstr((const char *)svg.data, ">Q1</text>") != NULL);
    cr_assert(strstr((const char *)svg.data, ">All &amp; &lt;everything&gt;</text>") != NULL);
    buffer_release(&svg);
}

Test(chebotko, what_is_not_there_cannot_be_drawn)
{
    struct buffer svg = {0};

    draw("shops", "", &svg);
    cr_assert_str_eq((const char *)svg.data, "there is no keyspace shops");
    buffer_clear(&svg);
    draw("shop", "Q1 -> orders\n\nQ2 orders -> total", &svg);
    cr_assert_str_eq((const char *)svg.data, "line 3: keyspace shop has no table total");
    buffer_clear(&svg);
    draw("shop", "Q1 -> *address*", &svg);
    cr_assert_str_eq((const char *)svg.data, "line 1: keyspace shop has no table *address*");
    buffer_release(&svg);
}
