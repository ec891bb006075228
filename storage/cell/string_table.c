/* string_table: open addressing with linear probing, at most half full.
 *
 * When the table doubles, its strings move in steps, because the engine thread must not pause.
 *
 * If the new entries are many, they are allocated before the table doubles, and another thread
 * touches their memory, because the kernel clears memory at the first touch, which takes long.  In
 * case that thread is late, the memory is also touched here.
 *
 *     strings in the table      what happens
 *     3/8 of the slots          `next` is allocated, and the other thread begins to touch it
 *     7/16 of the slots         `next` is touched here, too
 *     half of the slots         `next` becomes `entries`, which become `old` and are copied
 *     5/16 of the new slots     by now all of `old` is copied, and `old` is unused
 *
 * An entry has the size of its string and 16 bytes.  For a string of up to 16 bytes, these are its
 * text.  For a longer string they are its 128-bit hash; where two hashes agree, the texts are
 * compared.  Numbers depend on the order of adding alone. */
#include "storage/cell/string_table.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash128.h"
#include "base/memory.h"

enum {
    STRING_INLINE_MAX = 16,
    STRING_SLOTS_FIRST = 64,
    STRING_AHEAD = 32,
    /* Old slots that are moved with each new string, and with each dictionary.  With fewer than 2
     * for each string the table would double before all are moved. */
    STRING_MOVES = 8,
    STRING_MOVES_DICTIONARY = 1024,
    STRING_PAGE = 4096,           /* bytes that a touch clears, at least */
    STRING_PREPARED_MIN = 4 << 20 /* from so many bytes on, entries are allocated ahead */
};

/* 32 bytes, so that no entry lies in two cache lines. */
struct string_entry {
    uint64_t words[2];
    const uint8_t *text;
    uint32_t size;
    uint32_t number; /* plus one; 0: a free entry */
};

struct string_table {
    struct arena *arena;
    struct string_entry *entries;
    uint64_t mask;
    struct string_entry *old; /* before the last growth; NULL: all were moved */
    uint64_t old_count;
    uint64_t old_moved;
    struct string_entry *next; /* after the next growth, or NULL */
    uint64_t next_touched;     /* bytes of `next` touched here, from the first on */
    struct bytes *strings;
    uint32_t count;
    uint32_t capacity;
};

struct string_key {
    uint64_t words[2];
    uint64_t hash;
    struct bytes string;
};

static uint64_t words_hash(const uint64_t words[2], uint64_t size)
{
    /* The constants are not UTF-8, so that no text makes a factor 0. */
    uint64_t left = words[0] ^ UINT64_C(0xfeb1c6f9f5e2d3ff);
    uint64_t right = words[1] ^ UINT64_C(0xfdc3f8b7ffa5e6f7) ^ size << 56;
    uint128 product = (uint128)left * right;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void words_inline(struct bytes string, uint64_t words[2])
{
    const uint8_t *data = string.data;
    size_t size = string.size;
    if (size >= 8) {
        words[0] = load_u64(data);
        words[1] = load_u64(data + size - 8);
    } else if (size >= 4) {
        words[0] = load_u32(data);
        words[1] = load_u32(data + size - 4);
    } else {
        words[0] =
            size > 0 ? (uint64_t)data[0] << 16 | (uint64_t)data[size / 2] << 8 | data[size - 1] : 0;
        words[1] = 0;
    }
}

static struct string_key key_of(struct bytes string)
{
    struct string_key key = {.string = string};
    if (string.size <= STRING_INLINE_MAX) {
        words_inline(string, key.words);
        key.hash = words_hash(key.words, string.size);
    } else {
        struct hash128 hash = hash128(string.data, string.size);
        key.words[0] = hash.low;
        key.words[1] = hash.high;
        key.hash = hash.low;
    }
    return key;
}

/* Entries are in the arena because it has huge pages, and lookups are random.  Outgrown entries
 * stay in the arena; together they take less memory than the present ones. */
static struct string_entry *entries_new(struct arena *arena, uint64_t count)
{
    return arena_alloc_zeroed(arena, count * sizeof(struct string_entry),
                              sizeof(struct string_entry));
}

struct string_table *string_table_new(struct arena *arena)
{
    struct string_table *table = memory_zeroed(1, sizeof *table);
    table->arena = arena;
    table->entries = entries_new(arena, STRING_SLOTS_FIRST);
    table->mask = STRING_SLOTS_FIRST - 1;
    return table;
}

void string_table_free(struct string_table *table)
{
    if (table == NULL)
        return;
    memory_free(table->strings);
    memory_free(table);
}

uint32_t string_table_count(const struct string_table *table)
{
    return table->count;
}

size_t string_table_bytes(const struct string_table *table)
{
    return table->capacity * sizeof *table->strings;
}

const struct bytes *string_table_strings(const struct string_table *table)
{
    return table->strings;
}

static bool entry_matches(const struct string_entry *entry, const struct string_key *key)
{
    if (entry->words[0] != key->words[0] || entry->words[1] != key->words[1] ||
        entry->size != key->string.size)
        return false;
    return entry->size <= STRING_INLINE_MAX ||
           memcmp(entry->text, key->string.data, entry->size) == 0;
}

static struct string_entry *entry_probe(struct string_entry *entries, uint64_t mask,
                                        const struct string_key *key)
{
    for (uint64_t slot = key->hash & mask;; slot = (slot + 1) & mask) {
        struct string_entry *entry = &entries[slot];
        if (entry->number == 0 || entry_matches(entry, key))
            return entry;
    }
}

/* The number plus one in the old entries, moved or not; 0: none. */
static uint32_t old_number(const struct string_table *table, const struct string_key *key)
{
    return table->old == NULL ? 0 : entry_probe(table->old, table->old_count - 1, key)->number;
}

static uint64_t entry_hash(const struct string_entry *entry)
{
    return entry->size <= STRING_INLINE_MAX ? words_hash(entry->words, entry->size)
                                            : entry->words[0];
}

static void table_move(struct string_table *table, uint64_t count)
{
    if (table->old == NULL)
        return;
    uint64_t left = table->old_count - table->old_moved;
    uint64_t end = table->old_moved + (count < left ? count : left);
    for (uint64_t i = table->old_moved; i < end; i++) {
        if (table->old[i].number == 0)
            continue;
        uint64_t slot = entry_hash(&table->old[i]) & table->mask;
        while (table->entries[slot].number != 0)
            slot = (slot + 1) & table->mask;
        table->entries[slot] = table->old[i];
    }
    table->old_moved = end;
    if (end == table->old_count)
        table->old = NULL;
}

/* Make the next entries, for another thread to touch, and later touch them here, in proportion to
 * the strings added. */
static void table_prepare(struct string_table *table)
{
    uint64_t slots = table->mask + 1;
    uint64_t begin = slots / 16 * 7;
    uint64_t size = slots * 2 * sizeof(struct string_entry);
    if (table->count < slots / 8 * 3 || size < STRING_PREPARED_MIN)
        return;
    if (table->next == NULL) {
        table->next = entries_new(table->arena, slots * 2);
        table->next_touched = 0;
        arena_need_soon(table->arena, table->next, size);
    }
    if (table->count < begin)
        return;
    uint64_t due = size / (slots / 16) * (table->count - begin);
    while (table->next_touched < due && table->next_touched < size) {
        ((volatile uint8_t *)table->next)[table->next_touched] = 0;
        table->next_touched += STRING_PAGE;
    }
}

static void table_grow(struct string_table *table)
{
    check(table->old == NULL);
    table->old = table->entries;
    table->old_count = table->mask + 1;
    table->old_moved = 0;
    table->entries =
        table->next != NULL ? table->next : entries_new(table->arena, table->old_count * 2);
    table->next = NULL;
    table->mask = table->old_count * 2 - 1;
}

static uint32_t table_insert(struct string_table *table, struct string_entry *entry,
                             const struct string_key *key)
{
    check(table->count < STRING_NONE - 1);
    table->strings =
        memory_make_room(table->strings, table->count, &table->capacity, sizeof *table->strings);
    uint32_t number = table->count++;
    table->strings[number] = arena_copy(table->arena, key->string);
    *entry = (struct string_entry){.words = {key->words[0], key->words[1]},
                                   .text = table->strings[number].data,
                                   .size = (uint32_t)key->string.size,
                                   .number = number + 1};
    table_move(table, STRING_MOVES);
    table_prepare(table);
    if ((uint64_t)table->count * 2 > table->mask)
        table_grow(table);
    return number;
}

static uint32_t key_add(struct string_table *table, const struct string_key *key)
{
    struct string_entry *entry = entry_probe(table->entries, table->mask, key);
    uint32_t number = entry->number != 0 ? entry->number : old_number(table, key);
    return number != 0 ? number - 1 : table_insert(table, entry, key);
}

uint32_t string_table_add(struct string_table *table, struct bytes string)
{
    check(string.size <= UINT32_MAX);
    struct string_key key = key_of(string);
    return key_add(table, &key);
}

void string_table_add_all(struct string_table *table, const struct block_dictionary *dictionary,
                          uint32_t *numbers_out)
{
    struct string_key keys[STRING_AHEAD];
    table_move(table, STRING_MOVES_DICTIONARY);
    for (uint32_t start = 0; start < dictionary->count; start += STRING_AHEAD) {
        uint32_t left = dictionary->count - start;
        uint32_t count = left < STRING_AHEAD ? left : STRING_AHEAD;
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = key_of(block_dictionary_get(dictionary, start + i));
            __builtin_prefetch(&table->entries[keys[i].hash & table->mask]);
            if (table->old != NULL)
                __builtin_prefetch(&table->old[keys[i].hash & (table->old_count - 1)]);
        }
        for (uint32_t i = 0; i < count; i++) {
            const struct string_entry *entry = &table->entries[keys[i].hash & table->mask];
            if (entry->size > STRING_INLINE_MAX)
                __builtin_prefetch(entry->text);
        }
        for (uint32_t i = 0; i < count; i++)
            numbers_out[start + i] = key_add(table, &keys[i]);
    }
}
