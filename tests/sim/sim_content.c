/* sim_content: see the header.
 *
 * A page remembers its hash until it is written, so that the hash of a copy costs what it differs
 * in.  A page of zeros that was written counts like one that never was. */
#include "tests/sim/sim_content.h"

#include <string.h>

#include "base/hash64.h"
#include "base/memory.h"

struct sim_page {
    uint32_t owners;
    bool is_hash_known;
    uint64_t hash;
    uint8_t data[SIM_PAGE];
};

static void page_return(struct sim_page *page)
{
    if (page != NULL && --page->owners == 0)
        memory_free(page);
}

/* A page of this content alone, to be written. */
static struct sim_page *page_own(struct sim_page **place)
{
    struct sim_page *page = *place;
    if (page == NULL) {
        page = memory_zeroed(1, sizeof *page);
    } else if (page->owners > 1) {
        page->owners--;
        page = memory_copy(page, sizeof *page);
    }
    page->owners = 1;
    page->is_hash_known = false;
    *place = page;
    return page;
}

static bool page_is_zero(const struct sim_page *page)
{
    return page == NULL ||
           (page->data[0] == 0 && memcmp(page->data, page->data + 1, SIM_PAGE - 1) == 0);
}

static uint64_t page_hash(struct sim_page *page)
{
    if (page != NULL && !page->is_hash_known) {
        page->hash = page_is_zero(page) ? 0 : hash64(page->data, SIM_PAGE);
        page->is_hash_known = true;
    }
    return page != NULL ? page->hash : 0;
}

void sim_content_release(struct sim_content *content)
{
    for (size_t i = 0; i < content->page_count; i++)
        page_return(content->pages[i]);
    memory_free(content->pages);
    *content = (struct sim_content){0};
}

void sim_content_copy(struct sim_content *to, const struct sim_content *from)
{
    *to = *from;
    to->pages = memory_copy(from->pages, from->page_count * sizeof(struct sim_page *));
    for (size_t i = 0; i < to->page_count; i++)
        if (to->pages[i] != NULL)
            to->pages[i]->owners++;
}

void sim_content_resize(struct sim_content *content, uint64_t size)
{
    size_t count = (size_t)((size + SIM_PAGE - 1) / SIM_PAGE);
    for (size_t i = count; i < content->page_count; i++)
        page_return(content->pages[i]);
    content->pages = memory_resize(content->pages, count * sizeof(struct sim_page *));
    for (size_t i = content->page_count; i < count; i++)
        content->pages[i] = NULL;
    content->page_count = count;
    size_t within = (size_t)(size % SIM_PAGE);
    if (size < content->size && within > 0 && content->pages[count - 1] != NULL)
        memset(page_own(&content->pages[count - 1])->data + within, 0, SIM_PAGE - within);
    content->size = size;
}

void sim_content_put(struct sim_content *content, uint64_t offset, struct bytes data)
{
    if (data.size > 0 && content->size < offset + data.size)
        sim_content_resize(content, offset + data.size);
    while (data.size > 0) {
        size_t within = (size_t)(offset % SIM_PAGE);
        size_t part = SIM_PAGE - within < data.size ? SIM_PAGE - within : data.size;
        struct sim_page *page = page_own(&content->pages[offset / SIM_PAGE]);
        memcpy(page->data + within, data.data, part);
        data = bytes_of(data.data + part, data.size - part);
        offset += part;
    }
}

size_t sim_content_read(const struct sim_content *content, uint64_t offset, void *to, size_t size)
{
    if (offset >= content->size)
        return 0;
    size_t count = size < content->size - offset ? size : (size_t)(content->size - offset);
    for (size_t done = 0; done < count;) {
        size_t within = (size_t)((offset + done) % SIM_PAGE);
        size_t part = SIM_PAGE - within < count - done ? SIM_PAGE - within : count - done;
        const struct sim_page *page = content->pages[(offset + done) / SIM_PAGE];
        if (page != NULL)
            memcpy((uint8_t *)to + done, page->data + within, part);
        else
            memset((uint8_t *)to + done, 0, part);
        done += part;
    }
    return count;
}

uint64_t sim_content_hash(const struct sim_content *content)
{
    uint64_t hash = content->size;
    for (size_t i = 0; i < content->page_count; i++) {
        uint64_t page = page_hash(content->pages[i]);
        if (page != 0)
            hash = (hash ^ page ^ i) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash;
}
