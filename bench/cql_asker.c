/* cql_asker: see the header. */
#include "bench/cql_asker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/reader.h"

enum {
    VERSION = 4,
    HEADER_SIZE = 9, /* u8 version, u8 flags, u16 stream, u8 opcode, u32 size; big-endian */
    PIECE = 65536,
    /* Opcodes, kinds of results, the consistency ONE, and flags of EXECUTE. */
    STARTUP = 1,
    READY = 2,
    RESULT = 8,
    PREPARE = 9,
    EXECUTE = 10,
    RESULT_ROWS = 2,
    RESULT_PREPARED = 4,
    CONSISTENCY_ONE = 1,
    HAS_VALUES = 1,
    SKIP_METADATA = 2
};

struct cql_asker {
    int descriptor;
    struct buffer id; /* of the prepared statement, with its size as in the protocol */
    struct buffer request;
    struct buffer answer;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "cql_asker: %s: %s\n", what, errno != 0 ? strerror(errno) : "failed");
    exit(EXIT_FAILURE);
}

/* ---- frames ---- */

static void put_u16(struct buffer *to, size_t value)
{
    uint8_t bytes[2];
    store_u16_be(bytes, (uint16_t)value);
    buffer_append(to, bytes, sizeof bytes);
}

static void put_u32(struct buffer *to, size_t value)
{
    uint8_t bytes[4];
    store_u32_be(bytes, (uint32_t)value);
    buffer_append(to, bytes, sizeof bytes);
}

static void put_text(struct buffer *to, const char *text)
{
    put_u16(to, strlen(text));
    buffer_append(to, text, strlen(text));
}

static struct buffer *request_begin(struct cql_asker *asker, uint8_t opcode)
{
    const uint8_t header[HEADER_SIZE] = {VERSION, 0, 0, 0, opcode};
    buffer_clear(&asker->request);
    buffer_append(&asker->request, header, sizeof header);
    return &asker->request;
}

static bool answer_is_whole(const struct buffer *answer)
{
    if (answer->size < HEADER_SIZE)
        return false;
    struct reader reader = reader_of(bytes_of(answer->data + 5, 4));
    return answer->size >= HEADER_SIZE + (size_t)reader_u32_be(&reader);
}

/* Send the request, and return the body of the answer, which must have this opcode. */
static struct reader request_ask(struct cql_asker *asker, uint8_t opcode)
{
    struct buffer *request = &asker->request;
    struct buffer *answer = &asker->answer;
    store_u32_be(request->data + 5, (uint32_t)(request->size - HEADER_SIZE));
    if (send(asker->descriptor, request->data, request->size, MSG_NOSIGNAL) !=
        (ssize_t)request->size)
        die("send");
    buffer_clear(answer);
    while (!answer_is_whole(answer)) {
        buffer_reserve(answer, PIECE);
        ssize_t got = recv(asker->descriptor, answer->data + answer->size, PIECE, 0);
        if (got <= 0)
            die("the answer");
        answer->size += (size_t)got;
    }
    errno = 0;
    if (answer->data[4] != opcode)
        die("another answer than expected");
    return reader_of(bytes_of(answer->data + HEADER_SIZE, answer->size - HEADER_SIZE));
}

/* ---- the statement ---- */

static void start(struct cql_asker *asker)
{
    struct buffer *request = request_begin(asker, STARTUP);
    put_u16(request, 1);
    put_text(request, "CQL_VERSION");
    put_text(request, "3.0.0");
    (void)request_ask(asker, READY);
}

static void prepare(struct cql_asker *asker, const char *statement)
{
    struct buffer *request = request_begin(asker, PREPARE);
    put_u32(request, strlen(statement));
    buffer_append(request, statement, strlen(statement));
    struct reader body = request_ask(asker, RESULT);
    if (reader_u32_be(&body) != RESULT_PREPARED)
        die("it is not prepared");
    struct bytes id = reader_bytes(&body, reader_u16_be(&body));
    put_u16(&asker->id, id.size);
    buffer_append_bytes(&asker->id, id);
}

struct cql_asker *cql_asker_new(uint16_t port, const char *statement)
{
    struct cql_asker *asker = memory_zeroed(1, sizeof *asker);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int on = 1;
    asker->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (asker->descriptor < 0 ||
        connect(asker->descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(asker->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        die("connect");
    start(asker);
    prepare(asker, statement);
    return asker;
}

void cql_asker_free(struct cql_asker *asker)
{
    if (asker == NULL)
        return;
    (void)close(asker->descriptor);
    buffer_release(&asker->id);
    buffer_release(&asker->request);
    buffer_release(&asker->answer);
    memory_free(asker);
}

void cql_asker_ask(struct cql_asker *asker, const char *value)
{
    struct buffer *request = request_begin(asker, EXECUTE);
    buffer_append_bytes(request, buffer_view(&asker->id));
    put_u16(request, CONSISTENCY_ONE);
    buffer_put_u8(request, HAS_VALUES | SKIP_METADATA);
    put_u16(request, 1);
    put_u32(request, strlen(value));
    buffer_append(request, value, strlen(value));
    struct reader body = request_ask(asker, RESULT);
    if (reader_u32_be(&body) != RESULT_ROWS)
        die("the answer is no rows");
}

size_t cql_asker_answer_bytes(const struct cql_asker *asker)
{
    return asker->answer.size;
}
