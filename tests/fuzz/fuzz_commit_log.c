/* fuzz_commit_log: a log directory whose one file is the input.
 *
 * Input: a byte of options (1 read-only, 2 salvage, 4 frames up to 1 are flushed), then the file.
 * It opens or is refused; then what the first opening left is opened in the same way.  That both
 * replay the same is for tests with genuine checksums: without them a stale sector can carry the
 * number of a file that is only just made. */
#include "storage/log/commit_log.h"
#include "tests/fuzz/fuzz.h"
#include "tests/sim/sim_world.h"

enum { FILE_SIZE_MIN = 32 << 10, LOG_FILE_SIZE = 64 << 10 };

static int follow_frame(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                        struct error *err)
{
    uint64_t *last = context;
    (void)timestamp_us;
    (void)err;
    check(frame > *last && payload.size <= COMMIT_LOG_PAYLOAD_MAX);
    *last = frame;
    return 0;
}

static void ignore_durable(void *context, int status, uint64_t frame)
{
    (void)context;
    (void)status;
    (void)frame;
}

static void open_and_close(struct world *world, const struct commit_log_options *options)
{
    struct commit_log *log = NULL;
    struct error err = {0};
    uint64_t last = options->flushed_frame;
    int rc = commit_log_open(world, options, follow_frame, ignore_durable, &last, &log, &err);
    if (rc == 0) {
        while (commit_log_status(log)->is_busy && world->executor->step(world->executor)) {
        }
        commit_log_close(log);
    } else {
        check(err.text[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    unsigned flags = fuzz_take_byte(&input);
    struct commit_log_options options = {.file_size = LOG_FILE_SIZE,
                                         .first_file_size = LOG_FILE_SIZE,
                                         .flushed_frame = flags >> 2 & 1,
                                         .read_only = (flags & 1) != 0,
                                         .salvage = (flags & 3) == 2};
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    check(world->disk->make_directory(world->disk, "log") == 0);
    fuzz_put_file(world, "log/00000001.log", input, FILE_SIZE_MIN);
    open_and_close(world, &options);
    open_and_close(world, &options);
    sim_world_free(sim);
    return 0;
}
