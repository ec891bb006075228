/* fuzz_columnar_page: pages of coded columns: decoding stays within the page, and what comes out
 * keeps the promises that readers rely on. */
#include "rollup/tables.h"
#include "storage/segment/columnar_page.h"
#include "tests/fuzz/fuzz.h"

static void check_entries(const struct columnar_page *page)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < page->entry_count; i++) {
        check(page->entries[i].first == rows);
        rows += page->entries[i].rows;
    }
    check(rows == page->rows.rows && rows <= COLUMNAR_PAGE_ROWS_MAX);
}

/* A row's code is a place in its entry's list. */
static void check_codes(const struct columnar_page *page, uint32_t column)
{
    const struct columnar_vector *vector = &page->rows.vectors[column];
    const struct columnar_page_list *list = &page->lists[column];
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct columnar_page_entry *entry = &page->entries[i];
        uint32_t strings = list->starts[i + 1] - list->starts[i];
        for (uint32_t row = entry->first; row < entry->first + entry->rows; row++)
            if (vector->absent == NULL || vector->absent[row] == 0)
                check(vector->codes[row] < strings);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct columnar_page page;
    columnar_page_init(&page, schema_table(fuzz_schema(), TABLE_AD_CLICK));
    if (columnar_page_decode(&page, bytes_of(data, size), NULL) == 0) {
        check_entries(&page);
        for (uint32_t column = 0; column < page.rows.column_count; column++)
            if (page.rows.vectors[column].kind == VECTOR_CODE)
                check_codes(&page, column);
    } else {
        check(page.entry_count == 0 && page.rows.rows == 0);
    }
    /* The ad and the amount alone. */
    page.wanted = 1 << 1 | 1 << 2;
    if (columnar_page_decode(&page, bytes_of(data, size), NULL) == 0) {
        check_entries(&page);
        check_codes(&page, 1);
    }
    columnar_page_release(&page);
    return 0;
}
