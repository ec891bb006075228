/* secret: see the header. */
#include "tests/lib/secret.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

/* What is larger is the shadow of a sanitizer, which has no such bytes. */
#define MAPPING_MAX (UINT64_C(256) << 20)

struct secret *secret_new(void)
{
    struct secret *secret =
        mmap(NULL, sizeof *secret, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert(secret != MAP_FAILED);
    for (int i = 0; i < SECRET_SIZE; i++)
        secret->text[i] = (char)('a' + (i * 7 + 3) % 26);
    secret->body = (struct buffer){.data = secret->rooms[0], .capacity = SECRET_ROOM};
    secret->sent = (struct buffer){.data = secret->rooms[1], .capacity = SECRET_ROOM};
    return secret;
}

void secret_free(struct secret *secret)
{
    cr_assert(munmap(secret, sizeof *secret) == 0);
}

static uint32_t count_in_window(const struct secret *secret, size_t size)
{
    const uint8_t *at = secret->window;
    const uint8_t *end = at + size;
    uint32_t count = 0;

    while ((at = memmem(at, (size_t)(end - at), secret->text, SECRET_SIZE)) != NULL) {
        count++;
        at++;
    }
    return count;
}

/* Windows overlap by less than the secret's size: each place is in one of them whole, and in no
 * second one. */
static uint32_t count_between(struct secret *secret, int memory, uint64_t from, uint64_t to)
{
    uint32_t count = 0;

    for (uint64_t at = from; at < to; at += SECRET_WINDOW - (SECRET_SIZE - 1)) {
        size_t size = to - at < SECRET_WINDOW ? (size_t)(to - at) : SECRET_WINDOW;
        ssize_t got = pread(memory, secret->window, size, (off_t)at);

        count += count_in_window(secret, got > 0 ? (size_t)got : 0);
    }
    return count;
}

uint32_t secret_count(struct secret *secret)
{
    uint64_t own = (uint64_t)(uintptr_t)secret;
    uint64_t own_end = own + sizeof *secret;
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    char line[512];
    uint32_t count = 0;

    cr_assert(maps != NULL && memory >= 0);
    while (fgets(line, sizeof line, maps) != NULL) {
        uint64_t from, to;
        char mode[5];

        cr_assert(sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, mode) == 3);
        if (mode[0] != 'r' || mode[1] != 'w' || to - from > MAPPING_MAX)
            continue;
        count += count_between(secret, memory, from, to < own ? to : from < own ? own : from);
        count += count_between(secret, memory, from > own_end ? from : own_end, to);
    }
    (void)fclose(maps);
    (void)close(memory);
    return count;
}
