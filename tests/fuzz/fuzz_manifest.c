/* fuzz_manifest: a directory whose manifest is the input; what opens takes an edit and opens again
 * with it.
 *
 * Input: a byte (1: edit), then the file, whose size is put where its header says it: or else
 * nothing that is cut or grown would come past the header. */
#include "storage/manifest/manifest.h"
#include "tests/fuzz/fuzz.h"
#include "tests/sim/sim_world.h"

enum { BLOCK = 4096, AT_SIZE = 16 };

static void edit_and_reopen(struct world *world, struct manifest *manifest)
{
    const struct manifest_state *state = manifest_state(manifest);
    const struct segment_info added = {.id = state->segment_id_next,
                                       .table_id = FUZZ_TABLE_WHOLE,
                                       .kind = SEGMENT_ROW,
                                       .frame_first = state->flushed_frame + 1,
                                       .frame_last = state->flushed_frame + 2,
                                       .size = 8192,
                                       .schema_version = schema_version(state->schema)};
    const struct manifest_edit edit = {
        .added = &added, .added_count = 1, .flushed_frame = state->flushed_frame + 2};
    uint32_t count = state->segment_count;
    int rc = manifest_apply(manifest, &edit, NULL);
    manifest_close(manifest);
    if (rc == 0) {
        check(manifest_open(world, &(struct manifest_options){0}, &manifest, NULL) == 0);
        check(manifest_state(manifest)->segment_count == count + 1);
        manifest_close(manifest);
    }
}

static void put_manifest(struct world *world, struct bytes input)
{
    struct buffer content = {0};
    buffer_append_bytes(&content, input);
    buffer_put_zeros(&content, (BLOCK - input.size % BLOCK) % BLOCK);
    if (content.size > 0)
        store_u64(content.data + AT_SIZE, content.size);
    fuzz_put_file(world, "manifest", buffer_view(&content), 0);
    buffer_release(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    bool edits = fuzz_take_byte(&input) % 2 == 1;
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest = NULL;
    struct error err = {0};
    put_manifest(world, input);
    const struct manifest_options options = {.read_only = !edits};
    int rc = manifest_open(world, &options, &manifest, &err);
    check(rc == 0 || err.text[0] != '\0');
    if (rc == 0 && edits && manifest_state(manifest)->flushed_frame < UINT64_MAX / 2 &&
        manifest_state(manifest)->segment_id_next < UINT64_MAX / 2) {
        edit_and_reopen(world, manifest);
    } else if (rc == 0) {
        manifest_close(manifest);
    }
    sim_world_free(sim);
    return 0;
}
