/* verify_seals: checks the checksums of seals, and that each seal's ads add up to its clicks and
 * gross.
 *
 * Only this step reports damaged rows.  The comparison of counters leaves damaged rows out, so it
 * may report counters that are too high.  No day is sealed during a verification
 * (rollup_pin_seals). */
#include "rollup/days/seal.h"
#include "rollup/verify/verify_private.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/cli/command_text.h"
#include "storage/schema/type.h"

enum { ARENA_CHUNK = 64 * 1024 };

/* A seal of the page, and the sums of its rows in sealed_ad (..._found). */
struct seal_claim {
    struct bytes key;
    uint8_t id[UUID_SIZE];
    uint64_t clicks, ads;
    struct decimal gross;
    uint64_t clicks_found, ads_found;
    struct decimal gross_found;
};

struct seals_check {
    struct verify *verify;
    struct arena *arena;
    struct seal_claim claims[DAY_READER_MAX];
    uint32_t count, next;
    struct buffer position;
    struct buffer last_key;
    uint64_t days, clicks;
    struct timer time_slice;
};

static void seals_free(struct seals_check *seals)
{
    arena_free(seals->arena);
    buffer_release(&seals->position);
    buffer_release(&seals->last_key);
    memory_free(seals);
}

static void seals_end(struct seals_check *seals)
{
    struct verify *verify = seals->verify;
    if (seals->days > 0)
        command_printf(verify->output, COMMAND_OUT,
                       "seals: %" PRIu64 " sealed days with %" PRIu64
                       " expired clicks, checksums and ads\n",
                       seals->days, seals->clicks);
    seals_free(seals);
    verify_next(verify);
}

static void seals_fail(struct seals_check *seals, int status, const struct error *err)
{
    if (verify_fail_or_name(seals->verify, status, err, "not all seals could be read"))
        seals_free(seals);
    else
        seals_end(seals);
}

static int name_damage(struct verify *verify, int status, const struct error *err)
{
    if (status != ERROR_CORRUPT)
        return status;
    verify->has_damaged_seals = true;
    if (verify_may_name(verify))
        command_printf(verify->output, COMMAND_OUT, "difference: %s\n", err->text);
    return 0;
}

/* ---- a seal and its ads ---- */

static void judge_claim(struct seals_check *seals, const struct seal_claim *claim)
{
    struct verify *verify = seals->verify;
    struct bytes reseller = {0};
    struct bytes day = {0};
    struct buffer text = {0};
    bool holds = claim->clicks == claim->clicks_found && claim->ads == claim->ads_found &&
                 decimal_compare(claim->gross, claim->gross_found) == 0;
    if (holds || !verify_may_name(verify))
        return;
    bool is_key = type_key_component(claim->key, 2, 0, &reseller) == 0 &&
                  type_key_component(claim->key, 2, 1, &day) == 0;
    check(is_key);
    buffer_append_text(&text, "difference: sealed_ad, ");
    buffer_append_bytes(&text, reseller);
    buffer_append_text(&text, " ");
    buffer_append_bytes(&text, day);
    buffer_append_text(&text, ": the day was sealed with ");
    command_text_count(&text, claim->clicks, "click");
    buffer_append_text(&text, ", gross ");
    decimal_append(&text, claim->gross);
    buffer_append_text(&text, "; its ads have ");
    command_text_count(&text, claim->clicks_found, "click");
    buffer_append_text(&text, ", gross ");
    decimal_append(&text, claim->gross_found);
    buffer_append_text(&text, "\n");
    command_text_flush(verify->output, &text, true);
    buffer_release(&text);
}

static int take_ad(void *context, const struct table *table, const struct page_row *row,
                   struct error *err)
{
    struct seals_check *seals = context;
    struct seal_claim *claim = &seals->claims[seals->next];
    struct bytes id;
    struct sealed_ad ad;
    if (store_row_value(table, row, SEALED_AD_ID, &id) &&
        !bytes_equal(id, bytes_of(claim->id, UUID_SIZE)))
        return 0;
    int rc = seal_read_ad(table, row, &ad, err);
    if (rc < 0)
        return name_damage(seals->verify, rc, err);
    claim->ads_found++;
    claim->clicks_found += ad.clicks;
    rc = decimal_add(claim->gross_found, ad.gross, &claim->gross_found);
    return rc == 0 ? 0 : error_set(err, rc, "the gross of a seal's ads is too large a number");
}

static void claim_next(struct seals_check *seals);

static void ads_read(void *context, int status, const struct error *err)
{
    struct seals_check *seals = context;
    if (status < 0) {
        seals_fail(seals, status, err);
        return;
    }
    judge_claim(seals, &seals->claims[seals->next++]);
    rollup_fire_in(seals->verify->rollup, &seals->time_slice, 0);
}

/* ---- pages ---- */

static int take_claim(struct seals_check *seals, const struct table *table,
                      const struct page_row *row, struct error *err)
{
    struct seal seal;
    int rc = seal_read(table, row, &seal, err);
    if (rc < 0)
        return name_damage(seals->verify, rc, err);
    struct seal_claim *claim = &seals->claims[seals->count++];
    *claim = (struct seal_claim){.key = arena_copy(seals->arena, seal.key),
                                 .clicks = seal.stats.rows,
                                 .ads = seal.ads,
                                 .gross = stats_sum(&seal.stats)};
    memcpy(claim->id, seal.id, UUID_SIZE);
    stats_release(&seal.stats);
    seals->days += !bytes_equal(buffer_view(&seals->last_key), claim->key);
    seals->clicks += claim->clicks;
    buffer_set(&seals->last_key, claim->key);
    return 0;
}

static void take_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct seals_check *seals = context;
    struct error own = {0};
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++) {
        status = take_claim(seals, page->table, &page->rows[i], &own);
        err = &own;
    }
    if (status < 0) {
        seals_fail(seals, status, err);
        return;
    }
    buffer_set(&seals->position, page->position);
    verify_progress(seals->verify, "sealed days checked", seals->days);
    claim_next(seals);
}

static void read_page(struct seals_check *seals)
{
    struct rollup *rollup = seals->verify->rollup;
    struct error err = {0};
    struct read_request request =
        store_rows_request(rollup->stream->seals_table_id, NULL, READ_DURABLE);
    arena_reset(seals->arena);
    seals->count = seals->next = 0;
    request.row_limit = DAY_READER_MAX;
    request.position = buffer_view(&seals->position);
    int rc = store_read(rollup->store, &request, take_page, seals, &err);
    if (rc < 0)
        seals_fail(seals, rc, &err);
}

static void claim_next(struct seals_check *seals)
{
    struct rollup *rollup = seals->verify->rollup;
    if (seals->next == seals->count) {
        if (seals->position.size > 0)
            read_page(seals);
        else
            seals_end(seals);
        return;
    }
    const struct read_request request = store_rows_request(
        rollup->stream->sealed_ads_table_id, &seals->claims[seals->next].key, READ_DURABLE);
    store_rows_read(rollup->store, &request, take_ad, ads_read, seals);
}

static void seals_time_slice(struct timer *timer)
{
    claim_next(timer->context);
}

void verify_seals(struct verify *verify)
{
    if (verify->rollup->stream->seals_table_id == 0) {
        verify_next(verify);
        return;
    }
    struct seals_check *seals = memory_zeroed(1, sizeof(*seals));
    seals->verify = verify;
    seals->arena = arena_new(ARENA_CHUNK);
    seals->time_slice = (struct timer){.fire = seals_time_slice, .context = seals};
    read_page(seals);
}

/* ---- clicks of seals, for the counters ---- */

static int count_ad(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct sealed_ad ad;
    int rc = seal_read_ad(table, row, &ad, err);
    if (rc == 0)
        counter_audit_add(((struct verify *)context)->audit, ad.ad, ad.clicks);
    return rc == ERROR_CORRUPT ? 0 : rc;
}

static int count_seal(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct bytes reseller;
    struct seal seal;
    int rc = seal_read(table, row, &seal, err);
    if (rc == 0 && type_key_component(row->key, 2, 0, &reseller) == 0)
        counter_audit_add(((struct verify *)context)->audit, reseller, seal.stats.rows);
    if (rc == 0)
        stats_release(&seal.stats);
    return rc == ERROR_CORRUPT ? 0 : rc;
}

void verify_seals_count(struct verify *verify, store_done done)
{
    const struct click_stream *stream = verify->rollup->stream;
    bool is_by_ad = verify->counter->key == CLICKS_OF_AD;
    if (stream->seals_table_id == 0) {
        done(verify, 0, NULL);
        return;
    }
    const struct read_request request = store_rows_request(
        is_by_ad ? stream->sealed_ads_table_id : stream->seals_table_id, NULL, READ_DURABLE);
    store_rows_read(verify->rollup->store, &request, is_by_ad ? count_ad : count_seal, done,
                    verify);
}
