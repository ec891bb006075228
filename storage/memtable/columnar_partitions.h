/* columnar_partitions: the partitions of a columnar memtable, numbered as they first come, found by
 * key.
 *
 * There may be nearly as many partitions as rows, so that their size decides what a memtable takes.
 * One takes 96 bytes, 9 for each column, its key, and 19 to 37 in the hash table.
 *
 * A partition says how its newest frame left it.  Two frames at most are not durable, so what
 * partitions were before these frames is kept in two lists, one for each frame:
 *
 *     frame     touches        partition 1         partition 2       lists
 *       7        1, 2          @7                  @7                -
 *       8        1             @8                  @7                8: (1 @7)
 *       9        1, 2          @9                  @9                8: (1 @7)   9: (1 @8) (2 @7)
 *      10        -             @9                  @9                9: (1 @8) (2 @7)   10: -
 *
 * A reader at 8 while 10 is open goes from partition 2 to its entry in the list of 9.  There is no
 * reader at 7 any more, as 8 is durable.
 *
 * Private to columnar_memtable.c, which writes it on one thread. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_PARTITIONS_H
#define DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_PARTITIONS_H

#include "base/key_places.h"
#include "storage/cell/block.h"
#include "storage/cell/packed_stats.h"

struct arena;
struct chunk;

/* A partition as `frame` left it; stats say how many rows it had. */
struct columnar_slot {
    struct packed_stats stats;
    uint64_t frame;                    /* 0: before all frames */
    int64_t timestamp_us;
};

#define COLUMNAR_UNDO_NONE UINT32_MAX

struct columnar_partition {
    uint8_t *next;                     /* where the next row goes: in `tail`, while `room` > 0 */
    struct chunk *tail;                /* NULL before the first row */
    struct chunk *head;
    struct columnar_slot newest;
    int64_t token;
    uint32_t undo;                     /* private: the entry in its newest frame's list */
    uint16_t room;                     /* how many more rows fit into `tail` */
    uint16_t layout;                   /* the number of the layout of `tail` */
    uint16_t key_size;                 /* private */
    bool has_constants;
    /* By column: the base that stored values are offsets from; where the layout stores none, the
     * value itself.  Flags of columns and the key follow. */
    int64_t bases[];
};

/* Flags of a column: its scale, and whether it is absent, in rows whose layout stores neither. */
enum { COLUMNAR_FLAG_ABSENT = 0x80, COLUMNAR_ABSENT_SHIFT = 7, COLUMNAR_FLAG_SCALE = 0x7F };

struct columnar_undo;

/* What the partitions that `frame` wrote to were before it. */
struct columnar_undo_list {
    uint64_t frame;
    struct columnar_undo *entries;
    uint32_t count;
    uint32_t capacity;
};

struct columnar_partitions {
    struct arena *arena;
    uint32_t column_count;
    uint32_t count;
    struct columnar_partition **items; /* by number; partitions never move */
    size_t sums_bytes;                 /* memory of stats of several scales, also in undo lists */
    /* Private. */
    uint32_t capacity;
    struct key_places places;
    struct columnar_undo_list undo[2]; /* the last frame's first */
};

/* Partitions and places come from `arena`, which outlives them. */
void columnar_partitions_init(struct columnar_partitions *partitions, struct arena *arena,
                              uint32_t column_count);
void columnar_partitions_release(struct columnar_partitions *partitions);
/* Bytes of memory, without the arena's. */
size_t columnar_partitions_bytes(const struct columnar_partitions *partitions);

/* The number of the partition of each key of a dictionary, by code.  For a key that is new a
 * partition without rows is made. */
void columnar_partitions_add_all(struct columnar_partitions *partitions,
                                 const struct block_dictionary *keys, uint32_t *numbers_out);
/* UINT32_MAX when it is not there. */
uint32_t columnar_partitions_find(const struct columnar_partitions *partitions, struct bytes key);

/* Begin to write to the partition: make `newest` the slot of `frame`, which is not less than that
 * of the last call. */
void columnar_partitions_touch(struct columnar_partitions *partitions,
                               struct columnar_partition *partition, uint64_t frame,
                               int64_t timestamp_us);
/* The newest slot that a reader at `frame` sees, valid until the next touch.  It is a bug to ask
 * for a frame that is older than the last two and not older than the partition's first. */
const struct columnar_slot *columnar_partitions_as_of(const struct columnar_partitions *partitions,
                                                      const struct columnar_partition *partition,
                                                      uint64_t frame);

static inline uint8_t *columnar_partition_flags(const struct columnar_partitions *partitions,
                                                const struct columnar_partition *partition)
{
    return (uint8_t *)(uintptr_t)(partition->bases + partitions->column_count);
}

static inline struct bytes columnar_partition_key(const struct columnar_partitions *partitions,
                                                  const struct columnar_partition *partition)
{
    return bytes_of(columnar_partition_flags(partitions, partition) + partitions->column_count,
                    partition->key_size);
}
#endif
