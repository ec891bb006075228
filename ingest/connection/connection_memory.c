/* connection_memory: see the header.
 *
 * What must hold: a connection never waits for input memory if it can continue without more of it.
 * While its answers have space, a connection that has no open batch, or holds at most
 * INPUT_QUOTA_FREE bytes, continues with at most INPUT_QUOTA_LINES lines at a time. */
#include "ingest/connection/connection_memory.h"

#include "ingest/connection/answer.h"

size_t connection_memory_answers(const struct ingest_connection *connection)
{
    size_t queued = connection->is_closing ? 0 : network_queued(connection->network);

    return queued + connection->replies.bytes;
}

static size_t kept_bytes(const struct ingest_connection *connection)
{
    return input_queue_bytes(&connection->input) + stream_rows_bytes(&connection->rows) +
           connection->text.skipped.capacity;
}

bool connection_memory_may_take(struct ingest_connection *connection, uint64_t *lines_max_out)
{
    struct ingest_account *account = &connection->account;

    *lines_max_out = UINT64_MAX;
    if (connection_memory_answers(connection) > ingest_account_answers_max(account))
        return false;
    if (ingest_account_may_grow(account))
        return true;
    *lines_max_out = INPUT_QUOTA_LINES;
    if (connection->batch.is_open)
        ingest_account_count_input(account, kept_bytes(connection));
    return !connection->batch.is_open || account->waiter.bytes == 0;
}

bool connection_memory_may_read(const struct ingest_connection *connection, bool has_space)
{
    const struct ingest_account *account = &connection->account;

    return has_space && (account->waiter.bytes == 0 || ingest_account_may_grow(account));
}

/* Whether the connection's rows are empty and stay empty until its next record. */
static bool rows_are_idle(const struct ingest_connection *connection)
{
    return stream_rows_is_idle(&connection->rows) && connection->unnumbered.lines == 0 &&
           connection->state != INGEST_BLOCKED;
}

static bool input_is_idle(const struct ingest_connection *connection)
{
    const struct input_chunk *front = connection->input.front;

    return front != NULL && (connection->state == INGEST_REFUSED ||
                             (front == connection->input.back && front->start == front->end));
}

static void memory_spare(struct ingest_connection *connection)
{
    struct ingest *ingest = connection->ingest;

    if (connection->jobs > 0)
        return;
    if (input_is_idle(connection)) {
        input_queue_release(&connection->input);
        connection->input.spare = &ingest->spare;
    } else if (input_quota_has_waiting(&ingest->memory.input)) {
        input_queue_shrink(&connection->input);
    }
    if (rows_are_idle(connection))
        stream_rows_spare(&connection->rows);
}

bool connection_memory_update(struct ingest_connection *connection, bool has_space)
{
    struct ingest_account *account = &connection->account;
    struct input_quota *input = &connection->ingest->memory.input;
    bool is_tight = input_quota_is_tight(input);

    if (is_tight || connection->state == INGEST_REFUSED)
        memory_spare(connection);
    ingest_account_count_input(account, kept_bytes(connection));
    ingest_memory_count_answers(account->memory, &account->answer_bytes,
                                connection_memory_answers(connection));
    input_quota_wait(input, &account->waiter,
                     connection->state == INGEST_RECORDS && !ingest_account_may_grow(account) &&
                         (account->waiter.bytes > 0 || !has_space));
    return is_tight || input_quota_has_waiting(input);
}

/* Whether the server, and not the client, keeps a connection from making progress. */
static bool is_excused(const struct ingest_connection *connection)
{
    return connection->account.waiter.is_waiting || connection->wake.is_woken ||
           connection->jobs > 0 || connection->replies.first != NULL ||
           connection->state != INGEST_RECORDS;
}

void connection_memory_look(struct ingest_connection *connection)
{
    const struct numbered_batch *batch = &connection->batch;

    if (is_excused(connection))
        ingest_account_excuse(&connection->account);
    else if (ingest_account_is_too_slow(&connection->account))
        answer_refuse(connection, batch->is_open ? batch->sequence : 0, "too_slow",
                      "others wait for the memory of what it has begun");
}
