/* The layer of a table is the length of the shortest path of queries to it.  So a line to the right
 * never passes boxes of another layer.
 *
 * A box has the y of its first source in an earlier layer, unless the box above is in the way.
 * Each line end has its own place on a box's side, so that labels do not overlap. */
#include "query/model/chebotko_layout.h"

#include <string.h>

#include "base/memory.h"

enum {
    GAP_DOWN = 30,     /* between boxes of a column */
    GAP_ACROSS = 40,   /* between columns without lines */
    GAP_LINES = 56,    /* width for the bends of lines, beside their straight ends */
    GAP_BAND = 50,     /* above boxes of the second kind, for their heading */
    PORT_STEP = 24,    /* between line ends on a side of a box */
    PORT_AIR = 6,      /* above the first line end and below the last */
    LABEL_MARGIN = 26, /* of a straight end beside its label: the arrowhead, and a margin */
    COLUMNS_MAX = 40
};

/* Each array except `order` has one item for each place. */
struct layers {
    struct chebotko_layout *layout;
    uint32_t *layer; /* CHEBOTKO_NOWHERE: the place has no lines */
    uint32_t *order; /* places with lines, in the order of the lines */
    uint32_t order_count;
    uint32_t *left_ports;
    uint32_t *right_ports;
};

int32_t chebotko_layout_straight(const struct chebotko_line *line)
{
    return line->label_width + LABEL_MARGIN;
}

static int32_t max_of(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* ---- layers ---- */

/* Move the target of each line to the layer after the source's layer, or to layer 0 if there is no
 * source.  The target stays if it is in no later layer, or if the source has no layer yet.  False:
 * nothing changed. */
static bool relax(struct layers *layers)
{
    bool changed = false;

    for (uint32_t i = 0; i < layers->layout->line_count; i++) {
        const struct chebotko_line *line = &layers->layout->lines[i];
        uint32_t reached = line->from == CHEBOTKO_NOWHERE ? 0 : layers->layer[line->from];
        if (line->from != CHEBOTKO_NOWHERE && reached != CHEBOTKO_NOWHERE)
            reached++;
        if (reached < layers->layer[line->to]) {
            layers->layer[line->to] = reached;
            changed = true;
        }
    }
    return changed;
}

/* Puts a source without a layer into layer 0.  False: all sources have a layer. */
static bool enter_anywhere(struct layers *layers)
{
    for (uint32_t i = 0; i < layers->layout->line_count; i++) {
        uint32_t from = layers->layout->lines[i].from;
        if (from != CHEBOTKO_NOWHERE && layers->layer[from] == CHEBOTKO_NOWHERE) {
            layers->layer[from] = 0;
            return true;
        }
    }
    return false;
}

static void add_to_order(struct layers *layers, uint32_t place)
{
    for (uint32_t i = 0; i < layers->order_count; i++)
        if (layers->order[i] == place)
            return;
    layers->order[layers->order_count++] = place;
}

static void find_layers(struct layers *layers)
{
    for (uint32_t i = 0; i < layers->layout->place_count; i++)
        layers->layer[i] = CHEBOTKO_NOWHERE;
    do {
        while (relax(layers)) {
        }
    } while (enter_anywhere(layers));
    for (uint32_t i = 0; i < layers->layout->line_count; i++) {
        const struct chebotko_line *line = &layers->layout->lines[i];
        if (line->from != CHEBOTKO_NOWHERE)
            add_to_order(layers, line->from);
        add_to_order(layers, line->to);
    }
}

/* ---- sides ---- */

static uint32_t *port_left_by(struct layers *layers, const struct chebotko_line *line)
{
    return line->leaves_left ? &layers->left_ports[line->from] : &layers->right_ports[line->from];
}

static uint32_t *port_reached_by(struct layers *layers, const struct chebotko_line *line)
{
    return line->arrives_right ? &layers->right_ports[line->to] : &layers->left_ports[line->to];
}

static void find_sides(struct layers *layers)
{
    struct chebotko_layout *layout = layers->layout;

    for (uint32_t i = 0; i < layout->line_count; i++) {
        struct chebotko_line *line = &layout->lines[i];
        line->leaves_left = false;
        line->arrives_right = false;
        if (line->from != CHEBOTKO_NOWHERE) {
            line->leaves_left = layers->layer[line->to] < layers->layer[line->from];
            line->arrives_right = layers->layer[line->to] <= layers->layer[line->from];
            (*port_left_by(layers, line))++;
        }
        (*port_reached_by(layers, line))++;
    }
    for (uint32_t i = 0; i < layout->place_count; i++) {
        uint32_t *left = &layers->left_ports[i];
        uint32_t *right = &layers->right_ports[i];
        int32_t ports = (int32_t)(*left > *right ? *left : *right);
        layout->places[i].height = max_of(layout->places[i].height, ports * PORT_STEP + PORT_AIR);
        *left = 0;
        *right = 0;
    }
}

/* ---- positions ---- */

/* The y of the source of the first line that leads from an earlier layer to `place`; layout->top:
 * there is no such line. */
static int32_t source_y(const struct layers *layers, uint32_t place)
{
    const struct chebotko_layout *layout = layers->layout;

    for (uint32_t i = 0; i < layout->line_count; i++) {
        const struct chebotko_line *line = &layout->lines[i];
        if (line->to == place && line->from != CHEBOTKO_NOWHERE &&
            layers->layer[line->from] < layers->layer[place])
            return layout->places[line->from].y;
    }
    return layout->top;
}

/* The width that lines need before the layer; 0: there are no lines. */
static int32_t room_before(const struct layers *layers, uint32_t layer)
{
    const struct chebotko_layout *layout = layers->layout;
    int32_t from_left = 0;
    int32_t from_right = 0;
    int32_t bend = 0;

    for (uint32_t i = 0; i < layout->line_count; i++) {
        const struct chebotko_line *line = &layout->lines[i];
        int32_t *side = line->arrives_right ? &from_right : &from_left;
        if (layers->layer[line->to] + line->arrives_right != layer)
            continue;
        *side = max_of(*side, chebotko_layout_straight(line));
        bend = line->from == CHEBOTKO_NOWHERE ? bend : GAP_LINES;
    }
    return from_left + from_right + bend;
}

/* Place the layer's boxes from *x on, and set *x to their right end.  False: there are no boxes. */
static bool place_layer(struct layers *layers, uint32_t layer, int32_t *x)
{
    struct chebotko_layout *layout = layers->layout;
    int32_t y = layout->top;
    int32_t width = 0;
    bool is_any = false;

    for (uint32_t i = 0; i < layers->order_count; i++)
        if (layers->layer[layers->order[i]] == layer)
            width = max_of(width, layout->places[layers->order[i]].width);
    *x += room_before(layers, layer);
    for (uint32_t i = 0; i < layers->order_count; i++) {
        struct chebotko_place *place = &layout->places[layers->order[i]];
        if (layers->layer[layers->order[i]] != layer)
            continue;
        is_any = true;
        place->x = *x;
        place->y = max_of(y, source_y(layers, layers->order[i]));
        place->width = width;
        y = place->y + place->height + GAP_DOWN;
        layout->height = max_of(layout->height, place->y + place->height);
    }
    *x += width;
    return is_any;
}

static void place_layers(struct layers *layers)
{
    int32_t x = layers->layout->left;
    uint32_t layer = 0;

    while (place_layer(layers, layer, &x)) {
        layers->layout->width = max_of(layers->layout->width, x);
        layer++;
    }
    /* Lines within the last layer bend on its right. */
    x = layers->layout->width + room_before(layers, layer);
    layers->layout->width = max_of(layers->layout->width, x);
}

/* ---- boxes without lines ---- */

static bool is_loose(const struct layers *layers, uint32_t place, bool is_second)
{
    return layers->layout->places[place].is_second == is_second &&
           layers->layer[place] == CHEBOTKO_NOWHERE;
}

/* Put each box into the column that is the shortest so far.  Returns the x of the right end. */
static int32_t place_columns(struct layers *layers, bool is_second, uint32_t column_count,
                             int32_t top, int32_t *bottom_out)
{
    struct chebotko_layout *layout = layers->layout;
    int32_t heights[COLUMNS_MAX] = {0};
    int32_t widths[COLUMNS_MAX] = {0};
    int32_t xs[COLUMNS_MAX];
    int32_t x = layout->left;

    *bottom_out = top;
    for (uint32_t i = 0; i < layout->place_count; i++) {
        struct chebotko_place *place = &layout->places[i];
        uint32_t best = 0;
        if (!is_loose(layers, i, is_second))
            continue;
        for (uint32_t c = 1; c < column_count; c++)
            best = heights[c] < heights[best] ? c : best;
        place->x = (int32_t)best;
        place->y = top + heights[best];
        heights[best] += place->height + GAP_DOWN;
        widths[best] = max_of(widths[best], place->width);
        *bottom_out = max_of(*bottom_out, place->y + place->height);
    }
    for (uint32_t c = 0; c < column_count; c++) {
        xs[c] = x;
        x += widths[c] > 0 ? widths[c] + GAP_ACROSS : 0;
    }
    for (uint32_t i = 0; i < layout->place_count; i++)
        if (is_loose(layers, i, is_second))
            layout->places[i].x = xs[layout->places[i].x];
    return x - GAP_ACROSS;
}

static void widen_columns(struct layers *layers, bool is_second)
{
    struct chebotko_place *places = layers->layout->places;

    for (uint32_t i = 0; i < layers->layout->place_count; i++) {
        for (uint32_t j = 0; j < layers->layout->place_count; j++)
            if (is_loose(layers, i, is_second) && is_loose(layers, j, is_second) &&
                places[i].x == places[j].x)
                places[i].width = max_of(places[i].width, places[j].width);
    }
}

/* Uses the least number of columns that fills the width of the boxes above.  Without boxes above,
 * the columns of tables are at least 1.5 times as wide as high. */
static void place_loose(struct layers *layers, bool is_second)
{
    struct chebotko_layout *layout = layers->layout;
    bool has_width = layers->order_count > 0 || is_second;
    int32_t gap = is_second ? GAP_BAND : GAP_DOWN;
    int32_t top = layout->height > 0 ? layout->height + gap : layout->top;
    int32_t bottom = 0;
    int32_t right = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < layout->place_count; i++)
        count += is_loose(layers, i, is_second);
    if (count == 0)
        return;
    layout->second_y = is_second ? top : layout->second_y;
    for (uint32_t columns = 1; columns <= count && columns <= COLUMNS_MAX; columns++) {
        right = place_columns(layers, is_second, columns, top, &bottom);
        int32_t wanted = has_width ? layout->width : layout->left + (bottom - top) * 3 / 2;
        if (right >= wanted)
            break;
    }
    widen_columns(layers, is_second);
    layout->width = max_of(layout->width, right);
    layout->height = max_of(layout->height, bottom);
}

/* ---- lines ---- */

static int32_t next_port(const struct chebotko_place *place, uint32_t *taken)
{
    return place->y + CHEBOTKO_TITLE_HEIGHT / 2 + (int32_t)(*taken)++ * PORT_STEP;
}

static void place_line(struct layers *layers, struct chebotko_line *line)
{
    const struct chebotko_place *to = &layers->layout->places[line->to];
    const struct chebotko_place *from;

    if (line->from != CHEBOTKO_NOWHERE) {
        from = &layers->layout->places[line->from];
        line->x1 = from->x + (line->leaves_left ? 0 : from->width);
        line->y1 = next_port(from, port_left_by(layers, line));
    }
    line->x2 = to->x + (line->arrives_right ? to->width : 0);
    line->y2 = next_port(to, port_reached_by(layers, line));
    if (line->from == CHEBOTKO_NOWHERE) {
        line->x1 = line->x2 - chebotko_layout_straight(line);
        line->y1 = line->y2;
    }
}

void chebotko_layout_make(struct chebotko_layout *layout)
{
    size_t count = layout->place_count;
    uint32_t *space = memory_zeroed(count * 4 + 1, sizeof(*space));
    struct layers layers = {.layout = layout,
                            .layer = space,
                            .order = space + count,
                            .left_ports = space + count * 2,
                            .right_ports = space + count * 3};

    layout->width = 0;
    layout->height = 0;
    layout->second_y = 0;
    find_layers(&layers);
    find_sides(&layers);
    place_layers(&layers);
    place_loose(&layers, false);
    place_loose(&layers, true);
    for (uint32_t i = 0; i < layout->line_count; i++)
        place_line(&layers, &layout->lines[i]);
    memory_free(space);
}
