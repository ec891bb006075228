/* row_span: the least and the greatest row, kept packed.
 *
 * A segment whose span does not overlap a slice must yield nothing for that slice.  So a segment
 * with a static row, a bound of a range deletion or the deletion of a partition (row_segment.c)
 * gets no span, because these matter to any slice.  A segment also gets no span if its table has no
 * clustering columns, or if the span would have over ROW_SPAN_MAX bytes.
 *
 * A segment whose span is damaged is read, like one without a span. */
#include "storage/segment/row_span.h"

enum { SPAN_FORMAT = 1 };

static void clustering_keep(const struct clustering *clustering, struct buffer *kept)
{
    buffer_clear(kept);
    row_clustering_pack(clustering, kept);
}

/* Unpacking cannot fail, because clustering_keep packed the bytes. */
static int compare_kept(const struct table *table, const struct clustering *clustering,
                        const struct buffer *kept)
{
    struct clustering other;
    struct reader reader = reader_of(buffer_view(kept));
    row_clustering_unpack(&reader, &other);
    return row_clustering_compare(table, clustering, &other);
}

void row_span_add(struct row_span *span, const struct table *table, const struct unfiltered *item,
                  bool is_first)
{
    if (item->kind == UNFILTERED_BOUND || item->row.is_static || table->clustering_count == 0)
        span->is_open = true;
    if (span->is_open)
        return;
    const struct clustering *clustering = &item->row.clustering;
    bool is_only = span->least.size == 0;
    /* Rows of a partition ascend, so only its first one can be the least. */
    if (is_only || (is_first && compare_kept(table, clustering, &span->least) < 0))
        clustering_keep(clustering, &span->least);
    if (is_only || compare_kept(table, clustering, &span->greatest) > 0)
        clustering_keep(clustering, &span->greatest);
}

void row_span_put(const struct row_span *span, struct buffer *target)
{
    if (span->is_open || span->least.size == 0 ||
        1 + span->least.size + span->greatest.size > ROW_SPAN_MAX)
        return;
    buffer_put_u8(target, SPAN_FORMAT);
    buffer_append_bytes(target, buffer_view(&span->least));
    buffer_append_bytes(target, buffer_view(&span->greatest));
}

void row_span_release(struct row_span *span)
{
    buffer_release(&span->least);
    buffer_release(&span->greatest);
}

bool row_span_may_meet(struct bytes bytes, const struct table *table, const struct slice *slice)
{
    struct clustering least;
    struct clustering greatest;
    struct reader reader = reader_of(bytes);
    if (bytes.size == 0 || reader_u8(&reader) != SPAN_FORMAT)
        return true;
    row_clustering_unpack(&reader, &least);
    row_clustering_unpack(&reader, &greatest);
    if (reader.failed || reader_left(&reader) > 0 || least.count != table->clustering_count ||
        greatest.count != table->clustering_count)
        return true;
    return row_bound_compare_clustering(table, &slice->start, &greatest) < 0 &&
           row_bound_compare_clustering(table, &slice->end, &least) > 0;
}
