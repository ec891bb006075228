/* tallies: see the header.
 *
 * What decides correctness: the range only ever gets narrower within a round, and what falls out of
 * it is dropped whole.  So a key that is there at the end has all that was said of it, and one that
 * was dropped belongs to the rounds that follow, which begin where this one ended. */
#include "rollup/verify/tallies.h"

#include "base/hash64.h"
#include "base/key_map.h"
#include "base/memory.h"

enum {
    COUNT_MIN = 256, /* so many are had in a round, however little room there is */
    BESIDE = 4,      /* times what they take: two sums of a key, and figures made of them */
    BESIDE_MIN = 1 << 20
};

struct tallies {
    struct command_output *output;
    uint64_t first, last; /* of the hashes of this round */
    struct key_map *keys;
    struct tally *of; /* by number */
    uint32_t capacity;
    size_t kept_bytes; /* as the output was told */
};

struct tallies *tallies_new(struct command_output *output)
{
    struct tallies *tallies = memory_zeroed(1, sizeof(*tallies));
    tallies->output = output;
    tallies->keys = key_map_new();
    tallies->last = UINT64_MAX;
    return tallies;
}

static size_t tallies_bytes(const struct tallies *tallies)
{
    return key_map_bytes(tallies->keys) + tallies->capacity * sizeof(*tallies->of);
}

size_t tallies_beside(const struct tallies *tallies)
{
    return BESIDE * tallies_bytes(tallies) + BESIDE_MIN;
}

/* False: there is no room for what they take. */
static bool tallies_keep(struct tallies *tallies, size_t bytes)
{
    int64_t change = (int64_t)bytes - (int64_t)tallies->kept_bytes;
    if (change == 0)
        return true;
    if (!command_keep(tallies->output, change))
        return false;
    tallies->kept_bytes = bytes;
    return true;
}

void tallies_free(struct tallies *tallies)
{
    if (tallies == NULL)
        return;
    (void)tallies_keep(tallies, 0);
    key_map_free(tallies->keys);
    memory_free(tallies->of);
    memory_free(tallies);
}

void tallies_again(struct tallies *tallies)
{
    key_map_free(tallies->keys);
    memory_free(tallies->of);
    tallies->keys = key_map_new();
    tallies->of = NULL;
    tallies->capacity = 0;
    (void)tallies_keep(tallies, 0);
}

void tallies_begin(struct tallies *tallies)
{
    tallies->first = 0;
    tallies->last = UINT64_MAX;
    tallies_again(tallies);
}

bool tallies_next(struct tallies *tallies)
{
    uint64_t width = tallies->last - tallies->first;
    if (tallies->last == UINT64_MAX)
        return false;
    tallies->first = tallies->last + 1;
    tallies->last = UINT64_MAX - tallies->first < width ? UINT64_MAX : tallies->first + width;
    tallies_again(tallies);
    return true;
}

bool tallies_takes(const struct tallies *tallies, struct bytes key)
{
    uint64_t hash = hash64(key.data, key.size);
    return tallies->first <= hash && hash <= tallies->last;
}

/* The tally of a key of this round, made if it is new. */
static struct tally *tally_make(struct tallies *tallies, struct bytes key)
{
    bool is_new;
    uint32_t number = key_map_add(tallies->keys, key, &is_new);
    if (number >= tallies->capacity) {
        tallies->capacity = tallies->capacity * 2 + COUNT_MIN;
        tallies->of = memory_resize(tallies->of, tallies->capacity * sizeof(*tallies->of));
    }
    if (is_new)
        tallies->of[number] = (struct tally){0, 0, 0};
    return &tallies->of[number];
}

void tallies_add(struct tallies *tallies, struct bytes key, uint64_t clicks)
{
    struct tally *tally = tallies_of(tallies, key);
    if (tally != NULL)
        tally->counted += (int64_t)clicks;
}

bool tallies_narrow(struct tallies *tallies)
{
    struct tallies whole = *tallies;
    uint32_t count = key_map_count(whole.keys);
    if (count <= 1 || tallies->first == tallies->last)
        return false;
    tallies->last = tallies->first + (tallies->last - tallies->first) / 2;
    tallies->keys = key_map_new();
    tallies->of = NULL;
    tallies->capacity = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes key = key_map_key(whole.keys, i);
        if (tallies_takes(tallies, key))
            *tally_make(tallies, key) = whole.of[i];
    }
    key_map_free(whole.keys);
    memory_free(whole.of);
    (void)tallies_keep(tallies, tallies_bytes(tallies) + tallies_beside(tallies));
    return true;
}

struct tally *tallies_of(struct tallies *tallies, struct bytes key)
{
    if (!tallies_takes(tallies, key))
        return NULL;
    struct tally *tally = tally_make(tallies, key);
    bool has_room = tallies_keep(tallies, tallies_bytes(tallies) + tallies_beside(tallies));
    if (has_room || key_map_count(tallies->keys) <= COUNT_MIN || !tallies_narrow(tallies))
        return tally;
    return tallies_takes(tallies, key) ? tally_make(tallies, key) : NULL;
}

uint32_t tallies_count(const struct tallies *tallies)
{
    return key_map_count(tallies->keys);
}

const struct tally *tallies_at(const struct tallies *tallies, uint32_t number,
                               struct bytes *key_out)
{
    *key_out = key_map_key(tallies->keys, number);
    return &tallies->of[number];
}
