/* http_response: see the header. */
#include "door/http_response.h"

#include <inttypes.h>
#include <time.h>

static const struct {
    uint16_t status;
    const char *text;
} statuses[] = {
    {100, "Continue"},
    {200, "OK"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

static const char *status_text(uint16_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == status)
            return statuses[i].text;
    return "";
}

/* strftime's names depend on the locale. */
static void put_date(int64_t time_us, struct buffer *wire)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm tm;

    if (gmtime_r(&seconds, &tm) == NULL)
        return;
    buffer_printf(wire, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d GMT\r\n", days + 3 * tm.tm_wday,
                  tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
                  tm.tm_sec);
}

void http_response_put(const struct http_response *response, struct buffer *wire)
{
    const struct http_answer *answer = response->answer;
    bool has_body = answer->status != 304;

    buffer_printf(wire, "HTTP/1.1 %u %s\r\n", answer->status, status_text(answer->status));
    put_date(response->time_us, wire);
    if (has_body)
        buffer_printf(wire, "Content-Type: %s\r\nContent-Length: %zu\r\n", answer->type,
                      answer->body.size);
    if (answer->etag != NULL)
        buffer_printf(wire, "ETag: %s\r\nCache-Control: no-cache\r\n", answer->etag);
    else
        buffer_append_text(wire, "Cache-Control: no-store\r\n");
    if (answer->allow != NULL)
        buffer_printf(wire, "Allow: %s\r\n", answer->allow);
    if (answer->status == 503)
        buffer_append_text(wire, "Retry-After: 1\r\n");
    if (response->is_last)
        buffer_append_text(wire, "Connection: close\r\n");
    buffer_append_text(wire,
                       "X-Content-Type-Options: nosniff\r\n"
                       "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
                       "\r\n");
    if (has_body && !response->is_head)
        buffer_append_bytes(wire, answer->body);
}

/* The texts are ours, and have nothing to escape. */
void http_response_put_refusal(const struct http_refusal *refusal, struct buffer *json)
{
    buffer_printf(json, "{\"error\":\"%s\",\"what\":\"%s\",\"where\":\"%s\",\"todo\":\"%s\"}\n",
                  refusal->code, refusal->what, refusal->where, refusal->todo);
}
