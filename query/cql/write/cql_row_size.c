#include "query/cql/write/cql_row_size.h"

#include "base/hash64.h"
#include "base/memory.h"
#include "query/cql/common/cql_trace.h"

enum { SIZES_KEPT = 1 << 14 }; /* a power of two */

struct row_size {
    uint64_t hash; /* 0: none */
    size_t bound;
};

struct cql_row_size_bounds {
    size_t limit;
    struct row_size kept[SIZES_KEPT]; /* at the index that the hash gives */
};

struct cql_row_size_bounds *cql_row_size_bounds_new(size_t limit)
{
    check(limit > 0);
    struct cql_row_size_bounds *sizes = memory_zeroed(1, sizeof(*sizes));
    sizes->limit = limit;
    return sizes;
}

void cql_row_size_bounds_free(struct cql_row_size_bounds *sizes)
{
    memory_free(sizes);
}

/* A position in the columns of a write.  Callers ask about columns in ascending order. */
struct write_place {
    const struct row *write;
    uint32_t complex, cell;
};

static bool is_replaced(struct write_place *place, uint32_t column_id)
{
    const struct row *write = place->write;
    while (place->complex < write->complex_count &&
           write->complex[place->complex].column_id < column_id)
        place->complex++;
    return place->complex < write->complex_count &&
           write->complex[place->complex].column_id == column_id;
}

static bool column_grows(struct write_place *place, uint32_t *at)
{
    const struct row *row = place->write;
    const struct cell *first = &row->cells[*at];
    size_t size = 0;
    for (; *at < row->cell_count && row->cells[*at].column_id == first->column_id; (*at)++)
        size += row->cells[*at].path.size + row->cells[*at].value.size;
    return size > CQL_ROW_SIZE_SMALL ||
           (first->path.data != NULL && !is_replaced(place, first->column_id));
}

size_t cql_row_size_growth(const struct row *row)
{
    struct write_place place = {.write = row};
    bool grows = false;
    for (uint32_t i = 0; i < row->cell_count && !grows;)
        grows = column_grows(&place, &i);
    return grows ? row_memory(row) : 0;
}

static bool writes_over(struct write_place *place, uint32_t column_id)
{
    const struct row *write = place->write;
    if (is_replaced(place, column_id))
        return true;
    while (place->cell < write->cell_count && write->cells[place->cell].column_id < column_id)
        place->cell++;
    return place->cell < write->cell_count && write->cells[place->cell].column_id == column_id &&
           write->cells[place->cell].path.data == NULL;
}

size_t cql_row_size_kept(const struct row *row, const struct row *write)
{
    struct write_place place = {.write = write};
    size_t size = row_memory(row);
    bool is_gone = false;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        if (i == 0 || cell->column_id != cell[-1].column_id)
            is_gone = writes_over(&place, cell->column_id);
        if (is_gone)
            size -= sizeof(*cell) + cell->path.size + cell->value.size;
    }
    return size;
}

/* Returns a hash of the row's whole key, which is never 0. */
static uint64_t row_hash(const struct mutation *mutation, const struct row *row)
{
    uint64_t hash = hash64(mutation->key.data, mutation->key.size) ^ mutation->table_id;
    for (uint32_t i = 0; i < row->clustering.count; i++) {
        struct bytes value = row->clustering.values[i];
        const uint64_t joined[] = {hash, hash64(value.data, value.size)};
        hash = hash64(joined, sizeof(joined));
    }
    return (hash ^ row->is_static) | 1;
}

static struct row_size *place_of(struct cql_row_size_bounds *sizes, uint64_t hash)
{
    return &sizes->kept[hash >> 1 & (SIZES_KEPT - 1)];
}

bool cql_row_size_add(struct cql_row_size_bounds *sizes, uint64_t hash, size_t growth)
{
    struct row_size *kept = place_of(sizes, hash);
    if (kept->hash != hash || kept->bound + growth > sizes->limit)
        return false;
    kept->bound += growth;
    return true;
}

bool cql_row_size_measured(struct cql_row_size_bounds *sizes, uint64_t hash, size_t size,
                           size_t growth)
{
    if (size + growth > sizes->limit)
        return false;
    *place_of(sizes, hash) = (struct row_size){hash, size + growth};
    return true;
}

/* ---- a batch ---- */

static const struct table *table_of(const struct cql_row_size_measure *measure)
{
    const struct mutation *mutation = &measure->batch->mutations[measure->mutation];
    return schema_table(store_schema(measure->execution->cql->options.store), mutation->table_id);
}

static const struct unfiltered *item_of(const struct cql_row_size_measure *measure)
{
    return &measure->batch->mutations[measure->mutation].items[measure->item];
}

static uint64_t hash_of(const struct cql_row_size_measure *measure)
{
    return row_hash(&measure->batch->mutations[measure->mutation], &item_of(measure)->row);
}

static int refuse_row(struct cql_row_size_measure *measure, size_t size)
{
    const struct table *table = table_of(measure);
    return cql_invalid(
        &measure->execution->fault,
        "A row of table %s.%s would take %zu bytes of memory, of at most %zu: delete "
        "it or write its collections anew, or keep what it has in several rows",
        table->keyspace, table->name, size + measure->growth,
        measure->execution->cql->row_sizes->limit);
}

static void measure_rows(struct cql_row_size_measure *measure);

static void row_arrived(void *context, int status, const struct error *err,
                        const struct read_page *page)
{
    struct cql_row_size_measure *measure = context;
    size_t size = 0;
    bool is_static = item_of(measure)->row.is_static;
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++)
        if (page->rows[i].row.is_static == is_static)
            size += cql_row_size_kept(&page->rows[i].row, &item_of(measure)->row);
    if (status != 0) {
        measure->rc = cql_fault_of(&measure->execution->fault, err);
    } else if (!cql_row_size_measured(measure->execution->cql->row_sizes, hash_of(measure), size,
                                      measure->growth)) {
        measure->rc = refuse_row(measure, size);
    }
    measure->item++;
    measure_rows(measure);
}

static void read_row(struct cql_row_size_measure *measure)
{
    const struct row *row = &item_of(measure)->row;
    struct read_request request = {.table_id = table_of(measure)->id,
                                   .key = measure->batch->mutations[measure->mutation].key,
                                   .slice = stream_slice_all(),
                                   .row_limit = 1,
                                   .with_deleted = true,
                                   .view = READ_APPLIED};
    request.slice.with_static = row->is_static;
    if (!row->is_static) {
        request.slice.start = (struct bound){row->clustering, BOUND_BEFORE};
        request.slice.end = (struct bound){row->clustering, BOUND_AFTER};
    }
    cql_trace(measure->execution, "Measuring a row of %s", table_of(measure)->name);
    cql_execution_read(measure->execution, &request, row_arrived, measure);
}

static bool must_be_measured(struct cql_row_size_measure *measure)
{
    const struct unfiltered *item = item_of(measure);
    measure->growth = item->kind == UNFILTERED_ROW ? cql_row_size_growth(&item->row) : 0;
    return measure->growth > 0 && (table_of(measure)->flags & TABLE_OF_EVENTS) == 0 &&
           !cql_row_size_add(measure->execution->cql->row_sizes, hash_of(measure), measure->growth);
}

static bool next_row(struct cql_row_size_measure *measure)
{
    for (; measure->mutation < measure->batch->mutation_count; measure->mutation++) {
        const struct mutation *mutation = &measure->batch->mutations[measure->mutation];
        for (; measure->item < mutation->item_count; measure->item++)
            if (must_be_measured(measure))
                return true;
        measure->item = 0;
    }
    return false;
}

static void measure_rows(struct cql_row_size_measure *measure)
{
    if (measure->rc == 0 && next_row(measure))
        read_row(measure);
    else
        measure->ready(measure->context, measure->rc);
}

void cql_row_size_measure_begin(struct cql_row_size_measure *measure)
{
    measure->mutation = measure->item = 0;
    measure->rc = 0;
    measure_rows(measure);
}
