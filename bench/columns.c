/* columns: measures how many bytes per click each column of ad_click takes on disk.
 *
 *     build/release-gcc/bench/columns DIRECTORY
 *
 * Every page of rows is decoded, and encoded again with one column made constant.  The bytes by
 * which the page shrinks count as that column's, so this program need not know the layout of pages.
 * `pages_rest` is the rest of these pages (entries, write timestamps).  `files_rest` is the rest of
 * the files (the directory of partitions with its statistics, dictionaries).  Each line of output
 * is a name and a figure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_store.h"
#include "base/memory.h"
#include "storage/segment/segment.h"
#include "storage/segment/columnar_page.h"
#include "tests/lib/segment_alone.h"

enum { COLUMNS_MAX = 16 };

struct sizes {
    const struct table *table;
    struct columnar_page page;
    struct columnar_page_encoder *encoder;
    struct buffer encoded;
    uint64_t rows;
    uint64_t files;
    uint64_t pages;
    uint64_t columns[COLUMNS_MAX]; /* bytes, by the column's index in the page's rows */
};

/* Give all rows the same value in this column.  A column of codes keeps one string per entry. */
static void flatten(struct columnar_page *page, uint32_t column)
{
    struct columnar_vector *vector = &page->rows.vectors[column];
    struct columnar_page_list *list = &page->lists[column];
    vector->absent = NULL;
    if (vector->kind != VECTOR_CODE) {
        memset(vector->integers, 0, page->rows.rows * sizeof *vector->integers);
        if (vector->scales != NULL)
            memset(vector->scales, 0, page->rows.rows);
        return;
    }
    memset(vector->codes, 0, page->rows.rows * sizeof *vector->codes);
    for (uint32_t i = 0; i < page->entry_count; i++) {
        list->numbers[i] = 0;
        list->starts[i] = i;
    }
    list->starts[page->entry_count] = page->entry_count;
    list->count = page->entry_count;
}

static void add_page(struct sizes *sizes, struct bytes encoded)
{
    struct error err = {0};
    uint32_t columns = sizes->page.rows.column_count;
    sizes->pages += encoded.size;
    for (uint32_t i = 0; i < columns; i++) {
        must(columnar_page_decode(&sizes->page, encoded, &err), "page", &err);
        flatten(&sizes->page, i);
        buffer_clear(&sizes->encoded);
        columnar_page_encode(sizes->encoder, &sizes->page, &sizes->encoded);
        sizes->columns[i] += encoded.size - sizes->encoded.size;
    }
}

/* The pages of rows are those to which partitions refer, in the order of partitions. */
static void add_segment(struct sizes *sizes, struct world *world, const struct segment_info *info)
{
    struct segment *segment;
    struct error err = {0};
    struct buffer page = {0};
    uint32_t next = 0;
    must(segment_open_alone(world, info, &segment, &err), "segment", &err);
    sizes->files += info->size;
    sizes->rows += info->rows;
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        uint32_t end = partition->page_first + partition->page_count;
        next = next > partition->page_first ? next : partition->page_first;
        for (; next < end; next++) {
            must(segment_read_page(segment, next, NULL, &page, &err), "page", &err);
            add_page(sizes, buffer_view(&page));
        }
    }
    buffer_release(&page);
    segment_cursor_give(segment, cursor);
    segment_unref(segment);
}

static void print(const struct sizes *sizes)
{
    double rows = (double)sizes->rows;
    uint64_t known = 0;
    for (uint32_t i = 0; i < sizes->page.rows.column_count; i++) {
        printf("%-16s %.4f\n", sizes->page.rows.vectors[i].column->name,
               (double)sizes->columns[i] / rows);
        known += sizes->columns[i];
    }
    printf("pages_rest       %.4f\n", (double)(sizes->pages - known) / rows);
    printf("files_rest       %.4f\n", (double)(sizes->files - sizes->pages) / rows);
    printf("bytes/click      %.4f\n", (double)sizes->files / rows);
}

int main(int argc, char **argv)
{
    struct sizes sizes = {0};
    struct world *world;
    struct manifest *manifest;
    struct error err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: columns DIRECTORY\n");
        return 2;
    }
    must(world_uv_open(argv[1], false, NULL, &world, &err), argv[1], &err);
    const struct manifest_options options = {.read_only = true};
    must(manifest_open(world, &options, &manifest, &err), argv[1], &err);
    const struct manifest_state *state = manifest_state(manifest);
    sizes.table = schema_table(state->schema, TABLE_AD_CLICK);
    sizes.encoder = columnar_page_encoder_new();
    columnar_page_init(&sizes.page, sizes.table);
    check(sizes.page.rows.column_count <= COLUMNS_MAX);
    for (uint32_t i = 0; i < state->segment_count; i++) {
        if (state->segments[i].table_id == TABLE_AD_CLICK &&
            state->segments[i].kind == SEGMENT_COLUMNAR) {
            add_segment(&sizes, world, &state->segments[i]);
        }
    }
    print(&sizes);
    columnar_page_release(&sizes.page);
    columnar_page_encoder_free(sizes.encoder);
    buffer_release(&sizes.encoded);
    manifest_close(manifest);
    world_uv_close(world);
    return EXIT_SUCCESS;
}
