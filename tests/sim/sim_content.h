/* sim_content: the bytes of a file in pages that copies share until one of them is written.
 *
 * A crash is simulated by copying a disk, thousands of times a second, and what a copy differs in
 * is a few sectors.  All-zero is an empty content; a page that was never written is zeros. */
#ifndef DAYBOOK_TESTS_SIM_SIM_CONTENT_H
#define DAYBOOK_TESTS_SIM_SIM_CONTENT_H

#include <stdint.h>

#include "base/bytes.h"

enum { SIM_PAGE = 4096 };

struct sim_page;

struct sim_content {
    struct sim_page **pages;       /* NULL: a page of zeros */
    size_t page_count;             /* as many as `size` needs */
    uint64_t size;
};

void sim_content_release(struct sim_content *content);
/* `to` is empty before. */
void sim_content_copy(struct sim_content *to, const struct sim_content *from);
/* Put bytes at an offset; a gap before them is filled with zeros. */
void sim_content_put(struct sim_content *content, uint64_t offset, struct bytes data);
/* Lengthen to `size` with zeros, or cut off. */
void sim_content_resize(struct sim_content *content, uint64_t size);
/* How many bytes were there. */
size_t sim_content_read(const struct sim_content *content, uint64_t offset, void *to, size_t size);
/* Of size and bytes: equal contents have equal ones. */
uint64_t sim_content_hash(const struct sim_content *content);
#endif
