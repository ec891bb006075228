/* test_view: a request for a view, over sockets, with commands and a view of the test's own: the
 * order of its steps, and on which thread they are, failures, who may change something, and clients
 * that hang up. */
#include <pthread.h>
#include <stdio.h>

#include "tests/unit/http_fixture.h"

#include "base/arena.h"
#include "query/web/page/view.h"

/* ---- commands ---- */

static struct command_output *hanging; /* of `hang`, which the test ends */
static int say_status;

struct say_options {
    char words[256];
};

static error_t say_option(int key, char *argument, struct argp_state *state)
{
    struct say_options *options = state->input;

    if (key != 'a' && key != 't' && key != ARGP_KEY_ARG)
        return key == 'f' ? 0 : ARGP_ERR_UNKNOWN;
    size_t size = strlen(options->words);
    (void)snprintf(options->words + size, sizeof options->words - size, "%c%s",
                   key == ARGP_KEY_ARG ? ' ' : key, argument != NULL ? argument : "");
    return 0;
}

static const struct argp_option say_argp_options[] = {{"format", 'f', "F", 0, "", 0},
                                                      {"at", 'a', "A", 0, "", 0},
                                                      {"total", 't', NULL, 0, "", 0},
                                                      {0}};
static const struct argp say_argp = {.options = say_argp_options, .parser = say_option};

static void say_run(void *room, const struct command_request *request,
                    struct command_output *output)
{
    const struct say_options *options = request->options;

    (void)room;
    if (say_status != EXIT_DONE)
        command_printf(output, COMMAND_ERR, "daybook: note: no <such> day\ndaybook: none\n");
    command_printf(output, COMMAND_OUT,
                   "[\n  {\"words\": \"%s\", \"none\": null},\n  {\"words\": \"2\"}\n]",
                   options->words);
    output->finish(output, say_status);
}

static void hang_run(void *room, const struct command_request *request,
                     struct command_output *output)
{
    (void)room;
    (void)request;
    hanging = output;
}

static void break_run(void *room, const struct command_request *request,
                      struct command_output *output)
{
    (void)room;
    (void)request;
    command_printf(output, COMMAND_OUT, "{\"half\": ");
    output->finish(output, EXIT_DONE);
}

static const struct command commands_of_test[] = {
    {.name = "say", .argp = &say_argp, .options_size = sizeof(struct say_options), .run = say_run},
    {.name = "hang",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = hang_run},
    {.name = "break",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = break_run}};
static const struct command_entry entries[] = {
    {&commands_of_test[0], NULL}, {&commands_of_test[1], NULL}, {&commands_of_test[2], NULL}};

/* ---- the view ---- */

static struct view_call *paused; /* the call that waits for the test */
static uint32_t abandoned;
static pthread_t engine;
static uint32_t steps_beside, steps_on_engine;
static uv_sem_t is_held, let_go; /* a step that waits for the test */

static void count_step(void)
{
    bool is_on_engine = pthread_equal(pthread_self(), engine) != 0;

    steps_beside += !is_on_engine;
    steps_on_engine += is_on_engine;
}

static void test_abandon(struct view_call *call)
{
    cr_expect(call == paused);
    abandoned++;
}

static void test_then(struct view_call *call)
{
    struct view_run *run = view_run(call, 1, "say", NULL);

    count_step();
    html_put(&call->html, "then;");
    view_run_option(run, "--at=", bytes_text("second"));
}

static void test_begin(struct view_call *call)
{
    struct bytes command = view_parameter(call, "command");

    engine = pthread_self();
    if (view_parameter_is(call, "pause", "yes")) {
        paused = call;
        view_pause(call, test_abandon);
    }
    if (command.size == 0)
        return;
    struct view_run *run =
        bytes_equal(command, bytes_text("break"))  ? view_run(call, 0, "break", NULL)
        : bytes_equal(command, bytes_text("hang")) ? view_run(call, 1, "hang", NULL)
                                                   : view_run(call, 1, "say", NULL);
    call->state = run;
    view_run_option(run, "--at=", view_parameter(call, "at"));
    view_run_option(run, "--at=", view_parameter(call, "missing"));
    view_run_flag(run, "--total");
    view_run_value(run, bytes_text("--at"));
    view_run_value(run, view_parameter(call, "value"));
    if (view_parameter_is(call, "then", "yes"))
        view_then(call, test_then);
}

static void test_render(struct view_call *call)
{
    const struct view_run *run = call->state;

    count_step();
    if (view_parameter_is(call, "hold", "yes")) {
        uv_sem_post(&is_held);
        uv_sem_wait(&let_go);
    }
    if (run != NULL && view_has(call, run))
        html_put(&call->html, "[{}|{}|{}]", view_member(run->value->items, "words"),
                 view_member(run->value->items, "none"), html_count(call->arena, run->total));
    if (run == NULL)
        view_put_first_click(call);
}

static void test_post(struct view_call *call)
{
    if (view_parameter_is(call, "wrong", "yes"))
        view_put_error(call, 409, bytes_text("it <has> changed"), "here", "again");
    else
        view_redirect(call, bytes_text("/test?done=1"));
}

static const struct view view_test = {"/test", "Test", NULL, test_begin, test_render, test_post};

/* ---- the bench ---- */

static struct web_commands *commands;
static struct web_token token;
static struct view_room room;
static bool is_closed;

static void answer(struct view_call *call)
{
    const struct http_field location = {"Location", call->location};

    http_door_answer(call->exchange, &(struct http_answer){.status = call->status,
                                                           .type = "text/html",
                                                           .body = buffer_view(&call->html),
                                                           .fields = &location,
                                                           .field_count = call->location != NULL});
}

static void serve_test(void *context, struct http_exchange *exchange)
{
    (void)context;
    view_begin(&room, &view_test, exchange, answer);
}

static void add_routes(void)
{
    commands = web_command_open(&(struct web_commands_options){
        .world = world, .entries = entries, .entry_count = 3, .bytes_max = 64 << 20});
    web_token_make(world->random, &token);
    room.quota = (struct quota){.limit = VIEW_BYTES_MAX};
    room.options = (struct page_options){.world = world,
                                         .commands = commands,
                                         .token = &token,
                                         .ingest = "127.0.0.1:7600",
                                         .version = "1",
                                         .currency = ""};
    http_door_route(door, &(struct http_route){.path = "/test",
                                               .methods = HTTP_METHOD_GET | HTTP_METHOD_POST,
                                               .body_max = 4096,
                                               .serve = serve_test});
}

static void commands_closed(void *context)
{
    *(bool *)context = true;
}

/* The fixture closes a door with routes, so it gets another. */
static void teardown_view(void)
{
    close_door();
    cr_expect(room.call_count == 0 && room.quota.taken == 0, "every call was freed");
    web_command_close(commands, commands_closed, &is_closed);
    if (hanging != NULL)
        hanging->finish(hanging, EXIT_DONE);
    cr_expect(is_closed);
    open_door(&(struct http_limits){0});
    web_command_close(commands, commands_closed, &is_closed);
    teardown();
}

TestSuite(view, .init = setup, .fini = teardown_view, .timeout = 60);

static void ask(struct network_client *client, const char *query)
{
    struct buffer request = {0};

    client_open(client);
    buffer_printf(&request, "GET /test?%s HTTP/1.1\r\n" HOST "\r\n", query);
    network_write(client->connection, buffer_view(&request));
    buffer_release(&request);
}

static void expect(const char *query, const char *status, const char *body)
{
    struct network_client client;

    ask(&client, query);
    wait_for(&client, "\r\n\r\n");
    turns();
    cr_expect(has_got(&client, status) && has_got(&client, body), "%s: %.*s", query,
              (int)client.got.size, (const char *)client.got.data);
    network_client_close(&client, &loop);
}

static void expect_post(const char *form, const char *status, const char *body)
{
    struct network_client client;
    struct buffer request = {0};

    client_open(&client);
    buffer_printf(
        &request,
        "POST /test HTTP/1.1\r\n" HOST
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %zu\r\n\r\n%s",
        strlen(form), form);
    network_write(client.connection, buffer_view(&request));
    wait_for(&client, "\r\n\r\n");
    turns();
    cr_expect(has_got(&client, status) && has_got(&client, body), "%s: %.*s", form,
              (int)client.got.size, (const char *)client.got.data);
    network_client_close(&client, &loop);
    buffer_release(&request);
}

/* ---- steps ---- */

Test(view, runs_commands_with_words_of_the_address)
{
    expect("command=say&at=a%3Cb&value=v", "HTTP/1.1 200 ", "[aa&lt;bt --at v||2]");
    expect("command=say&at=", "HTTP/1.1 200 ", "[t --at ||2]");
    expect("command=say&at=a%C3", "HTTP/1.1 400 ", "UTF-8");
}

Test(view, has_steps_in_their_order)
{
    expect("command=say&then=yes", "HTTP/1.1 200 ", "then;[t --at ||2]");
}

Test(view, waits_for_what_is_no_command)
{
    struct network_client client;

    ask(&client, "pause=yes&command=say");
    while (paused == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    turns();
    cr_expect(client.got.size == 0);
    view_resume(paused);
    wait_for(&client, "[t --at ||2]");
    network_client_close(&client, &loop);
}

Test(view, has_steps_beside_the_engine_thread)
{
    expect("command=say&then=yes", "HTTP/1.1 200 ", "then;[t --at ||2]");
    cr_expect(steps_beside == 2 && steps_on_engine == 0);
}

/* ---- failures ---- */

Test(view, says_what_failed)
{
    say_status = EXIT_DATA_SAYS_NO;
    expect("command=say", "HTTP/1.1 409 ", "<h2>no &lt;such&gt; day\nnone</h2>");
    say_status = EXIT_SYSTEM_FAILED;
    expect("command=say", "HTTP/1.1 500 ", "<dd>say</dd>");
    expect("command=break", "HTTP/1.1 500 ", "cannot be read");
}

Test(view, frees_what_a_client_left)
{
    struct network_client client;

    ask(&client, "command=hang");
    while (hanging == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    network_client_close(&client, &loop);
    turns();
    cr_expect(room.call_count == 0);
    ask(&client, "pause=yes");
    while (paused == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    network_client_close(&client, &loop);
    turns();
    cr_expect(room.call_count == 0 && abandoned == 1);
}

Test(view, frees_what_a_client_left_in_a_step)
{
    struct network_client client, other;

    cr_assert(uv_sem_init(&is_held, 0) == 0 && uv_sem_init(&let_go, 0) == 0);
    ask(&client, "command=say&hold=yes");
    while (uv_sem_trywait(&is_held) != 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    ask(&other, "command=say&a=%");
    wait_for(&other, "HTTP/1.1 400 ");
    network_client_close(&client, &loop);
    network_client_close(&other, &loop);
    turns();
    cr_expect(room.call_count == 1, "the step still has the call");
    uv_sem_post(&let_go);
    while (room.call_count > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(room.quota.taken == 0);
    uv_sem_destroy(&is_held);
    uv_sem_destroy(&let_go);
}

Test(view, makes_a_number_of_pages_at_once)
{
    room.call_count = VIEW_CALLS_MAX;
    expect("", "HTTP/1.1 503 ", "busy");
    room.call_count = VIEW_CALLS_MAX - 1;
    expect("", "HTTP/1.1 200 ", "nc -N 127.0.0.1 7600");
    room.call_count = 0;
}

Test(view, reads_answers_for_which_there_is_memory)
{
    room.quota.limit = 100;
    expect("command=say", "HTTP/1.1 503 ", "no room for the answer");
    room.quota.limit = VIEW_BYTES_MAX;
    expect("command=say", "HTTP/1.1 200 ", "[t --at ||2]");
}

/* ---- changes ---- */

Test(view, a_change_has_the_token)
{
    char form[128];

    expect_post("a=b", "HTTP/1.1 403 ", "token");
    (void)snprintf(form, sizeof form, "token=%s", token.text);
    expect_post(form, "HTTP/1.1 303 ", "Location: /test?done=1\r\n");
    (void)snprintf(form, sizeof form, "wrong=yes&token=%s", token.text);
    expect_post(form, "HTTP/1.1 409 ", "it &lt;has&gt; changed");
}
