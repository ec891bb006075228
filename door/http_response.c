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
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {303, "See Other"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
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

/* strftime is not used, because its names depend on the locale. */
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

static bool has_body(const struct http_answer *answer)
{
    return answer->status != 204 && answer->status != 304;
}

static void put_length(const struct http_response *response, struct buffer *wire)
{
    if (response->is_chunked)
        buffer_append_text(wire, "Transfer-Encoding: chunked\r\n");
    else if (!response->is_streamed)
        buffer_printf(wire, "Content-Length: %zu\r\n", response->answer->body.size);
}

/* Control characters become blanks, because a handler's value may have been sent by a client. */
static void put_field(const struct http_field *field, struct buffer *wire)
{
    buffer_printf(wire, "%s: ", field->name);
    for (const char *at = field->value; *at != '\0'; at++) {
        uint8_t byte = (uint8_t)*at;

        buffer_put_u8(wire, byte < ' ' || byte == 0x7F ? ' ' : byte);
    }
    buffer_append_text(wire, "\r\n");
}

/* Referrer-Policy: requests to other sites must not contain the page's address, which may contain
 * a reseller's name.  Requests to this server may contain the address, because a form's POST would
 * otherwise have no Origin. */
static void put_safety(const struct http_answer *answer, struct buffer *wire)
{
    buffer_printf(wire,
                  "X-Content-Type-Options: nosniff\r\n"
                  "Content-Security-Policy: %s\r\n"
                  "Cross-Origin-Resource-Policy: same-origin\r\n"
                  "Referrer-Policy: same-origin\r\n",
                  answer->policy != NULL ? answer->policy
                                         : "default-src 'none'; frame-ancestors 'none'");
}

void http_response_put_head(const struct http_response *response, struct buffer *wire)
{
    const struct http_answer *answer = response->answer;

    buffer_printf(wire, "HTTP/1.1 %u %s\r\n", answer->status, status_text(answer->status));
    put_date(response->time_us, wire);
    if (has_body(answer)) {
        if (answer->type != NULL)
            buffer_printf(wire, "Content-Type: %s\r\n", answer->type);
        if (answer->encoding != NULL)
            buffer_printf(wire, "Content-Encoding: %s\r\n", answer->encoding);
        put_length(response, wire);
    }
    if (answer->etag != NULL)
        buffer_printf(wire, "ETag: %s\r\nCache-Control: no-cache\r\n", answer->etag);
    else
        buffer_append_text(wire, "Cache-Control: no-store\r\n");
    if (answer->is_variant)
        buffer_append_text(wire, "Vary: Accept, Accept-Encoding\r\n");
    if (answer->allow != NULL)
        buffer_printf(wire, "Allow: %s\r\n", answer->allow);
    if (answer->status == 503)
        buffer_append_text(wire, "Retry-After: 1\r\n");
    if (response->is_last)
        buffer_append_text(wire, "Connection: close\r\n");
    for (uint32_t i = 0; i < answer->field_count; i++)
        put_field(&answer->fields[i], wire);
    put_safety(answer, wire);
    buffer_append_text(wire, "\r\n");
}

struct bytes http_response_body(const struct http_response *response)
{
    bool is_there = has_body(response->answer) && !response->is_head && !response->is_streamed;

    return is_there ? response->answer->body : bytes_of("", 0);
}

void http_response_put_refusal(const struct http_refusal *refusal, struct buffer *json)
{
    buffer_append_text(json, "{\"error\":");
    buffer_append_json(json, bytes_text(refusal->code));
    buffer_append_text(json, ",\"what\":");
    buffer_append_json(json, bytes_text(refusal->what));
    buffer_append_text(json, ",\"where\":");
    buffer_append_json(json, bytes_text(refusal->where));
    buffer_append_text(json, ",\"todo\":");
    buffer_append_json(json, bytes_text(refusal->todo));
    buffer_append_text(json, "}\n");
}
