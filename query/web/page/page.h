/* page: serves the web interface for people, at / and below on the HTTP door.
 *
 *     GET /revenue?by=month&reseller=AA       a view: HTML, complete without scripts
 *     GET /assets/style.css                   a file of the program
 *
 * page.c has the table of views; view.h says how a view is made.  Nothing is loaded from other
 * servers, and no script or style is inline: the Content-Security-Policy forbids both. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_PAGE_H
#define DAYBOOK_QUERY_WEB_PAGE_PAGE_H

#include "door/http_door.h"
#include "query/live/live.h"
#include "query/web/web_command.h"
#include "query/web/web_cql.h"
#include "query/web/web_token.h"

struct page;

/* The objects that the pointers point to outlive the struct page. */
struct page_options {
    const struct world *world;
    struct web_commands *commands;
    struct web_cql *cql;
    struct live *live;
    const struct web_token *token;     /* a form that changes something must have it */
    const char *ingest;                /* address of the ingest door, or "none" */
    const char *version;               /* of the program */
    const char *currency;              /* "": none is set */
    /* Returns the name of stream `index` (0: `clicks`), or NULL if there is none.  *currency_out is
     * the currency of the stream's amounts; "": the directory's.  NULL: views know no streams. */
    const char *(*stream_at)(void *context, uint32_t index, const char **currency_out);
    void *stream_context;
    size_t bytes_max;                  /* bytes of memory of all views that are being made */
    /* Called with each change of the bytes of all views; may be NULL. */
    void (*held)(void *context, int64_t change_bytes);
    void *held_context;
};

struct page *page_new(struct http_door *door, const struct page_options *options);
/* Whether no view is being made.  After the door has closed, a step of a view (view.h) may still be
 * under way. */
bool page_is_idle(const struct page *page);
/* Call this when the door has closed and the page is idle. */
void page_free(struct page *page);
#endif
