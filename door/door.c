/* door: see the header.
 *
 * What must hold: from door_enter to door_leave a slot is in two lists, one of its door and one of
 * its address, each for the slot's claim.  In each list the longest idle connection is first.
 * door.levels[n] has the addresses with n places.
 *
 * IPv6 addresses with the same first 64 bits count as one, because one client may use all of
 * them. */
#include "door/door.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash64.h"
#include "base/memory.h"

enum {
    CHAINS = 1024,
    LOG_PERIOD_US = 60000000,
    KEEPALIVE_IDLE_S = 60, /* a dead peer is noticed in two minutes */
    KEEPALIVE_EVERY_S = 15,
    KEEPALIVE_PROBES = 4,
    SHARE_LEAST = 4,
    DUMP_MAX = 100
};

struct door_address {
    uint64_t key;
    uint32_t count; /* places of this address; 0 for the local address */
    struct door_slots slots[DOOR_CLAIMS];
    TAILQ_ENTRY(door_address) of_level;
    LIST_ENTRY(door_address) of_chain;
};

/* ---- addresses ---- */

/* The key of an IPv4 address is below 2^48; the first 64 bits of an IPv6 address are not. */
static uint64_t address_key(const struct network_address *address)
{
    if (address->size == 16)
        return load_u64_be(address->bytes);
    return UINT64_C(0xFFFF) << 32 | load_u32_be(address->bytes);
}

static struct door_address *address_new(uint64_t key)
{
    struct door_address *address = memory_zeroed(1, sizeof *address);

    address->key = key;
    for (int claim = 0; claim < DOOR_CLAIMS; claim++)
        TAILQ_INIT(&address->slots[claim]);
    return address;
}

static struct door_address *address_find(struct door *door, uint64_t key)
{
    uint64_t seeded[2] = {key, door->seed};
    struct door_chain *chain = &door->chains[hash64(seeded, sizeof seeded) % CHAINS];
    struct door_address *address;

    LIST_FOREACH (address, chain, of_chain)
        if (address->key == key)
            return address;
    address = address_new(key);
    LIST_INSERT_HEAD(chain, address, of_chain);
    return address;
}

/* `change` is 1 or -1.  An address without places is freed. */
static void address_count(struct door *door, struct door_address *address, int change)
{
    if (address == door->local)
        return;
    if (address->count > 0)
        TAILQ_REMOVE(&door->levels[address->count], address, of_level);
    address->count += (uint32_t)change;
    if (address->count > 0)
        TAILQ_INSERT_TAIL(&door->levels[address->count], address, of_level);
    if (address->count > door->level_max)
        door->level_max = address->count;
    while (door->level_max > 0 && TAILQ_EMPTY(&door->levels[door->level_max]))
        door->level_max--;
    if (address->count == 0) {
        LIST_REMOVE(address, of_chain);
        memory_free(address);
    }
}

/* ---- places ---- */

static void slot_link(struct door_slot *slot)
{
    TAILQ_INSERT_TAIL(&slot->door->slots[slot->claim], slot, of_door);
    TAILQ_INSERT_TAIL(&slot->address->slots[slot->claim], slot, of_address);
}

static void slot_unlink(struct door_slot *slot)
{
    TAILQ_REMOVE(&slot->door->slots[slot->claim], slot, of_door);
    TAILQ_REMOVE(&slot->address->slots[slot->claim], slot, of_address);
}

static struct door_slot *longest_idle(const struct door_slots slots[DOOR_CLAIMS])
{
    struct door_slot *first = TAILQ_FIRST(&slots[DOOR_IDLE]);

    return first != NULL ? first : TAILQ_FIRST(&slots[DOOR_NAMED]);
}

/* Returns the connection to evict, or NULL if all candidates wait for answers.  `wanting` is the
 * address of the new connection, which is counted already. */
static struct door_slot *door_pick(const struct door *door, const struct door_address *wanting)
{
    const struct door_address *most =
        door->level_max > 1 ? TAILQ_FIRST(&door->levels[door->level_max]) : NULL;
    struct door_slot *slot = most != NULL ? longest_idle(most->slots) : NULL;

    return slot != NULL || most == wanting ? slot : longest_idle(door->slots);
}

static void door_counted(struct door *door, int change)
{
    door->count += (uint32_t)change;
    if (door->options.connections != NULL)
        door->options.connections->value += change;
}

/* `slot` is the connection that is closed. */
static void log_grouped(struct log_group *group, const char *event, const struct door_slot *slot)
{
    const struct door *door = slot->door;
    char address[DOOR_PEER_TEXT];
    uint64_t count;

    if (!log_group_admit(group, world_monotonic_us(door->options.world), &count))
        return;
    door_peer_text(slot, address);
    log_event(LOG_WARNING, event, log_text("door", door->options.name),
              log_number("connections_max", door->slots_max), log_text("address", address),
              log_number("times_count", (int64_t)count));
}

void door_log_refused(const struct door_slot *slot, const char *reason, const char *detail)
{
    struct door *door = slot->door;
    char address[DOOR_PEER_TEXT];
    uint64_t count;

    if (door == NULL ||
        !log_group_admit(&door->clients_refused, world_monotonic_us(door->options.world), &count))
        return;
    door_peer_text(slot, address);
    const struct log_field fields[] = {log_text("door", door->options.name),
                                       log_text("address", address), log_text("reason", reason),
                                       log_number("times_count", (int64_t)count),
                                       log_text("detail", detail != NULL ? detail : "")};
    log_event_fields(LOG_WARNING, "client_refused", fields, detail != NULL ? 5 : 4);
}

static void slot_evict(struct door_slot *slot)
{
    struct door *door = slot->door;

    if (door->options.evicted != NULL)
        door->options.evicted->value++;
    door->options.evict(slot);
    check(slot->door == NULL);
}

/* False: no place can be freed. */
static bool door_make_room(struct door *door, struct door_slot *slot)
{
    struct door_slot *picked = door_pick(door, slot->address);

    if (picked == NULL) {
        log_grouped(&door->refused, "door_refuses", slot);
        return false;
    }
    log_grouped(&door->full, "door_full", picked);
    slot_evict(picked);
    return true;
}

static void slot_clock(struct timer *timer)
{
    struct door_slot *slot = timer->context;

    slot->clock_ms = 0;
    slot->door->options.late(slot);
}

bool door_enter(struct door *door, struct door_slot *slot, struct connection *connection)
{
    struct network_address local;

    check(slot->door == NULL);
    *slot = (struct door_slot){.door = door, .connection = connection};
    network_addresses(connection, &local, &slot->peer);
    slot->address = network_address_is_local(&slot->peer)
                        ? door->local
                        : address_find(door, address_key(&slot->peer));
    address_count(door, slot->address, 1);
    if (door->count >= door->slots_max && !door_make_room(door, slot)) {
        address_count(door, slot->address, -1);
        slot->door = NULL;
        return false;
    }
    slot_link(slot);
    door_counted(door, 1);
    network_keepalive(connection, KEEPALIVE_IDLE_S, KEEPALIVE_EVERY_S, KEEPALIVE_PROBES);
    return true;
}

void door_leave(struct door_slot *slot)
{
    struct door *door = slot->door;

    if (door == NULL)
        return;
    door_clock(slot, 0);
    door_login_done(slot);
    slot_unlink(slot);
    address_count(door, slot->address, -1);
    slot->door = NULL;
    door_counted(door, -1);
}

void door_use(struct door_slot *slot, enum door_claim claim)
{
    if (slot->door == NULL)
        return;
    slot_unlink(slot);
    slot->claim = claim;
    slot_link(slot);
}

void door_claim(struct door_slot *slot, enum door_claim claim)
{
    if (slot->claim != claim)
        door_use(slot, claim);
}

void door_clock(struct door_slot *slot, int64_t ms)
{
    if (slot->door == NULL || slot->clock_ms == ms)
        return;
    const struct world *world = slot->door->options.world;
    slot->clock_ms = ms;
    if (ms > 0)
        world_timer_start(world, &slot->clock, slot_clock, slot, ms);
    else
        world_timer_stop(world, &slot->clock);
}

void door_address_text(const struct network_address *address, char text_out[DOOR_PEER_TEXT])
{
    int family = address->size == 4 ? AF_INET : AF_INET6;

    if (address->size == 0 || inet_ntop(family, address->bytes, text_out, DOOR_PEER_TEXT) == NULL)
        (void)snprintf(text_out, DOOR_PEER_TEXT, "local");
}

void door_peer_text(const struct door_slot *slot, char text_out[DOOR_PEER_TEXT])
{
    door_address_text(&slot->peer, text_out);
}

uint64_t door_slot_address(const struct door_slot *slot)
{
    bool is_local = slot->door == NULL || slot->address == slot->door->local;

    return is_local ? (uint64_t)(uintptr_t)slot : slot->address->key;
}

/* ---- before a login ---- */

void door_login_pending(struct door_slot *slot)
{
    if (slot->is_login_pending || slot->door == NULL)
        return;
    slot->is_login_pending = true;
    TAILQ_INSERT_TAIL(&slot->door->logins, slot, of_logins);
}

void door_login_charge(struct door_slot *slot, size_t bytes)
{
    struct door *door = slot->door;

    if (!slot->is_login_pending)
        return;
    quota_give(&door->login_quota, slot->login_bytes);
    slot->login_bytes = 0;
    while (slot->is_login_pending && !quota_take(&door->login_quota, bytes)) {
        struct door_slot *oldest = TAILQ_FIRST(&door->logins);

        log_grouped(&door->logins_full, "door_guests_full", oldest);
        slot_evict(oldest);
    }
    if (slot->is_login_pending)
        slot->login_bytes = bytes;
}

void door_login_done(struct door_slot *slot)
{
    if (!slot->is_login_pending)
        return;
    quota_give(&slot->door->login_quota, slot->login_bytes);
    slot->login_bytes = 0;
    slot->is_login_pending = false;
    TAILQ_REMOVE(&slot->door->logins, slot, of_logins);
}

/* ---- the door ---- */

static void door_show_limit(const struct door *door)
{
    if (door->options.connections_max != NULL)
        door->options.connections_max->value = door->slots_max;
}

void door_open(struct door *door, const struct door_options *options)
{
    struct random *random = options->world->random;

    *door = (struct door){.options = *options, .slots_max = options->slots_max};
    random->fill(random, &door->seed, sizeof door->seed);
    for (int claim = 0; claim < DOOR_CLAIMS; claim++)
        TAILQ_INIT(&door->slots[claim]);
    TAILQ_INIT(&door->logins);
    door->login_quota = (struct quota){.limit = options->login_bytes_max};
    door->full.period_us = door->refused.period_us = LOG_PERIOD_US;
    door->logins_full.period_us = door->clients_refused.period_us = LOG_PERIOD_US;
    door->local = address_new(0);
    door->chains = memory_zeroed(CHAINS, sizeof *door->chains);
    /* One level more: a full door counts a new connection before it evicts another one. */
    door->levels = memory_zeroed((size_t)options->slots_max + 2, sizeof *door->levels);
    for (uint32_t level = 0; level <= options->slots_max + 1; level++)
        TAILQ_INIT(&door->levels[level]);
    door_show_limit(door);
}

static void door_accepted(void *context, struct connection *connection)
{
    struct door *door = context;

    door->options.came(door->options.context, connection);
}

void door_limit(struct door *door, uint32_t slots_max)
{
    uint32_t most = slots_max > SHARE_LEAST ? slots_max : SHARE_LEAST;

    check(door->count == 0);
    if (most < door->slots_max)
        door->slots_max = most;
    door_show_limit(door);
}

int door_listen(struct door *door, const struct door_place *place, const char **address_out,
                struct error *err)
{
    check(door->listener == NULL);
    int rc = network_listen(door->options.network, place->address, door_accepted, door,
                            &door->listener, err);
    if (rc != 0)
        return rc;
    /* A host name may stand for any address, so the bound address is checked. */
    if (!network_listener_is_local(door->listener) && !place->is_open_to_all) {
        rc = error_set(err, ERROR_USAGE,
                       "other machines reach %s, and no client has to log in there: %s",
                       network_listener_address(door->listener),
                       place->remedy != NULL ? place->remedy : "127.0.0.1 is this machine's own");
        door_stop(door);
        return rc;
    }
    if (place->slots_max > 0)
        door_limit(door, place->slots_max);
    *address_out = network_listener_address(door->listener);
    return 0;
}

int door_listen_unix(struct door *door, const char *path, struct error *err)
{
    check(door->listener == NULL);
    return network_listen_unix(door->options.network, path, door_accepted, door, &door->listener,
                               err);
}

bool door_is_local(const struct door *door)
{
    return door->listener == NULL || network_listener_is_local(door->listener);
}

void door_stop(struct door *door)
{
    if (door->listener != NULL)
        network_listener_close(door->listener);
    door->listener = NULL;
}

void door_close(struct door *door)
{
    check(door->count == 0);
    door_stop(door);
    memory_free(door->local);
    memory_free(door->chains);
    memory_free(door->levels);
}

/* ---- descriptors ---- */

static uint32_t share_of(uint64_t descriptors, uint32_t most)
{
    uint64_t share = descriptors > SHARE_LEAST ? descriptors : SHARE_LEAST;

    return share < most ? (uint32_t)share : most;
}

void door_share(uint64_t descriptors, struct door_shares *shares)
{
    uint64_t left = descriptors;

    shares->control = share_of(left / 8, shares->control);
    left = left > shares->control ? left - shares->control : 0;
    shares->ingest = share_of(left / 3, shares->ingest);
    left = left > shares->ingest ? left - shares->ingest : 0;
    shares->http = share_of(left / 2, shares->http);
    left = left > shares->http ? left - shares->http : 0;
    shares->cql = share_of(left, shares->cql);
}

/* ---- dump ---- */

static void dump_slot(const struct door_slot *slot, struct buffer *text)
{
    static const char *const claims[DOOR_CLAIMS] = {
        [DOOR_IDLE] = "idle", [DOOR_NAMED] = "known", [DOOR_OWED] = "owed an answer"};
    char peer[DOOR_PEER_TEXT];

    door_peer_text(slot, peer);
    buffer_printf(text, "  %s: %s%s, %zu bytes not sent\n", peer, claims[slot->claim],
                  slot->is_login_pending ? ", not known yet" : "",
                  network_queued(slot->connection));
}

void door_dump(const struct door *door, struct buffer *text)
{
    const struct door_slot *slot;
    uint32_t shown = 0;

    buffer_printf(text, "%s connections: %" PRIu32 " of %" PRIu32 "\n", door->options.name,
                  door->count, door->slots_max);
    for (int claim = 0; claim < DOOR_CLAIMS; claim++)
        TAILQ_FOREACH (slot, &door->slots[claim], of_door)
            if (shown++ < DUMP_MAX)
                dump_slot(slot, text);
    if (shown > DUMP_MAX)
        buffer_printf(text, "  and %" PRIu32 " more\n", shown - DUMP_MAX);
}
