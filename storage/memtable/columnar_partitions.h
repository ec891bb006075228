/* columnar_partitions: keeps the partitions of a columnar memtable, numbers them in the order in
 * which they are added, and finds them by key.
 *
 * There may be nearly as many partitions as rows.  A partition takes 96 bytes, 9 bytes for each
 * column, its key, and 21 to 43 bytes in the hash table.
 *
 * A partition has its state after the newest frame that wrote to it (@7: after frame 7).  At most
 * two frames are not durable, so the states before these frames are kept in two lists, one for each
 * frame:
 *
 *     frame     touches        partition 1         partition 2       lists
 *       7        1, 2          @7                  @7                -
 *       8        1             @8                  @7                8: (1 @7)
 *       9        1, 2          @9                  @9                8: (1 @7)   9: (1 @8) (2 @7)
 *      10        3, new        @9                  @9                9: (1 @8) (2 @7)   10: -
 *
 * A reader at frame 8, while frame 10 is open, finds partition 2 in the state @9.  This is too new,
 * so the reader takes the partition's entry in the list of frame 9.  There is no reader at frame 7
 * any more, because frame 8 is durable.
 *
 * Private to columnar_memtable.c. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_PARTITIONS_H
#define DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_PARTITIONS_H

#include "base/key_places.h"
#include "storage/cell/block.h"
#include "storage/cell/packed_stats.h"

struct arena;
struct chunk;

/* The state of a partition after `frame`; stats has the number of rows. */
struct columnar_slot {
    struct packed_stats stats;
    uint64_t frame;                    /* 0: before all frames */
    int64_t timestamp_us;
};

#define COLUMNAR_UNDO_NONE UINT32_MAX

struct columnar_partition {
    uint8_t *next;
    struct chunk *tail;                /* NULL before the first row */
    struct chunk *head;
    struct columnar_slot newest;
    int64_t token;
    uint32_t undo;                     /* private: the entry in the list of newest.frame */
    uint16_t room;                     /* rows that still fit into `tail` */
    uint16_t layout;
    uint16_t key_size;                 /* private */
    bool has_constants;
    /* By column: the base, from which stored values are offsets; or the value itself, where the
     * layout stores none.  The flags of the columns and the key follow. */
    int64_t bases[];
};

/* Of a column of a partition: the scale and the absence of values, in rows whose layout does not
 * store them. */
enum { COLUMNAR_FLAG_ABSENT = 0x80, COLUMNAR_ABSENT_SHIFT = 7, COLUMNAR_FLAG_SCALE = 0x7F };

struct columnar_undo;

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
    struct columnar_partition **items; /* by number; they never move */
    size_t sums_bytes;
    /* Private. */
    uint32_t capacity;
    struct key_places places;
    struct columnar_undo_list undo[2]; /* of the last frame; of the one before */
};

/* The memory of partitions and hash table comes from `arena`, which must outlive them. */
void columnar_partitions_init(struct columnar_partitions *partitions, struct arena *arena,
                              uint32_t column_count);
void columnar_partitions_release(struct columnar_partitions *partitions);
/* Bytes of memory, without the arena's. */
size_t columnar_partitions_bytes(const struct columnar_partitions *partitions);

/* Give the partition number of each key; a new key gets a partition without rows. */
void columnar_partitions_add_all(struct columnar_partitions *partitions,
                                 const struct block_dictionary *keys, uint32_t *numbers_out);
/* The number of the partition with this key; UINT32_MAX: there is none. */
uint32_t columnar_partitions_find(const struct columnar_partitions *partitions, struct bytes key);

/* Begin to write to the partition: make `newest` the slot of `frame`, which is not less than in the
 * last call. */
void columnar_partitions_touch(struct columnar_partitions *partitions,
                               struct columnar_partition *partition, uint64_t frame,
                               int64_t timestamp_us);
/* The newest slot that a reader at `frame` sees, valid until the next touch.  The undo lists reach
 * back over two frames.  An older `frame` is a bug, unless the partition was added after that
 * frame. */
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
