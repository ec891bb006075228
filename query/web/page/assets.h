/* assets: the files of query/web/page/assets/, embedded at build time, as they are and compressed
 * by gzip. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_ASSETS_H
#define DAYBOOK_QUERY_WEB_PAGE_ASSETS_H

#include <stddef.h>
#include <stdint.h>

struct assets_file {
    const char *name;                  /* "style.css" */
    const uint8_t *plain;
    size_t plain_size;
    const uint8_t *gzip;
    size_t gzip_size;
};

extern const struct assets_file assets_files[];
extern const size_t assets_count;
#endif
