/* page: see the header. */
#include "query/web/page/page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash64.h"
#include "base/memory.h"
#include "query/web/page/assets.h"
#include "query/web/page/view.h"

enum { FORM_MAX = 64 << 10, ASSETS_MAX = 16, ASSET_PATH_MAX = 48, ETAG_SIZE = 24 };

static const struct view *const views[] = {
    &view_live, &view_revenue, &view_why, &view_counters, &view_rejects, &view_query, &view_status};
enum { VIEWS = sizeof views / sizeof views[0] };

static const char policy[] =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

struct asset {
    char path[ASSET_PATH_MAX];
    char etag[ETAG_SIZE], gzip_etag[ETAG_SIZE];
    struct http_asset answer;
};

struct page_view {
    struct page *page;
    const struct view *view;
};

struct page {
    struct view_room room;
    struct page_view views[VIEWS];
    struct asset assets[ASSETS_MAX];
};

/* ---- the frame ---- */

static void put_head(const struct view_call *call, struct buffer *html)
{
    html_put(html,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<title>{} · daybook</title>\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<link rel=\"icon\" href=\"{}/assets/icon.svg\" type=\"image/svg+xml\">\n"
             "<link rel=\"stylesheet\" href=\"{}/assets/style.css\">\n"
             "<script type=\"module\" src=\"{}/assets/page.js\"></script>\n",
             call->title, call->base, call->base, call->base);
    if (call->view->script != NULL)
        html_put(html, "<script type=\"module\" src=\"{}/assets/{}\"></script>\n", call->base,
                 bytes_text(call->view->script));
    buffer_append_text(html, "</head>\n");
}

static void put_navigation(const struct view_call *call, struct buffer *html)
{
    html_put(html,
             "<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n"
             "<a class=\"brand\" href=\"{}/\">daybook</a>\n<nav aria-label=\"Views\">\n<ul>\n",
             call->base);
    for (size_t i = 0; i < VIEWS; i++)
        html_put(html,
                 views[i] == call->view ? "<li><a href=\"{}{}\" aria-current=\"page\">{}</a></li>\n"
                                        : "<li><a href=\"{}{}\">{}</a></li>\n",
                 call->base, bytes_text(views[i]->path), bytes_text(views[i]->title));
    buffer_append_text(html, "</ul>\n</nav>\n</header>\n");
}

static void put_foot(const struct view_call *call, struct buffer *html)
{
    html_put(html,
             "<footer>\n<p>daybook {}{} · <a href=\"{}/api/openapi.json\">API</a> · "
             "<a href=\"{}/metrics\">metrics</a></p>\n</footer>\n</body>\n</html>\n",
             bytes_text(call->options->version), bytes_text(call->may_change ? "" : " · read-only"),
             call->base, call->base);
}

/* ---- answers ---- */

static void answer_view(struct view_call *call)
{
    const struct http_field location = {"Location", call->location};
    struct buffer html = {0};

    if (call->location != NULL) {
        http_door_answer(
            call->exchange,
            &(struct http_answer){.status = call->status, .fields = &location, .field_count = 1});
        return;
    }
    put_head(call, &html);
    put_navigation(call, &html);
    html_put(&html, "<main id=\"main\" tabindex=\"-1\">\n<h1>{}</h1>\n", call->title);
    buffer_append_bytes(&html, buffer_view(&call->html));
    buffer_append_text(&html, "</main>\n");
    put_foot(call, &html);
    http_door_answer(call->exchange, &(struct http_answer){.status = call->status,
                                                           .type = "text/html; charset=utf-8",
                                                           .body = buffer_view(&html),
                                                           .policy = policy});
    buffer_release(&html);
}

static void serve_view(void *context, struct http_exchange *exchange)
{
    const struct page_view *view = context;

    view_begin(&view->page->room, view->view, exchange, answer_view);
}

static void serve_asset(void *context, struct http_exchange *exchange)
{
    const struct asset *asset = context;

    http_door_answer_asset(exchange, &asset->answer);
}

/* ---- routes ---- */

static const char *type_of(const char *name)
{
    static const struct {
        const char *end, *type;
    } types[] = {{".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".svg", "image/svg+xml"}};
    const char *end = strrchr(name, '.');

    for (size_t i = 0; end != NULL && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(end, types[i].end) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static void make_etag(struct bytes file, char etag[ETAG_SIZE])
{
    (void)snprintf(etag, ETAG_SIZE, "\"%016" PRIx64 "\"", hash64(file.data, file.size));
}

static void add_asset(struct http_door *door, const struct assets_file *file, struct asset *asset)
{
    asset->answer = (struct http_asset){.type = type_of(file->name),
                                        .policy = policy,
                                        .etag = asset->etag,
                                        .gzip_etag = asset->gzip_etag,
                                        .plain = bytes_of(file->plain, file->plain_size),
                                        .gzip = bytes_of(file->gzip, file->gzip_size)};
    make_etag(asset->answer.plain, asset->etag);
    make_etag(asset->answer.gzip, asset->gzip_etag);
    (void)snprintf(asset->path, sizeof asset->path, "/assets/%s", file->name);
    http_door_route(door, &(struct http_route){.path = asset->path,
                                               .methods = HTTP_METHOD_GET,
                                               .serve = serve_asset,
                                               .context = asset});
}

static void add_view(struct http_door *door, struct page_view *view)
{
    bool takes_forms = view->view->post != NULL;

    http_door_route(door, &(struct http_route){.path = view->view->path,
                                               .methods = HTTP_METHOD_GET |
                                                          (takes_forms ? HTTP_METHOD_POST : 0),
                                               .body_max = takes_forms ? FORM_MAX : 0,
                                               .serve = serve_view,
                                               .context = view});
}

struct page *page_new(struct http_door *door, const struct page_options *options)
{
    struct page *page = memory_zeroed(1, sizeof *page);

    page->room.options = *options;
    page->room.quota.limit = options->bytes_max;
    for (size_t i = 0; i < VIEWS; i++) {
        page->views[i] = (struct page_view){page, views[i]};
        add_view(door, &page->views[i]);
    }
    check(assets_count <= ASSETS_MAX);
    for (size_t i = 0; i < assets_count; i++)
        add_asset(door, &assets_files[i], &page->assets[i]);
    return page;
}

bool page_is_idle(const struct page *page)
{
    return page->room.call_count == 0;
}

void page_free(struct page *page)
{
    check(page_is_idle(page));
    memory_free(page);
}
