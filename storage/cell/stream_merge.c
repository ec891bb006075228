/* stream_merge: at each place an input has at most one range deletion in force; the strongest of
 * them is in force in the output.  A bound is yielded only where the strongest deletion changes:
 *
 *     input a     [----- 7 -----)
 *     input b            [----- 9 -----)
 *     row              r            s
 *     output      [- 7 --[----- 9 -----)      three bounds; r is under 7, s under 9
 *
 * The head of an input is the item that it yielded last.  An item of the output may point into
 * heads, so the streams of these are pulled only when the next call begins. */
#include "storage/cell/stream.h"

#include "base/arena.h"
#include "base/heap.h"
#include "base/memory.h"

enum { STREAM_MERGE_ARENA_CHUNK = 4096 };

struct merge_input {
    struct stream *stream;
    struct unfiltered head;
    struct deletion open;
};

struct merge_stream {
    struct stream base;
    bool reversed;
    size_t count;
    struct heap heap;          /* inputs with a head; the first in stream order is on top */
    struct merge_input **used; /* inputs to pull next: those of the last item; at first all */
    size_t used_count;
    const struct row **versions; /* scratch: rows of one clustering */
    struct deletion open;
    struct arena *arena;
    struct merge_input inputs[]; /* `count`; behind them: heap.items, `used`, `versions` */
};

static int head_compare(const struct merge_stream *merge, const struct merge_input *a,
                        const struct merge_input *b)
{
    int order = stream_position_compare(merge->base.table, &a->head, &b->head);

    if (!merge->reversed)
        return order;
    /* The static row comes first in either direction. */
    bool is_static = (a->head.kind == UNFILTERED_ROW && a->head.row.is_static) ||
                     (b->head.kind == UNFILTERED_ROW && b->head.row.is_static);
    return is_static ? order : -order;
}

static bool head_is_before(const void *merge, const void *a, const void *b)
{
    return head_compare(merge, a, b) < 0;
}

/* ---- merging ---- */

static int pull_used(struct merge_stream *merge, struct error *err)
{
    for (size_t i = 0; i < merge->used_count; i++) {
        struct merge_input *input = merge->used[i];
        int rc = input->stream->next(input->stream, &input->head, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            heap_push(&merge->heap, head_is_before, merge, input);
    }
    merge->used_count = 0;
    return 0;
}

/* The used heads are either all rows of one clustering, or all bounds. */
static void use_first(struct merge_stream *merge)
{
    struct heap *heap = &merge->heap;
    struct merge_input *first = heap_pop(heap, head_is_before, merge);

    merge->used[merge->used_count++] = first;
    while (heap->count > 0 && head_compare(merge, first, heap->items[0]) == 0)
        merge->used[merge->used_count++] = heap_pop(heap, head_is_before, merge);
}

static struct deletion stronger(struct deletion a, struct deletion b)
{
    return row_deletion_supersedes(b, a) ? b : a;
}

static bool deletion_equal(struct deletion a, struct deletion b)
{
    return a.timestamp_us == b.timestamp_us &&
           (a.timestamp_us == TIMESTAMP_NONE || a.local_s == b.local_s);
}

/* DELETION_NONE if the partition deletion is at least as strong. */
static struct deletion strongest_open(const struct merge_stream *merge)
{
    struct deletion strongest = DELETION_NONE;

    for (size_t i = 0; i < merge->count; i++)
        strongest = stronger(strongest, merge->inputs[i].open);
    return row_deletion_supersedes(strongest, merge->base.partition_deletion) ? strongest
                                                                              : DELETION_NONE;
}

static bool merge_bounds(struct merge_stream *merge, struct unfiltered *out)
{
    for (size_t i = 0; i < merge->used_count; i++)
        merge->used[i]->open = merge->used[i]->head.after;
    struct deletion before = merge->open;
    merge->open = strongest_open(merge);
    if (deletion_equal(before, merge->open))
        return false;
    out->kind = UNFILTERED_BOUND;
    out->bound = merge->used[0]->head.bound;
    out->before = before;
    out->after = merge->open;
    return true;
}

static bool row_is_unchanged(const struct row *row, struct deletion covering)
{
    return covering.timestamp_us == TIMESTAMP_NONE &&
           row->deletion.timestamp_us == TIMESTAMP_NONE && row->complex_count == 0;
}

/* `row` is the next one to be merged. */
static struct deletion covering_of(const struct merge_stream *merge, const struct row *row)
{
    struct deletion partition = merge->base.partition_deletion;
    return row->is_static ? partition : stronger(partition, merge->open);
}

static bool merge_rows(struct merge_stream *merge, struct unfiltered *out)
{
    const struct row *first = &merge->used[0]->head.row;
    struct deletion covering = covering_of(merge, first);

    out->kind = UNFILTERED_ROW;
    out->before = DELETION_NONE;
    out->after = out->before;
    if (merge->used_count == 1 && row_is_unchanged(first, covering)) {
        out->row = *first;
        return true;
    }
    for (size_t i = 0; i < merge->used_count; i++)
        merge->versions[i] = &merge->used[i]->head.row;
    row_merge(merge->base.table, merge->versions, (uint32_t)merge->used_count, covering,
              merge->arena, &out->row);
    return !row_is_empty(&out->row);
}

/* merge_next for a single input. */
static int merge_next_alone(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct merge_stream *merge = (struct merge_stream *)stream;
    struct merge_input *input = merge->inputs;

    for (;;) {
        arena_reset(merge->arena);
        int rc = merge->used_count > 0 ? input->stream->next(input->stream, out, err) : 0;
        if (rc <= 0) {
            merge->used_count = 0;
            return rc;
        }
        bool is_row = out->kind == UNFILTERED_ROW;
        if (is_row && row_is_unchanged(&out->row, covering_of(merge, &out->row))) {
            out->before = DELETION_NONE;
            out->after = DELETION_NONE;
            return 1;
        }
        input->head = *out;
        if (is_row ? merge_rows(merge, out) : merge_bounds(merge, out))
            return 1;
    }
}

static int merge_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct merge_stream *merge = (struct merge_stream *)stream;

    for (;;) {
        arena_reset(merge->arena);
        int rc = pull_used(merge, err);
        if (rc < 0 || merge->heap.count == 0)
            return rc;
        use_first(merge);
        bool is_row = merge->used[0]->head.kind == UNFILTERED_ROW;
        if (is_row ? merge_rows(merge, out) : merge_bounds(merge, out))
            return 1;
    }
}

static void merge_close(struct stream *stream)
{
    struct merge_stream *merge = (struct merge_stream *)stream;

    for (size_t i = 0; i < merge->count; i++)
        stream_close(merge->inputs[i].stream);
    arena_free(merge->arena);
    memory_free(merge);
}

struct stream *stream_merge(const struct table *table, struct stream **streams, size_t count,
                            bool reversed)
{
    const size_t each = sizeof(struct merge_input) + 3 * sizeof(void *);
    check(count <= (SIZE_MAX - sizeof(struct merge_stream)) / each);
    struct merge_stream *merge = memory_zeroed(1, sizeof *merge + count * each);

    merge->base = (struct stream){
        .table = table,
        .partition_deletion = DELETION_NONE,
        .next = count == 1 ? merge_next_alone : merge_next,
        .close = merge_close,
    };
    merge->reversed = reversed;
    merge->heap.items = (void **)(merge->inputs + count);
    merge->used = (struct merge_input **)(merge->heap.items + count);
    merge->versions = (void *)(merge->used + count);
    merge->arena = arena_new(STREAM_MERGE_ARENA_CHUNK);
    merge->open = DELETION_NONE;
    merge->count = count;
    for (size_t i = 0; i < count; i++) {
        merge->inputs[i].stream = streams[i];
        merge->inputs[i].open = DELETION_NONE;
        merge->used[i] = &merge->inputs[i];
        merge->base.partition_deletion =
            stronger(merge->base.partition_deletion, streams[i]->partition_deletion);
    }
    merge->used_count = count;
    return &merge->base;
}
