/* sim_disk_private: what sim_disk.c, sim_names.c and sim_crash.c share; nobody else includes it.
 *
 * Of a file, `durable` is what a crash cannot touch, `current` is what reads show, and `pending`
 * are the writes that lead from one to the other, in order.  Of the names there are likewise a
 * durable and a current table, and the changes between.  A change assigns one name, or two at once
 * for a rename, which is atomic:
 *
 *     create a       a = node
 *     remove a       a = nothing
 *     rename a b     a = nothing, b = node
 *
 * Nodes that nothing refers to any more are swept when names are synced. */
#ifndef DAYBOOK_TESTS_SIM_SIM_DISK_PRIVATE_H
#define DAYBOOK_TESTS_SIM_SIM_DISK_PRIVATE_H

#include "base/buffer.h"
#include "tests/sim/sim_content.h"
#include "tests/sim/sim_disk.h"

struct pending_write {
    uint64_t offset;
    struct buffer data;
    bool is_lost; /* a sync of it failed: no other sync will do it */
};

struct node {
    bool is_directory;
    bool is_marked;
    uint32_t open_count;
    struct sim_content durable;
    struct sim_content current;
    struct pending_write *pending;
    uint32_t pending_count, pending_capacity;
    struct node *next; /* of all nodes */
};

struct name {
    char *path;
    struct node *node;
};

struct name_table {
    struct name *names;
    uint32_t count, capacity;
};

struct name_change {
    char *path;
    struct node *node; /* NULL: gone */
    char *second_path; /* of a rename, else NULL */
    struct node *second_node;
};

struct fault {
    uint64_t at; /* number of the call, counted from 1; 0 for none */
    int code;
    bool for_ever;
};

struct sim_disk {
    struct disk disk;
    struct node *nodes;
    struct disk_file *files;
    struct name_table durable;
    struct name_table current;
    struct name_change *changes;
    uint32_t change_count, change_capacity;
    uint64_t calls[SIM_CALL_COUNT];
    uint64_t reads_now;
    bool is_cached;       /* all bytes are in the system's memory, */
    uint64_t flip_number; /* and so many reads from now one finds a bit turned over; 0: none */
    uint64_t flip_bit;
    struct fault faults[SIM_CALL_COUNT];
    void (*before)(void *context, enum sim_call call);
    void *before_context;
    uint64_t space;
    bool is_locked;
};

/* ---- sim_names.c: tables of names, and changes between two of them ---- */

struct node *name_node(const struct name_table *table, const char *path);      /* NULL: none */
void name_assign(struct name_table *table, const char *path, struct node *node); /* NULL: gone */
void name_table_copy(struct name_table *to, const struct name_table *from);
void name_table_release(struct name_table *table);
bool name_is_child(const char *path, const char *directory);
bool name_has_parent(const struct name_table *table, const char *path);
/* Names without a directory are gone, and with it the names below them. */
void name_table_drop_orphans(struct name_table *table);
void name_change_apply(struct name_table *table, const struct name_change *change);
void name_change_release(struct name_change *change);

/* ---- sim_disk.c ---- */

struct node *sim_disk_node_new(struct sim_disk *sim, bool is_directory);
#endif
