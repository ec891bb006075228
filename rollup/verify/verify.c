/* verify: the functions by which steps report differences, continue and end the verification. */
#include "rollup/verify/verify_private.h"

#include "base/memory.h"

enum { DIFFERENCES_PRINTED_MAX = 1000 };

#define PROGRESS_US INT64_C(2000000)

void verify_free(struct verify *verify)
{
    if (verify->reader != NULL)
        day_reader_free(verify->reader);
    counter_audit_free(verify->audit);
    buffer_release(&verify->position);
    buffer_release(&verify->position_next);
    buffer_release(&verify->ledger_reseller);
    repair_list_free(verify->repairs);
    rollup_unpin_seals(verify->rollup, &verify->pin);
    memory_free(verify);
}

void verify_finish(struct verify *verify, int exit_status)
{
    const struct verify_order order = verify->order;
    verify_free(verify);
    rollup_leave(order.rollup);
    order.output->finish(order.output, exit_status);
}

bool verify_fail_if(struct verify *verify, int status, const struct error *err)
{
    if (status >= 0)
        return false;
    command_printf(verify->output, COMMAND_ERR, "daybook: verify could not go on: %s\n",
                   err != NULL ? err->text : error_text(status));
    verify_finish(verify, EXIT_SYSTEM_FAILED);
    return true;
}

bool verify_has_ended(const struct verify *verify, int status)
{
    return status == ERROR_CLOSED || verify->rollup->is_failed;
}

bool verify_fail_or_name(struct verify *verify, int status, const struct error *err,
                         const char *what)
{
    if (verify_has_ended(verify, status) && verify_fail_if(verify, status, err))
        return true;
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT, "difference: %s: %s\n", what,
                       err != NULL ? err->text : error_text(status));
    verify->is_incomplete = true;
    verify->looks = 0;
    return false;
}

bool verify_may_name(struct verify *verify)
{
    verify->differences++;
    if (verify->differences == DIFFERENCES_PRINTED_MAX + 1)
        command_printf(verify->output, COMMAND_OUT, "difference: … more are not named\n");
    return verify->differences <= DIFFERENCES_PRINTED_MAX;
}

void verify_progress(struct verify *verify, const char *what, uint64_t count)
{
    int64_t now_us = store_now_us(verify->rollup->store);
    if (verify->order.is_quiet || now_us - verify->progress_us < PROGRESS_US)
        return;
    verify->progress_us = now_us;
    command_printf(verify->output, COMMAND_ERR, "%s: %" PRIu64 "\n", what, count);
}

void verify_next(struct verify *verify)
{
    const verify_step *step = verify->steps++;
    (*step)(verify);
}
