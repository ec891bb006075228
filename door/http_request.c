/* http_request: see the header.
 *
 * http_request_scan finds the end of the head, and refuses bytes that llhttp 8 would accept: even
 * its strict mode ends a request line at a bare LF.  Then llhttp parses the whole head in one
 * call. */
#include "door/http_request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <llhttp/llhttp.h>

enum { HOST_NAME_MAX_SIZE = 255 };

/* ---- refusals ---- */

static const struct http_refusal bare_lf = {400, "bare_lf", "a line ends with LF alone",
                                            "head of the request", "end each line with CR LF"};
static const struct http_refusal bare_cr = {400, "bare_cr", "a CR is not followed by LF",
                                            "head of the request", "end each line with CR LF"};
static const struct http_refusal folded_header = {
    400, "folded_header", "a line begins with a blank, which continues the header before it",
    "head of the request", "send each header in one line"};
static const struct http_refusal control_character = {400, "control_character",
                                                      "a control character", "head of the request",
                                                      "leave it out, or encode it"};
static const struct http_refusal empty_line = {
    400, "empty_line", "an empty line before the request", "head of the request",
    "begin with the method, such as GET"};
static const struct http_refusal head_too_large = {
    431, "head_too_large", "request line and headers have more than 16384 bytes",
    "head of the request", "send less, such as fewer cookies; long input goes into a body"};
static const struct http_refusal too_many_headers = {
    431, "too_many_headers", "more than 64 headers", "head of the request", "send fewer headers"};
static const struct http_refusal bad_syntax = {
    400, "bad_syntax", "this is no HTTP/1.1 request", "head of the request",
    "send a line such as GET /healthz HTTP/1.1, then headers NAME: VALUE"};
static const struct http_refusal bad_method = {405, "method_not_allowed",
                                               "the method is not GET, HEAD or POST",
                                               "method of the request", "use one of these"};
static const struct http_refusal bad_version = {505, "version_not_supported",
                                                "the version is not HTTP/1.1 or HTTP/1.0",
                                                "request line", "speak HTTP/1.1"};
static const struct http_refusal bad_target = {
    400, "bad_target", "the target is not a path of printable ASCII that begins with /",
    "request line", "send a path such as /metrics, other characters as %XX"};
static const struct http_refusal chunked = {
    501, "transfer_encoding", "bodies with a Transfer-Encoding, such as chunked ones, are not read",
    "header Transfer-Encoding", "send the body's size as Content-Length"};
static const struct http_refusal two_lengths = {
    400, "two_lengths", "Content-Length beside another one or beside Transfer-Encoding",
    "header Content-Length", "send one Content-Length"};
static const struct http_refusal bad_length = {400, "bad_length",
                                               "the value is not a number of bytes",
                                               "header Content-Length", "send decimal digits"};
static const struct http_refusal length_missing = {
    411, "length_missing", "a POST without Content-Length", "header Content-Length",
    "send the body's size, 0 for none"};
static const struct http_refusal body_not_expected = {
    400, "body_not_expected", "a GET or HEAD with a body", "header Content-Length",
    "send it without a body, or as a POST"};
static const struct http_refusal bad_expect = {417, "bad_expect", "the value is not 100-continue",
                                               "header Expect", "leave the header out"};
static const struct http_refusal host_missing = {400, "host_missing",
                                                 "there is not exactly one Host", "header Host",
                                                 "send the server's name or address"};
static const struct http_refusal bad_host = {
    421, "bad_host", "the Host is neither an address, nor localhost, nor a name of this server",
    "header Host", "use the address, or start the server with --http-host NAME"};
static const struct http_refusal bad_origin = {
    403, "bad_origin", "the request comes from a page of another site", "header Origin",
    "send it from the server's own page, or start the server with --http-host NAME"};

/* ---- the end of a head ---- */

/* Returns why the byte at `at` is wrong after the bytes before it, or NULL.  `line` is the offset
 * of its line. */
static const struct http_refusal *check_byte(struct bytes input, size_t at, size_t line)
{
    uint8_t byte = input.data[at];
    bool is_after_cr = at > 0 && input.data[at - 1] == '\r';

    if (byte == '\n')
        return is_after_cr ? NULL : &bare_lf;
    if (is_after_cr)
        return &bare_cr;
    if (at == line && (byte == ' ' || byte == '\t'))
        return at == 0 ? &bad_syntax : &folded_header;
    if ((byte < ' ' && byte != '\t' && byte != '\r') || byte == 0x7F)
        return &control_character;
    return NULL;
}

size_t http_request_scan(struct http_scan *scan, struct bytes input,
                         const struct http_refusal **refusal_out)
{
    *refusal_out = NULL;
    for (; scan->at < input.size; scan->at++) {
        size_t at = scan->at;

        *refusal_out = at < HTTP_HEAD_MAX ? check_byte(input, at, scan->line) : &head_too_large;
        if (*refusal_out != NULL)
            return 0;
        if (input.data[at] != '\n')
            continue;
        if (at == scan->line + 1) {
            *refusal_out = scan->line == 0 ? &empty_line : NULL;
            return scan->line == 0 ? 0 : at + 1;
        }
        scan->line = at + 1;
    }
    return 0;
}

/* ---- llhttp ---- */

struct parse {
    struct http_request *request;
    struct bytes target;
    bool is_named; /* the last header has its whole name */
    bool has_too_many;
    bool is_whole;
    uint8_t minor; /* of the version */
    uint8_t method;
};

/* llhttp may pass a span in several pieces, which must be adjacent. */
static int extend(struct bytes *span, const char *at, size_t size)
{
    const uint8_t *from = (const uint8_t *)at;

    if (span->size > 0 && from != span->data + span->size)
        return HPE_USER;
    if (span->size == 0)
        span->data = from;
    span->size += size;
    return HPE_OK;
}

static int on_url(llhttp_t *parser, const char *at, size_t size)
{
    struct parse *parse = parser->data;

    return extend(&parse->target, at, size);
}

static int on_header_field(llhttp_t *parser, const char *at, size_t size)
{
    struct parse *parse = parser->data;
    struct http_request *request = parse->request;

    if (request->header_count == 0 || parse->is_named) {
        if (request->header_count == HTTP_HEADERS_MAX) {
            parse->has_too_many = true;
            return HPE_USER;
        }
        request->headers[request->header_count++] = (struct http_header){0};
        parse->is_named = false;
    }
    return extend(&request->headers[request->header_count - 1].name, at, size);
}

static int on_header_field_complete(llhttp_t *parser)
{
    struct parse *parse = parser->data;

    parse->is_named = true;
    return HPE_OK;
}

static int on_header_value(llhttp_t *parser, const char *at, size_t size)
{
    struct parse *parse = parser->data;
    struct http_request *request = parse->request;

    if (request->header_count == 0)
        return HPE_USER;
    return extend(&request->headers[request->header_count - 1].value, at, size);
}

/* The door reads the body, so llhttp stops after the head. */
static int on_headers_complete(llhttp_t *parser)
{
    struct parse *parse = parser->data;

    parse->is_whole = true;
    parse->minor = parser->http_minor;
    parse->method = parser->method;
    parse->request->is_kept_alive = llhttp_should_keep_alive(parser) != 0;
    parse->request->body_size =
        (parser->flags & F_CONTENT_LENGTH) != 0 ? parser->content_length : 0;
    return HPE_PAUSED;
}

static enum http_method method_of(uint8_t method)
{
    return method == HTTP_GET    ? HTTP_METHOD_GET
           : method == HTTP_HEAD ? HTTP_METHOD_HEAD
           : method == HTTP_POST ? HTTP_METHOD_POST
                                 : 0;
}

static const struct http_refusal *explain(llhttp_errno_t code, const struct parse *parse)
{
    if (parse->has_too_many)
        return &too_many_headers;
    switch ((int)code) {
    case HPE_INVALID_METHOD:
        return &bad_method;
    case HPE_INVALID_VERSION:
        return &bad_version;
    case HPE_INVALID_URL:
        return &bad_target;
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        return &two_lengths;
    case HPE_INVALID_CONTENT_LENGTH:
        return &bad_length;
    case HPE_INVALID_TRANSFER_ENCODING:
        return &chunked;
    default:
        return &bad_syntax;
    }
}

/* ---- what the headers say ---- */

static struct bytes trim(struct bytes text)
{
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_of(text.data + 1, text.size - 1);
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

struct bytes http_request_next_item(struct bytes *list)
{
    const uint8_t *comma = memchr(list->data, ',', list->size);
    size_t size = comma != NULL ? (size_t)(comma - list->data) : list->size;
    struct bytes item = trim(bytes_of(list->data, size));

    size += comma != NULL;
    *list = bytes_of(list->data + size, list->size - size);
    return item;
}

static uint32_t count_of(const struct http_request *request, const char *name)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < request->header_count; i++)
        count += bytes_are_word(request->headers[i].name, name);
    return count;
}

struct bytes http_request_header(const struct http_request *request, const char *name)
{
    for (uint32_t i = 0; i < request->header_count; i++)
        if (bytes_are_word(request->headers[i].name, name))
            return request->headers[i].value;
    return bytes_of("", 0);
}

static bool is_digits(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size > 0;
}

static const struct http_refusal *check_framing(const struct http_request *request)
{
    uint32_t lengths = count_of(request, "content-length");
    bool is_coded = count_of(request, "transfer-encoding") > 0;

    if (lengths > 1 || (lengths == 1 && is_coded))
        return &two_lengths;
    if (is_coded)
        return &chunked;
    if (lengths == 1 && !is_digits(http_request_header(request, "content-length")))
        return &bad_length;
    if (request->method == HTTP_METHOD_POST)
        return lengths == 1 ? NULL : &length_missing;
    return request->body_size == 0 ? NULL : &body_not_expected;
}

/* Check what llhttp does not check: there is one blank before the target and one after it, and the
 * protocol is HTTP, not RTSP. */
static const struct http_refusal *check_line(struct bytes head, struct bytes target)
{
    static const char protocol[] = " HTTP/1.";
    const uint8_t *blank = memchr(head.data, ' ', head.size);

    if (blank == NULL || target.size == 0 || target.data != blank + 1)
        return &bad_syntax;
    const uint8_t *rest = target.data + target.size;
    size_t size = (size_t)(head.data + head.size - rest);
    if (size < sizeof protocol || memcmp(rest, protocol, sizeof protocol - 1) != 0 ||
        (rest[sizeof protocol - 1] != '0' && rest[sizeof protocol - 1] != '1'))
        return &bad_version;
    return NULL;
}

static const struct http_refusal *take_target(struct bytes target, struct http_request *request)
{
    const uint8_t *mark = target.size > 0 ? memchr(target.data, '?', target.size) : NULL;

    if (target.size == 0 || target.data[0] != '/')
        return &bad_target;
    for (size_t i = 0; i < target.size; i++)
        if (target.data[i] <= ' ' || target.data[i] >= 0x7F || target.data[i] == '#')
            return &bad_target;
    request->path = target;
    request->query = bytes_of("", 0);
    if (mark != NULL) {
        request->path.size = (size_t)(mark - target.data);
        request->query = bytes_of(mark + 1, target.size - request->path.size - 1);
    }
    return NULL;
}

static const struct http_refusal *take_headers(struct http_request *request)
{
    const struct http_refusal *refusal = check_framing(request);
    struct bytes expect = http_request_header(request, "expect");

    if (refusal != NULL)
        return refusal;
    if (count_of(request, "") > 0)
        return &bad_syntax;
    if (count_of(request, "host") != 1)
        return &host_missing;
    request->host = http_request_header(request, "host");
    if (expect.size > 0 && !bytes_are_word(expect, "100-continue"))
        return &bad_expect;
    request->expects_continue = expect.size > 0;
    return NULL;
}

const struct http_refusal *http_request_parse(struct bytes head, struct http_request *request)
{
    struct parse parse = {.request = request};
    llhttp_settings_t settings;
    llhttp_t parser;

    *request = (struct http_request){0};
    llhttp_settings_init(&settings);
    settings.on_url = on_url;
    settings.on_header_field = on_header_field;
    settings.on_header_field_complete = on_header_field_complete;
    settings.on_header_value = on_header_value;
    settings.on_headers_complete = on_headers_complete;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = &parse;
    llhttp_errno_t code = llhttp_execute(&parser, (const char *)head.data, head.size);
    for (uint32_t i = 0; i < request->header_count; i++)
        request->headers[i].value = trim(request->headers[i].value);
    if (!parse.is_whole || code != HPE_PAUSED)
        return explain(code, &parse);
    request->method = method_of(parse.method);
    if (request->method == 0)
        return &bad_method;
    const struct http_refusal *refusal = check_line(head, parse.target);
    refusal = refusal != NULL ? refusal : take_target(parse.target, request);
    refusal = refusal != NULL ? refusal : take_headers(request);
    request->is_http_1_1 = parse.minor == 1;
    if (!request->is_http_1_1)
        request->is_kept_alive = request->expects_continue = false;
    return refusal;
}

/* ---- conditional requests ---- */

/* The comparison is weak: a W/ before a tag is ignored. */
bool http_request_has_etag(const struct http_request *request, struct bytes etag)
{
    struct bytes tags = http_request_header(request, "if-none-match");

    if (bytes_equal(tags, bytes_of("*", 1)))
        return true;
    while (tags.size > 0) {
        struct bytes tag = http_request_next_item(&tags);

        if (tag.size > 2 && tag.data[0] == 'W' && tag.data[1] == '/')
            tag = bytes_of(tag.data + 2, tag.size - 2);
        if (bytes_equal(tag, etag))
            return true;
    }
    return false;
}

/* ---- lists ---- */

/* Whether a quality is zero ("0", "0." or "0.000"): the client does not accept the item. */
static bool is_zero(struct bytes quality)
{
    for (size_t i = 0; i < quality.size; i++)
        if (quality.data[i] != '0' && (i != 1 || quality.data[i] != '.'))
            return false;
    return quality.size > 0;
}

static bool starts_with(struct bytes text, const char *word)
{
    size_t size = strlen(word);

    return text.size >= size && bytes_are_word(bytes_of(text.data, size), word);
}

/* "gzip", "gzip;q=0.5", "text/csv;charset=utf-8 ; q=1" */
static bool item_is(struct bytes item, const char *wanted)
{
    const uint8_t *mark = item.size > 0 ? memchr(item.data, ';', item.size) : NULL;
    size_t size = mark != NULL ? (size_t)(mark - item.data) : item.size;

    if (!bytes_are_word(trim(bytes_of(item.data, size)), wanted))
        return false;
    while (size < item.size) {
        struct bytes rest = bytes_of(item.data + size + 1, item.size - size - 1);

        mark = rest.size > 0 ? memchr(rest.data, ';', rest.size) : NULL;
        size_t parameter_size = mark != NULL ? (size_t)(mark - rest.data) : rest.size;
        struct bytes parameter = trim(bytes_of(rest.data, parameter_size));
        if (starts_with(parameter, "q="))
            return !is_zero(bytes_of(parameter.data + 2, parameter.size - 2));
        size += 1 + parameter_size;
    }
    return true;
}

bool http_request_lists(const struct http_request *request, const char *name, const char *item)
{
    for (uint32_t i = 0; i < request->header_count; i++) {
        struct bytes left = request->headers[i].value;

        while (bytes_are_word(request->headers[i].name, name) && left.size > 0)
            if (item_is(http_request_next_item(&left), item))
                return true;
    }
    return false;
}

/* ---- who is asked, and from where ---- */

/* Split "name:80" or "[::1]:80".  False: it is neither. */
static bool split_host(struct bytes host, struct bytes *name_out)
{
    const uint8_t *end = host.size > 0 && host.data[0] == '[' ? memchr(host.data, ']', host.size)
                                                              : memchr(host.data, ':', host.size);
    size_t size = end == NULL ? host.size : (size_t)(end - host.data);

    if (host.size > 0 && host.data[0] == '[') {
        if (end == NULL)
            return false;
        size++;
    }
    *name_out = bytes_of(host.data, size);
    if (size == host.size)
        return size > 0;
    return size > 0 && host.data[size] == ':' &&
           is_digits(bytes_of(host.data + size + 1, host.size - size - 1));
}

static bool is_address(struct bytes name)
{
    uint8_t binary[16];
    char text[HOST_NAME_MAX_SIZE + 1];
    bool is_v6 = name.size > 2 && name.data[0] == '[';
    size_t around = is_v6 ? 1 : 0;

    if (name.size > HOST_NAME_MAX_SIZE)
        return false;
    memcpy(text, name.data + around, name.size - 2 * around);
    text[name.size - 2 * around] = '\0';
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, text, binary) == 1;
}

static bool is_same_word(struct bytes a, struct bytes b)
{
    bool is_same = a.size == b.size;

    for (size_t i = 0; is_same && i < a.size; i++)
        is_same = tolower(a.data[i]) == tolower(b.data[i]);
    return is_same;
}

static bool is_named(struct bytes name, const char *names)
{
    struct bytes left = bytes_text(names != NULL ? names : "");

    while (left.size > 0) {
        struct bytes own = http_request_next_item(&left);

        if (own.size > 0 && is_same_word(own, name))
            return true;
    }
    return false;
}

bool http_request_are_names(const char *names)
{
    struct bytes left = bytes_text(names);
    bool are = left.size > 0 && left.data[left.size - 1] != ',';

    while (are && left.size > 0) {
        struct bytes name = http_request_next_item(&left);

        are = name.size > 0;
        for (size_t i = 0; are && i < name.size; i++)
            are = isalnum(name.data[i]) || memchr("-._", name.data[i], 3) != NULL;
    }
    return are;
}

const struct http_refusal *http_request_check_host(const struct http_request *request,
                                                   const char *names)
{
    struct bytes name;

    if (!split_host(request->host, &name))
        return &bad_host;
    return is_address(name) || bytes_are_word(name, "localhost") || is_named(name, names)
               ? NULL
               : &bad_host;
}

/* A proxy may send a Host of its own, so the page's Origin may also be one of `names`, without a
 * port. */
const struct http_refusal *http_request_check_origin(const struct http_request *request,
                                                     const char *names)
{
    static const char *const schemes[] = {"http://", "https://"};
    uint32_t count = count_of(request, "origin");
    struct bytes origin = http_request_header(request, "origin");
    struct bytes site = http_request_header(request, "sec-fetch-site");

    if (request->method != HTTP_METHOD_POST)
        return NULL;
    if (count == 0) {
        bool is_ours =
            site.size == 0 || bytes_are_word(site, "same-origin") || bytes_are_word(site, "none");
        return is_ours ? NULL : &bad_origin;
    }
    for (size_t i = 0; count == 1 && i < sizeof schemes / sizeof schemes[0]; i++) {
        struct bytes scheme = bytes_text(schemes[i]);

        if (origin.size <= scheme.size || memcmp(origin.data, scheme.data, scheme.size) != 0)
            continue;
        struct bytes page = bytes_of(origin.data + scheme.size, origin.size - scheme.size);
        if (is_same_word(page, request->host) || is_named(page, names))
            return NULL;
    }
    return &bad_origin;
}
