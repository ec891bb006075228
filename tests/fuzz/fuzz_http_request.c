/* fuzz_http_request: a request's head, whole and in pieces: the same answer, and what is served has
 * sound parts and is in the strict subset. */
#include "door/http_proxy.h"
#include "door/http_request.h"
#include "tests/fuzz/fuzz.h"

struct summary {
    const struct http_refusal *refusal;
    size_t head;
};

static struct summary scan_pieces(struct bytes input, size_t piece)
{
    struct http_scan scan = {0};
    struct summary summary = {0};

    for (size_t size = 0; summary.head == 0 && summary.refusal == NULL && size < input.size;) {
        size = input.size - size < piece ? input.size : size + piece;
        summary.head = http_request_scan(&scan, bytes_of(input.data, size), &summary.refusal);
    }
    return summary;
}

static void check_inside(struct bytes head, struct bytes part)
{
    check(part.size == 0 ||
          (part.data >= head.data && part.data + part.size <= head.data + head.size));
    check(part.size == 0 || memchr(part.data, '\n', part.size) == NULL);
}

static void check_served(struct bytes head, const struct http_request *request)
{
    check(request->path.size > 0 && request->path.data[0] == '/');
    check_inside(head, request->path);
    check_inside(head, request->query);
    for (uint32_t i = 0; i < request->header_count; i++) {
        check(request->headers[i].name.size > 0);
        check_inside(head, request->headers[i].name);
        check_inside(head, request->headers[i].value);
    }
    check(request->body_size == 0 || request->method == HTTP_METHOD_POST);
    check(http_request_header(request, "transfer-encoding").size == 0);
    struct network_address peer = {.bytes = {10, 0, 0, 1}, .size = 4};
    struct network_address client = http_proxy_client(request, &peer, "10.0.0.1");
    struct http_request stripped = *request;

    check(client.size == 4 || client.size == 16);
    http_proxy_strip(&stripped, "/api");
    check(stripped.path.size > 0 && stripped.path.data[0] == '/');
    (void)http_request_lists(request, "accept-encoding", "gzip");
    (void)http_request_has_etag(request, bytes_text("\"a\""));
    (void)http_request_check_host(request, "a.example.com,b");
    (void)http_request_check_origin(request, "a.example.com,b");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    struct summary whole = scan_pieces(input, size + 1);
    struct summary bytes = scan_pieces(input, 1);
    struct http_request request;

    check(whole.head == bytes.head && whole.refusal == bytes.refusal);
    check(whole.head <= HTTP_HEAD_MAX && whole.head <= size);
    if (whole.head > 0 && http_request_parse(bytes_of(data, whole.head), &request) == NULL)
        check_served(bytes_of(data, whole.head), &request);
    /* The parser alone is sound, too, without the scan before it. */
    if (http_request_parse(input, &request) == NULL)
        (void)http_request_check_host(&request, NULL);
    return 0;
}
