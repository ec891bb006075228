/* load: files into a real store over the text door: each counted once, however it is loaded. */
#include "ingest/load/load.h"

#include "tests/unit/ingest_fixture.h"

TestSuite(load, .init = setup, .fini = teardown, .timeout = 60);

/* ---- files and loads ---- */

static void path_of(const char *name, char path[200])
{
    snprintf(path, 200, "%s/%s", root, name);
}

static void file_write(const char *name, const char *mode, struct bytes content)
{
    char path[200];
    FILE *file;

    path_of(name, path);
    file = fopen(path, mode);
    cr_assert(file != NULL && fwrite(content.data, 1, content.size, file) == content.size);
    cr_assert(fclose(file) == 0);
}

static void lines_append(struct buffer *text, int from, int to)
{
    for (int i = from; i < to; i++)
        buffer_printf(text, "r%d,,%lld,ad%d,0.%02d\n", i % 7, 1385654400000 + (long long)i * 10,
                      i % 50, i % 100);
}

/* Load one file; the words that are expected on each stream, and the clicks there afterwards. */
static void load_file_expect(struct load_options *options, const char *name, int exit_status,
                             const char *out, const char *errors)
{
    struct result result = {.output = {.write = result_write, .finish = result_finish}};
    struct connection *ends[2];
    struct error err = {0};
    char path[200];

    path_of(name, path);
    options->paths[0] = path;
    options->path_count = 1;
    cr_assert(network_pair(network, ends, &err) == 0);
    ingest_attach(ingest, ends[1]);
    load_start(options, world, ends[0], false, &result.output);
    run_until(&result.finished);
    for (int i = 0; i < 2; i++)
        buffer_put_u8(&result.text[i], 0);
    cr_expect(result.exit_status == exit_status, "%s", (char *)result.text[1].data);
    cr_expect(strstr((char *)result.text[0].data, out) != NULL, "out: %s expected: %s",
              (char *)result.text[0].data, out);
    cr_expect(strstr((char *)result.text[1].data, errors) != NULL, "err: %s expected: %s",
              (char *)result.text[1].data, errors);
    for (int i = 0; i < 2; i++)
        buffer_release(&result.text[i]);
}

static void figures_sum(void *context, int status, const struct error *err,
                        const struct partition_figure *figures, uint32_t count,
                        struct bytes position)
{
    int64_t *sum = context;

    cr_assert(status == 0, "%s", err == NULL ? "" : err->text);
    cr_assert(position.size == 0);
    *sum = 0;
    for (uint32_t i = 0; i < count; i++)
        *sum += (int64_t)figures[i].stats.rows;
}

static int64_t clicks(void)
{
    int64_t sum = -1;
    struct error err = {0};

    cr_assert(store_stats_scan(store, CLICKS_TABLE, 0, bytes_of(NULL, 0), 10000, READ_DURABLE,
                               figures_sum, &sum, &err) == 0,
              "%s", err.text);
    while (sum < 0)
        uv_run(&loop, UV_RUN_ONCE);
    return sum;
}

Test(load, a_file_counts_once_grows_and_is_known_after_a_restart)
{
    struct load_options options = {0};
    struct buffer text = {0};

    buffer_append_text(&text, "reseller_id,day,time,ad_id,amount\n");
    lines_append(&text, 0, 50000);
    file_write("a.csv", "w", buffer_view(&text));
    load_file_expect(&options, "a.csv", EXIT_DONE, "50,000 lines accepted, 0 refused", "");
    cr_expect(clicks() == 50000);
    load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded, 50,000 lines, counted once",
                     "");
    file_write("renamed.csv", "w", buffer_view(&text));
    load_file_expect(&options, "renamed.csv", EXIT_DONE, "already loaded, 50,000 lines", "");
    system_close();
    system_open(false);
    load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded, 50,000 lines", "");
    buffer_clear(&text);
    lines_append(&text, 50000, 50010);
    file_write("a.csv", "a", buffer_view(&text));
    load_file_expect(&options, "a.csv", EXIT_DONE, "10 lines accepted",
                     "its first 50,000 lines are loaded already");
    cr_expect(clicks() == 50010);
    buffer_release(&text);
}

Test(load, another_file_with_the_same_beginning_is_loaded_whole)
{
    struct load_options options = {0};
    struct buffer text = {0};

    lines_append(&text, 0, 100);
    file_write("a.csv", "w", buffer_view(&text));
    text.data[text.size - 2] = '7';
    file_write("b.csv", "w", buffer_view(&text));
    load_file_expect(&options, "a.csv", EXIT_DONE, "100 lines accepted", "");
    load_file_expect(&options, "b.csv", EXIT_DONE, "100 lines accepted", "but is another");
    load_file_expect(&options, "b.csv", EXIT_DONE, "already loaded", "");
    cr_expect(clicks() == 200);
    options.as = "again";
    load_file_expect(&options, "b.csv", EXIT_DONE, "100 lines accepted", "");
    load_file_expect(&options, "b.csv", EXIT_DONE, "already loaded", "");
    cr_expect(clicks() == 300);
    buffer_release(&text);
}

static void last_line(bool is_binary)
{
    struct load_options options = {.is_binary = is_binary};

    file_write("a.csv", "w", bytes_text("r,,1,a,1\nr,,2,a,1"));
    load_file_expect(&options, "a.csv", EXIT_DONE, "2 lines accepted", "");
    load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded, 2 lines", "");
    file_write("a.csv", "a", bytes_text("\n"));
    load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded, 2 lines", "");
    file_write("a.csv", "a", bytes_text("r,,3,a,1\n"));
    load_file_expect(&options, "a.csv", EXIT_DONE, "1 line accepted", "first 2 lines");
    cr_expect(clicks() == 3);
    /* The same bytes, but its last line was another one. */
    file_write("b.csv", "w", bytes_text("r,,1,a,1\nr,,2,b,1"));
    load_file_expect(&options, "b.csv", EXIT_DONE, "2 lines accepted", "");
    file_write("b.csv", "a", bytes_text("5\n"));
    load_file_expect(&options, "b.csv", EXIT_DONE, "2 lines accepted", "but is another");
    cr_expect(clicks() == 7);
}

Test(load, a_last_line_without_its_end_is_taken_and_the_file_may_go_on_behind_it)
{
    last_line(false);
}

Test(load, as_columns_a_last_line_without_its_end_is_taken_and_the_file_may_go_on_behind_it)
{
    last_line(true);
}

static void refused_lines(bool is_binary)
{
    struct load_options options = {.is_binary = is_binary, .is_strict = true};
    char path[200];
    char got[1000] = "";
    FILE *file;

    file_write("a.csv", "w",
               bytes_text("reseller_id,day,time,ad_id,amount\r\nr,,1,a,1\r\n"
                          "#batch 1 1\r\nr,,2,a,\"x,\"\"y\"\r\n\r\nr,,3,a,1\r\n"));
    load_file_expect(&options, "a.csv", EXIT_DATA_SAYS_NO, "2 lines accepted, 3 refused", "");
    path_of("a.csv.rejects.csv", path);
    file = fopen(path, "r");
    cr_assert(file != NULL);
    cr_expect(fread(got, 1, sizeof got - 1, file) > 0);
    fclose(file);
    cr_expect(strstr(got, "line,code,reason,content\n3,unknown_control,") == got, "%s", got);
    cr_expect(strstr(got, "\n4,bad_amount,") != NULL && strstr(got, "\n5,empty_line,") != NULL);
    cr_expect(clicks() == 2);
}

Test(load, refused_lines_go_to_a_file_with_their_numbers_and_control_lines_are_lines)
{
    refused_lines(false);
}

Test(load, as_columns_refused_lines_go_to_a_file_with_their_numbers_and_control_lines_are_lines)
{
    refused_lines(true);
}

Test(load, a_file_without_records_is_nobodys_beginning)
{
    struct load_options options = {0};

    file_write("a.csv", "w", bytes_text(""));
    load_file_expect(&options, "a.csv", EXIT_DONE, "", "no records");
    file_write("a.csv", "w", bytes_text("reseller_id,day,time,ad_id,amount\n"));
    load_file_expect(&options, "a.csv", EXIT_DONE, "", "no records");
    load_file_expect(&options, "missing.csv", EXIT_SYSTEM_FAILED, "", "cannot open");
}

static void packed_files(bool is_binary)
{
    struct load_options options = {.is_binary = is_binary};
    struct buffer text = {0};
    char command[500];

    buffer_append_text(&text, "\xEF\xBB\xBFtime,ad_id,reseller_id,amount\n");
    for (int i = 0; i < 30000; i++)
        buffer_printf(&text, "%d,a%d,r%d,1\n", i, i % 9, i % 3);
    file_write("a.csv", "w", buffer_view(&text));
    snprintf(command, sizeof command,
             "cd %s && gzip -k a.csv && cat a.csv.gz > b.csv.gz && head -c 1000 a.csv.gz > c.gz",
             root);
    cr_assert(system(command) == 0);
    load_file_expect(&options, "a.csv.gz", EXIT_DONE, "30,000 lines accepted", "");
    load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded, 30,000 lines", "");
    load_file_expect(&options, "c.gz", EXIT_SYSTEM_FAILED, "", "cut off");
    cr_expect(clicks() == 30000);
    buffer_release(&text);
}

Test(load, packed_files_are_known_by_what_they_hold)
{
    packed_files(false);
}

Test(load, as_columns_packed_files_are_known_by_what_they_hold)
{
    packed_files(true);
}

static void ndjson(bool is_binary)
{
    struct load_options options = {.is_binary = is_binary};
    struct buffer text = {0};

    buffer_append_text(&text, "{\"reseller_id\":\"r\",\"time\":5,\"ad_id\":\"a\",\"amount\":1}\n");
    for (int i = 0; i < 10 << 20; i++)
        buffer_put_u8(&text, 'x');
    buffer_append_text(&text, "\n{\"reseller_id\":\"r\",\"time\":6,\"ad_id\":\"a\",\"amount\":1}");
    file_write("a.ndjson", "w", buffer_view(&text));
    load_file_expect(&options, "a.ndjson", EXIT_DONE, "2 lines accepted, 1 refused", "");
    load_file_expect(&options, "a.ndjson", EXIT_DONE, "already loaded, 3 lines", "");
    cr_expect(clicks() == 2);
    buffer_release(&text);
}

Test(load, ndjson_is_loaded_and_lines_of_megabytes_are_refused_alone)
{
    ndjson(false);
}

Test(load, as_columns_ndjson_is_loaded_and_lines_of_megabytes_are_refused_alone)
{
    ndjson(true);
}

/* Load for so many turns of the loop, then break the connection. */
static void load_interrupted(struct load_options *options, const char *name, int turns)
{
    struct result result = {.output = {.write = result_write, .finish = result_finish}};
    struct connection *ends[2];
    struct error err = {0};
    char path[200];

    path_of(name, path);
    options->paths[0] = path;
    options->path_count = 1;
    cr_assert(network_pair(network, ends, &err) == 0);
    ingest_attach(ingest, ends[1]);
    load_start(options, world, ends[0], false, &result.output);
    for (int i = 0; i < turns; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    if (result.finished == 0)
        network_close(ends[0]);
    run_until(&result.finished);
    while (metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_connections", "", "")->value > 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 2; i++)
        buffer_release(&result.text[i]);
}

static void interrupted_load(bool is_binary)
{
    struct load_options options = {.is_binary = is_binary};
    struct buffer text = {0};

    lines_append(&text, 0, 600000);
    file_write("a.csv", "w", buffer_view(&text));
    for (int turns = 1; turns < 40; turns += 3) {
        load_interrupted(&options, "a.csv", turns);
        if (turns % 4 == 0) {
            system_close();
            system_open(false);
        }
    }
    load_file_expect(&options, "a.csv", EXIT_DONE, "", "");
    load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded, 600,000 lines", "");
    cr_expect(clicks() == 600000);
    buffer_release(&text);
}

Test(load, a_load_that_is_interrupted_anywhere_counts_each_line_once)
{
    interrupted_load(false);
}

Test(load, as_columns_a_load_that_is_interrupted_anywhere_counts_each_line_once)
{
    interrupted_load(true);
}

Test(load, a_file_that_was_begun_as_lines_goes_on_as_columns_and_back)
{
    struct load_options options = {0};
    struct buffer text = {0};

    for (int part = 0; part < 4; part++) {
        options.is_binary = part % 2 == 1;
        lines_append(&text, part * 10000, part * 10000 + 10000);
        file_write("a.csv", "w", buffer_view(&text));
        load_file_expect(&options, "a.csv", EXIT_DONE, "10,000 lines accepted, 0 refused",
                         part == 0 ? "" : "are loaded already");
        options.is_binary = !options.is_binary;
        load_file_expect(&options, "a.csv", EXIT_DONE, "already loaded", "");
    }
    cr_expect(clicks() == 40000);
    buffer_release(&text);
}

Test(load, a_header_that_cannot_be_is_said_before_anything_is_sent_as_columns)
{
    struct load_options options = {.is_binary = true};

    file_write("a.csv", "w", bytes_text("time,country\n1,2\n"));
    load_file_expect(&options, "a.csv", EXIT_SYSTEM_FAILED, "", "unknown_column \"country\"");
    cr_expect(clicks() == 0);
}
