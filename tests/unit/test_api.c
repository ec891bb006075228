/* test_api: addresses under /api/ asked over sockets, with commands of the test's own: who may
 * change something, failures, and clients that hang up.  tests/e2e/test_api.py has the real
 * commands. */
#include <stdio.h>

#include "tests/unit/http_fixture.h"

#include "base/cli/command.h"
#include "query/web/api.h"

/* ---- commands ---- */

static struct command_output *hanging; /* of `report`, which the test ends */
static uint32_t rate_runs;
static int rate_status;
static int64_t rate_keeps; /* bytes of memory that it asks for */

static error_t any_option(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    (void)state;
    return key == ARGP_KEY_ARG || key >= 'a' ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_option any_options[] = {
    {"format", 'f', "F", 0, "", 0},   {"by", 'b', "B", 0, "", 0},     {"note", 'n', "N", 0, "", 0},
    {"dry-run", 'r', NULL, 0, "", 0}, {"expect", 'e', "E", 0, "", 0}, {0}};
static const struct argp any_argp = {.options = any_options, .parser = any_option};

static void report_run(void *room, const struct command_request *request,
                       struct command_output *output)
{
    (void)room;
    (void)request;
    hanging = output;
}

static void rate_run(void *room, const struct command_request *request,
                     struct command_output *output)
{
    (void)room;
    rate_runs++;
    command_printf(output, COMMAND_OUT, "<%s|%s>", request->actor, request->text);
    (void)command_keep(output, rate_keeps);
    if (rate_status != EXIT_DONE)
        command_printf(output, COMMAND_ERR, "daybook: the rate is another; nothing was changed\n");
    output->finish(output, rate_status);
}

static const struct command commands_of_test[] = {
    {.name = "report", .argp = &any_argp, .options_size = 1, .run = report_run},
    {.name = "rate", .argp = &any_argp, .options_size = 1, .run = rate_run}};
static const struct command_entry entries[] = {{&commands_of_test[0], NULL},
                                               {&commands_of_test[1], NULL}};

/* ---- the bench ---- */

static struct web_commands *commands;
static struct web_token token;
static struct api *api;
static int64_t held_commands;
static bool is_closed;

static void charge_commands(void *context, int64_t change_bytes)
{
    (void)context;
    held_commands += change_bytes;
}

static void add_routes(void)
{
    commands = web_command_open(&(struct web_commands_options){.world = world,
                                                               .entries = entries,
                                                               .entry_count = 2,
                                                               .bytes_max = 64 << 20,
                                                               .held = charge_commands});
    web_token_make(world->random, &token);
    api = api_new(door, &(struct api_options){.commands = commands, .token = &token});
}

static void part_closed(void *context)
{
    *(bool *)context = true;
}

static void close_api(void)
{
    close_door();
    api_free(api);
    web_command_close(commands, part_closed, &is_closed);
    cr_expect(is_closed && held_commands == 0);
}

static void teardown_api(void)
{
    close_api();
    open_door(&(struct http_limits){0});
    web_command_close(commands, part_closed, &is_closed);
    api_free(api);
    teardown();
}

TestSuite(api, .init = setup, .fini = teardown_api, .timeout = 60);

/* What is answered to a form. */
static void post(struct network_client *client, const char *headers, const char *form)
{
    struct buffer request = {0};

    client_open(client);
    buffer_printf(&request, "POST /api/rates HTTP/1.1\r\n" HOST "%sContent-Length: %zu\r\n\r\n%s",
                  headers, strlen(form), form);
    network_write(client->connection, buffer_view(&request));
    wait_for(client, "\r\n\r\n");
    turns();
    buffer_release(&request);
}

static void expect_post(const char *headers, const char *form, const char *status, const char *body)
{
    struct network_client client;

    post(&client, headers, form);
    cr_expect(has_got(&client, status) && has_got(&client, body), "%s: %.*s", form,
              (int)client.got.size, (const char *)client.got.data);
    network_client_close(&client, &loop);
}

#define FORM "Content-Type: application/x-www-form-urlencoded\r\n"

/* ---- changes ---- */

Test(api, a_change_has_the_token)
{
    const char *form = "reseller=R1&day=2013-11-28&rate=25%25&note=a+b&preview=true";
    const char *ran = "daybook rate set --format=json '--note=a b' --dry-run -- R1 2013-11-28 25%>";
    char with_header[128];
    char with_field[256];

    expect_post(FORM, form, "HTTP/1.1 403 ", "\"bad_token\"");
    expect_post(FORM "X-Daybook-Token: 0123456789abcdef0123456789abcdef\r\n", form, "HTTP/1.1 403 ",
                "\"bad_token\"");
    cr_expect(rate_runs == 0);
    (void)snprintf(with_header, sizeof with_header, FORM "X-Daybook-Token: %s\r\n", token.text);
    expect_post(with_header, form, "HTTP/1.1 200 ", ran);
    (void)snprintf(with_field, sizeof with_field, "%s&token=%s", form, token.text);
    expect_post(FORM, with_field, "HTTP/1.1 200 ", ran);
    cr_expect(rate_runs == 2);
}

Test(api, a_read_only_door_changes_nothing)
{
    char headers[128];

    close_api();
    open_door_with(&(struct http_options){.is_read_only = true});
    (void)snprintf(headers, sizeof headers, FORM "X-Daybook-Token: %s\r\n", token.text);
    expect_post(headers, "reseller=R1&day=2013-11-28&rate=1", "HTTP/1.1 403 ", "\"read_only\"");
    cr_expect(rate_runs == 0);
}

Test(api, forms_that_are_refused)
{
    char headers[256];

    (void)snprintf(headers, sizeof headers, FORM "X-Daybook-Token: %s\r\n", token.text);
    expect_post("", "reseller=R1", "HTTP/1.1 415 ", "\"not_a_form\"");
    expect_post("Content-Type: application/json\r\n", "{}", "HTTP/1.1 415 ", "\"not_a_form\"");
    expect_post(headers, "reseller=R1&day=2013-11-28", "HTTP/1.1 400 ", "\"parameter rate\"");
    expect_post(headers, "reseller=R1&rates=1", "HTTP/1.1 400 ", "\"parameter rates\"");
    expect_post(headers, "a=%2", "HTTP/1.1 400 ", "\"bad_escape\"");
    cr_expect(rate_runs == 0);
}

Test(api, a_conflict_is_told)
{
    char headers[256];

    (void)snprintf(headers, sizeof headers, FORM "X-Daybook-Token: %s\r\n", token.text);
    rate_status = EXIT_DATA_SAYS_NO;
    expect_post(headers, "reseller=R1&day=2013-11-28&rate=1&expect=2", "HTTP/1.1 409 ",
                "\"what\":\"the rate is another; nothing was changed\"");
    rate_status = EXIT_SYSTEM_FAILED;
    expect_post(headers, "reseller=R1&day=2013-11-28&rate=1", "HTTP/1.1 500 ", "\"failed\"");
}

/* A change that was made, and for whose answer there is no memory, is not told as one to repeat. */
Test(api, a_change_without_room)
{
    char headers[256];

    (void)snprintf(headers, sizeof headers, FORM "X-Daybook-Token: %s\r\n", token.text);
    rate_keeps = INT64_C(1) << 40;
    expect_post(headers, "reseller=R1&day=2013-11-28&rate=1", "HTTP/1.1 503 ",
                "\"todo\":\"ask /api/rates whether the change was made\"");
}

/* ---- answers while a command runs ---- */

static void ask(struct network_client *client, const char *target)
{
    struct buffer request = {0};

    client_open(client);
    hanging = NULL;
    buffer_printf(&request, "GET %s HTTP/1.1\r\n" HOST "\r\n", target);
    network_write(client->connection, buffer_view(&request));
    while (hanging == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    buffer_release(&request);
}

Test(api, csv_is_sent_as_it_is_printed)
{
    struct network_client client;

    ask(&client, "/api/report.csv");
    command_printf(hanging, COMMAND_OUT, "day,clicks\n");
    wait_for(&client, "day,clicks\n");
    cr_expect(has_got(&client, "HTTP/1.1 200 ") && has_got(&client, "text/csv"));
    command_printf(hanging, COMMAND_OUT, "2013-11-28,1\n");
    hanging->finish(hanging, EXIT_DONE);
    wait_for(&client, "2013-11-28,1\n");
    wait_for(&client, "0\r\n\r\n");
    network_client_close(&client, &loop);
}

/* CSV with a limit that is over WEB_OUT_MAX is refused, as nothing in it would say that it is cut.
 */
Test(api, csv_with_a_limit_is_whole)
{
    struct network_client client;
    struct buffer row = {0};

    buffer_put_repeated(&row, 'x', (1 << 20) - 1);
    buffer_put_u8(&row, '\n');
    for (uint32_t more = 0; more < 2; more++) {
        ask(&client, "/api/report.csv?limit=1000");
        command_printf(hanging, COMMAND_OUT, "day\n");
        for (uint32_t i = 0; i < (WEB_OUT_MAX >> 20) + more; i++)
            hanging->write(hanging, COMMAND_OUT, buffer_view(&row));
        hanging->finish(hanging, EXIT_DONE);
        wait_for(&client, more ? "\"answer_too_large\"" : "HTTP/1.1 200 ");
        network_client_close(&client, &loop);
    }
    buffer_release(&row);
}

/* What fails before its first row is told; later, the connection ends before the answer does. */
Test(api, csv_that_fails)
{
    struct network_client client;

    ask(&client, "/api/report.csv");
    command_fail(hanging, EXIT_SYSTEM_FAILED, "a page is damaged");
    wait_for(&client, "HTTP/1.1 500 ");
    wait_for(&client, "\"what\":\"a page is damaged\"");
    network_client_close(&client, &loop);
    ask(&client, "/api/report.csv");
    command_printf(hanging, COMMAND_OUT, "day,clicks\n");
    command_fail(hanging, EXIT_SYSTEM_FAILED, "a page is damaged");
    wait_end(&client);
    cr_expect(has_got(&client, "day,clicks\n") && !has_got(&client, "0\r\n\r\n"));
    network_client_close(&client, &loop);
}

static bool is_drained;

static void drained(void *context)
{
    (void)context;
    is_drained = true;
    hanging->drained = NULL;
}

/* A command waits for a client that does not read, and goes on when it reads, or has left. */
Test(api, csv_waits_for_its_reader)
{
    struct network_client client;
    struct buffer piece = {0};

    buffer_put_repeated(&piece, 'x', 60000);
    for (int leaves = 0; leaves < 2; leaves++) {
        ask(&client, "/api/report.csv");
        network_pause(client.connection);
        is_drained = false;
        while (!command_must_wait(hanging, drained, NULL))
            hanging->write(hanging, COMMAND_OUT, buffer_view(&piece));
        cr_expect(!is_drained);
        if (leaves)
            network_client_close(&client, &loop);
        else
            network_resume(client.connection);
        while (!is_drained)
            uv_run(&loop, UV_RUN_ONCE);
        cr_expect(leaves == 0 || !command_is_full(hanging));
        hanging->finish(hanging, EXIT_DONE);
        if (!leaves) {
            wait_for(&client, "0\r\n\r\n");
            network_client_close(&client, &loop);
        }
    }
    buffer_release(&piece);
}

Test(api, a_client_leaves)
{
    struct network_client client;

    ask(&client, "/api/report?by=day");
    network_client_close(&client, &loop);
    while (metrics_find(metrics, "daybook_http_connections")->value > 0)
        uv_run(&loop, UV_RUN_ONCE);
    command_printf(hanging, COMMAND_OUT, "[\n  {}\n]\n");
    cr_expect(held_commands > 0);
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(held_commands == 0);
}
