/* frequent: see the header. */
#include "base/frequent.h"

#include <stdlib.h>

#include "base/hash64.h"

/* UNIT is the weight of one occurrence: large, so that it can fade in many steps of 1/FADE. */
enum { UNIT = 256, FADE = 8 };

void frequent_release(struct frequent *frequent)
{
    for (uint32_t i = 0; i < FREQUENT_KEYS; i++)
        buffer_release(&frequent->keys[i].key);
    *frequent = (struct frequent){0};
}

static struct frequent_key *find(struct frequent *frequent, struct bytes key, uint64_t hash)
{
    for (uint32_t i = 0; i < frequent->count; i++)
        if (frequent->keys[i].hash == hash && bytes_equal(buffer_view(&frequent->keys[i].key), key))
            return &frequent->keys[i];
    return NULL;
}

static struct frequent_key *lightest(struct frequent *frequent)
{
    struct frequent_key *found = &frequent->keys[0];

    for (uint32_t i = 1; i < frequent->count; i++)
        if (frequent->keys[i].weight < found->weight)
            found = &frequent->keys[i];
    return found;
}

/* A new key begins with the weight of the key that it replaces (0: none), also as its `error`. */
static struct frequent_key *replace(struct frequent *frequent, struct bytes key, uint64_t hash)
{
    bool is_full = frequent->count == FREQUENT_KEYS;
    struct frequent_key *place = is_full ? lightest(frequent) : &frequent->keys[frequent->count++];

    place->error = place->weight;
    place->times = 0;
    place->hash = hash;
    buffer_set(&place->key, key);
    return place;
}

void frequent_add(struct frequent *frequent, struct bytes key, uint64_t times)
{
    uint64_t hash = hash64(key.data, key.size);
    struct frequent_key *place = find(frequent, key, hash);

    if (place == NULL)
        place = replace(frequent, key, hash);
    place->times += times;
    place->weight += UNIT * (times < FREQUENT_WEIGHT_MAX ? times : FREQUENT_WEIGHT_MAX);
}

void frequent_fade(struct frequent *frequent)
{
    for (uint32_t i = 0; i < frequent->count; i++) {
        struct frequent_key *key = &frequent->keys[i];

        key->weight -= key->weight / FADE;
        key->error -= key->error / FADE;
        key->times = 0;
    }
}

static uint64_t certain(const struct frequent_key *key)
{
    return key->weight > key->error ? key->weight - key->error : 0;
}

static int compare(const void *a, const void *b)
{
    const struct frequent_key *left = *(const struct frequent_key *const *)a;
    const struct frequent_key *right = *(const struct frequent_key *const *)b;

    if (certain(left) != certain(right))
        return certain(left) < certain(right) ? 1 : -1;
    return bytes_compare(buffer_view(&left->key), buffer_view(&right->key));
}

uint32_t frequent_top(const struct frequent *frequent, uint32_t most,
                      const struct frequent_key **keys_out)
{
    const struct frequent_key *keys[FREQUENT_KEYS];
    uint32_t count = frequent->count < most ? frequent->count : most;

    for (uint32_t i = 0; i < frequent->count; i++)
        keys[i] = &frequent->keys[i];
    qsort(keys, frequent->count, sizeof keys[0], compare);
    for (uint32_t i = 0; i < count; i++)
        keys_out[i] = keys[i];
    return count;
}
