/* sim_names: the names of a simulated disk, as tables small enough to be searched. */
#include <string.h>

#include "base/memory.h"
#include "tests/sim/sim_disk_private.h"

static struct name *name_find(const struct name_table *table, const char *path)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->names[i].path, path) == 0)
            return &table->names[i];
    return NULL;
}

struct node *name_node(const struct name_table *table, const char *path)
{
    const struct name *name = name_find(table, path);
    return name != NULL ? name->node : NULL;
}

void name_assign(struct name_table *table, const char *path, struct node *node)
{
    struct name *name = name_find(table, path);
    if (name != NULL && node != NULL) {
        name->node = node;
    } else if (name != NULL) {
        memory_free(name->path);
        *name = table->names[--table->count];
    } else if (node != NULL) {
        table->names =
            memory_make_room(table->names, table->count, &table->capacity, sizeof *table->names);
        table->names[table->count++] = (struct name){memory_string(path), node};
    }
}

void name_table_copy(struct name_table *to, const struct name_table *from)
{
    for (size_t i = 0; i < from->count; i++)
        name_assign(to, from->names[i].path, from->names[i].node);
}

void name_table_release(struct name_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        memory_free(table->names[i].path);
    memory_free(table->names);
    *table = (struct name_table){0};
}

/* Length of the part of a path that names its directory: 1 for "d/a", 0 for "a". */
static size_t parent_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) : 0;
}

bool name_is_child(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return parent_length(path) == length && strncmp(path, directory, length) == 0 &&
           (length == 0 || path[length] == '/');
}

bool name_has_parent(const struct name_table *table, const char *path)
{
    size_t length = parent_length(path);
    if (length == 0)
        return true;
    char *parent = memory_copy(path, length + 1);
    parent[length] = '\0';
    const struct node *node = name_node(table, parent);
    memory_free(parent);
    return node != NULL && node->is_directory;
}

void name_table_drop_orphans(struct name_table *table)
{
    for (size_t i = 0; i < table->count;) {
        if (name_has_parent(table, table->names[i].path)) {
            i++;
            continue;
        }
        char *path = memory_string(table->names[i].path);
        name_assign(table, path, NULL);
        memory_free(path);
        i = 0;
    }
}

void name_change_apply(struct name_table *table, const struct name_change *change)
{
    name_assign(table, change->path, change->node);
    if (change->second_path != NULL)
        name_assign(table, change->second_path, change->second_node);
}

void name_change_release(struct name_change *change)
{
    memory_free(change->path);
    memory_free(change->second_path);
}
