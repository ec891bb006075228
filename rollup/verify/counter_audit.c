/* counter_audit: see the header.  Within a round the range of hashes only gets narrower, and a key
 * outside it loses its whole entry.  So an entry that is left at the end is complete. */
#include "rollup/verify/counter_audit.h"

#include "base/hash64.h"
#include "base/key_map.h"
#include "base/memory.h"

enum {
    COUNT_MIN = 256,     /* keys that a round may always have */
    BESIDE = 4,          /* memory for summing clicks, as a multiple of the entries' memory */
    BESIDE_MIN = 1 << 20 /* bytes; doubled where clicks need more */
};

struct counter_audit {
    struct command_output *output;
    uint64_t first, last;
    struct key_map *keys; /* by key: a struct counter_audit_entry */
    size_t beside_min;    /* bytes for summing clicks, at least */
    size_t kept_bytes;
};

static struct key_map *new_keys(void)
{
    return key_map_new_of(sizeof(struct counter_audit_entry));
}

struct counter_audit *counter_audit_new(struct command_output *output)
{
    struct counter_audit *audit = memory_zeroed(1, sizeof(*audit));
    audit->output = output;
    audit->keys = new_keys();
    audit->last = UINT64_MAX;
    audit->beside_min = BESIDE_MIN;
    return audit;
}

static size_t beside_bytes(const struct counter_audit *audit)
{
    size_t bytes = BESIDE * key_map_bytes(audit->keys);
    return bytes > audit->beside_min ? bytes : audit->beside_min;
}

size_t counter_audit_beside(const struct counter_audit *audit)
{
    return audit->first == audit->last ? 0 : beside_bytes(audit);
}

static bool counter_audit_keep(struct counter_audit *audit, size_t bytes)
{
    int64_t change = (int64_t)bytes - (int64_t)audit->kept_bytes;
    if (change == 0)
        return true;
    if (!command_keep(audit->output, change))
        return false;
    audit->kept_bytes = bytes;
    return true;
}

static bool counter_audit_charge(struct counter_audit *audit)
{
    return counter_audit_keep(audit, key_map_bytes(audit->keys) + beside_bytes(audit));
}

void counter_audit_free(struct counter_audit *audit)
{
    if (audit == NULL)
        return;
    (void)counter_audit_keep(audit, 0);
    key_map_free(audit->keys);
    memory_free(audit);
}

void counter_audit_again(struct counter_audit *audit)
{
    key_map_free(audit->keys);
    audit->keys = new_keys();
    (void)counter_audit_charge(audit);
}

void counter_audit_begin(struct counter_audit *audit)
{
    audit->first = 0;
    audit->last = UINT64_MAX;
    audit->beside_min = BESIDE_MIN;
    counter_audit_again(audit);
}

bool counter_audit_next(struct counter_audit *audit)
{
    uint64_t width = audit->last - audit->first;
    if (audit->last == UINT64_MAX)
        return false;
    audit->first = audit->last + 1;
    audit->last = UINT64_MAX - audit->first < width ? UINT64_MAX : audit->first + width;
    counter_audit_again(audit);
    return true;
}

bool counter_audit_takes(const struct counter_audit *audit, struct bytes key)
{
    uint64_t hash = hash64(key.data, key.size);
    return audit->first <= hash && hash <= audit->last;
}

static struct counter_audit_entry *entry_make(struct counter_audit *audit, struct bytes key)
{
    return key_map_value(audit->keys, key_map_add(audit->keys, key));
}

void counter_audit_add(struct counter_audit *audit, struct bytes key, uint64_t clicks)
{
    struct counter_audit_entry *entry = counter_audit_of(audit, key);
    if (entry != NULL)
        entry->counted += (int64_t)clicks;
}

bool counter_audit_narrow(struct counter_audit *audit)
{
    struct key_map *whole = audit->keys;
    uint32_t count = key_map_count(whole);
    if (audit->first == audit->last)
        return false;
    audit->last = audit->first + (audit->last - audit->first) / 2;
    audit->keys = new_keys();
    for (uint32_t i = 0; i < count; i++) {
        struct bytes key = key_map_key(whole, i);
        const struct counter_audit_entry *entry = key_map_value(whole, i);
        if (counter_audit_takes(audit, key))
            *entry_make(audit, key) = *entry;
    }
    key_map_free(whole);
    (void)counter_audit_charge(audit);
    return true;
}

/* Memory for the entries of the additional keys is requested, too; otherwise these entries would
 * narrow the round. */
bool counter_audit_make_room(struct counter_audit *audit)
{
    size_t more = 2 * beside_bytes(audit);
    if (!counter_audit_keep(audit, key_map_bytes(audit->keys) + more + more / BESIDE))
        return counter_audit_narrow(audit);
    audit->beside_min = more;
    return true;
}

struct counter_audit_entry *counter_audit_of(struct counter_audit *audit, struct bytes key)
{
    if (!counter_audit_takes(audit, key))
        return NULL;
    struct counter_audit_entry *entry = entry_make(audit, key);
    bool has_room = counter_audit_charge(audit);
    if (has_room || key_map_count(audit->keys) <= COUNT_MIN || !counter_audit_narrow(audit))
        return entry;
    return counter_audit_takes(audit, key) ? entry_make(audit, key) : NULL;
}

uint32_t counter_audit_count(const struct counter_audit *audit)
{
    return key_map_count(audit->keys);
}

const struct counter_audit_entry *counter_audit_at(const struct counter_audit *audit,
                                                   uint32_t number, struct bytes *key_out)
{
    check(number < counter_audit_count(audit));
    *key_out = key_map_key(audit->keys, number);
    return key_map_value(audit->keys, number);
}
