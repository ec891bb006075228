/* Refused lines as rows, and the commands that show them. */
#include "ingest/connection/rejects.h"

#include "tests/unit/ingest_fixture.h"

TestSuite(rejects, .init = setup, .fini = teardown, .timeout = 60);

/* Run `daybook rejects WORDS` and compare what it printed. */
static void rejects_expect(int word_count, char **words, const char *out, const char *errors)
{
    struct result result = {
        .output = {.write = result_write, .is_full = result_is_full, .finish = result_finish}};
    void *options = memory_zeroed(1, rejects_command.options_size);
    struct command_request request = {.options = options};

    cr_assert(argp_parse(rejects_command.argp, word_count, words, ARGP_NO_EXIT, NULL, options) ==
              0);
    rejects_command.run(ingest, &request, &result.output);
    run_until(&result.finished);
    for (int i = 0; i < 2; i++)
        buffer_put_u8(&result.text[i], 0);
    cr_expect(result.exit_status == EXIT_DONE);
    cr_expect(strstr((char *)result.text[0].data, out) != NULL, "%s", (char *)result.text[0].data);
    cr_expect(strstr((char *)result.text[1].data, errors) != NULL, "%s",
              (char *)result.text[1].data);
    for (int i = 0; i < 2; i++)
        buffer_release(&result.text[i]);
    memory_free(options);
}

static void count_applied(void *context, int status, const struct error *err)
{
    (void)err;
    cr_assert(status == 0);
    ++*(int *)context;
}

static void reject_lines(uint32_t count)
{
    struct reject_list list = {0};
    struct write_batch *batch = write_batch_new();
    struct reject_origin origin = {.now_us = store_now_us(store), .door = "text"};
    struct error err = {0};
    char line[32];
    int applied = 0;
    int rc;

    for (uint32_t i = 1; i <= count; i++) {
        int size = snprintf(line, sizeof line, "bad,\xFF%u", i);

        reject_list_add(&list, i, i % 2 == 0 ? REJECT_BAD_DAY : REJECT_BAD_UTF8, bytes_text("bad"),
                        bytes_of(line, (size_t)size));
    }
    rejects_add(batch, schema_table(store_schema(store), TABLE_REJECT), &list, &origin,
                world->random);
    /* A store that is full now has room after some turns. */
    while ((rc = store_apply(store, batch, count_applied, &applied, &err)) == ERROR_FULL)
        uv_run(&loop, UV_RUN_ONCE);
    cr_assert(rc == 0, "%s", err.text);
    run_until(&applied);
    write_batch_free(batch);
    reject_list_release(&list);
}

/* argp takes words that it may change. */
static char name_word[] = "rejects", list_word[] = "list", export_word[] = "export";
static char format_word[] = "--format=csv";
static char *list_words[] = {name_word, list_word, format_word};
static char *export_words[] = {name_word, export_word};

Test(rejects, are_listed_in_the_order_they_came_and_exported_as_they_came)
{
    rejects_expect(3, list_words, "time,door,producer,batch,line,code,reason,content\n",
                   "no line was refused");
    reject_lines(3);
    rejects_expect(3, list_words, ",text,,,1,bad_utf8,an id is not valid UTF-8,\"bad,\\xff1\"\n",
                   "");
    rejects_expect(2, export_words,
                   "bad,\xFF"
                   "1\nbad,\xFF"
                   "2\nbad,\xFF"
                   "3\n",
                   "");
}

Test(rejects, of_the_last_ones_the_newest_comes_first)
{
    char last_word[] = "--last=2";
    char *last_words[] = {name_word, export_word, last_word};

    rejects_expect(3, last_words, "", "no line was refused");
    reject_lines(3);
    rejects_expect(3, last_words,
                   "bad,\xFF"
                   "3\nbad,\xFF"
                   "2\n",
                   "");
}

Test(rejects, more_than_a_batch_has_rows_for_are_gathered_by_code)
{
    reject_lines(REJECTS_ROWS_MAX + 5);
    rejects_expect(3, list_words, ",10001,bad_utf8,\"3 lines, gathered\"", "");
    rejects_expect(2, export_words,
                   "bad,\xFF"
                   "10001\nbad,\xFF"
                   "10003\nbad,\xFF"
                   "10005\n",
                   "");
    rejects_expect(2, export_words,
                   "bad,\xFF"
                   "10002\nbad,\xFF"
                   "10004\n",
                   "");
}
