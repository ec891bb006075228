/* uuid: adapter of libuuid. */
#include "base/uuid.h"

#include <uuid/uuid.h>

#include "base/random.h"

void uuid_make(struct random *random, uint8_t out[UUID_SIZE])
{
    if (random->is_system) {
        uuid_generate_random(out);
        return;
    }
    random->fill(random, out, UUID_SIZE);
    out[6] = (uint8_t)((out[6] & 0x0F) | 0x40);
    out[8] = (uint8_t)((out[8] & 0x3F) | 0x80);
}

void uuid_format(const uint8_t uuid[UUID_SIZE], char text[UUID_TEXT_SIZE + 1])
{
    uuid_unparse_lower(uuid, text);
}

bool uuid_from_text(struct bytes text, uint8_t uuid_out[UUID_SIZE])
{
    const char *start = (const char *)text.data;
    return text.size == UUID_TEXT_SIZE && uuid_parse_range(start, start + text.size, uuid_out) == 0;
}
