/* http_pages: see the header. */
#include "program/http_pages.h"

#include "query/metrics_page.h"

static const char text_type[] = "text/plain; charset=utf-8";

static void serve_health(void *context, struct http_exchange *exchange)
{
    (void)context;
    http_door_answer(exchange, &(struct http_answer){
                                   .status = 200, .type = text_type, .body = bytes_text("ok\n")});
}

static void serve_readiness(void *context, struct http_exchange *exchange)
{
    const struct instance *instance = context;
    struct store_status status;

    store_status(instance->store, &status);
    if (status.failed) {
        http_door_refuse(
            exchange, &(struct http_refusal){503, "store_failed",
                                             "a write or sync of the disk failed", "data directory",
                                             "see the server's last lines on standard error"});
    } else if (status.waiting.shortage != STORE_SHORT_OF_NOTHING && status.waiting.stops_writes) {
        http_door_refuse(exchange,
                         &(struct http_refusal){503, store_shortage_name(status.waiting.shortage),
                                                "writes wait", "data directory",
                                                "daybook status says what for; make room"});
    } else {
        http_door_answer(
            exchange,
            &(struct http_answer){.status = 200, .type = text_type, .body = bytes_text("ready\n")});
    }
}

static void serve_metrics(void *context, struct http_exchange *exchange)
{
    const struct instance *instance = context;
    struct buffer text = {0};

    metrics_page_write(&instance->query, &text);
    http_door_answer(exchange,
                     &(struct http_answer){.status = 200,
                                           .type = "text/plain; version=0.0.4; charset=utf-8",
                                           .body = buffer_view(&text)});
    buffer_release(&text);
}

void http_pages_add(struct http_door *door, struct instance *instance)
{
    static const struct {
        const char *path;
        void (*serve)(void *context, struct http_exchange *exchange);
    } pages[] = {
        {"/healthz", serve_health},
        {"/readyz", serve_readiness},
        {"/metrics", serve_metrics},
    };

    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        http_door_route(door, &(struct http_route){.path = pages[i].path,
                                                   .methods = HTTP_METHOD_GET,
                                                   .serve = pages[i].serve,
                                                   .context = instance});
}
