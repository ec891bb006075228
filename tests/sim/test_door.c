/* The policy of a door, on a simulated network and clock: while a place is free every connection
 * has one; when none is, the address that has most gives one up, its idle connections first; what
 * is owed an answer stays; and what is not known yet shares one small account. */
#include <criterion/criterion.h>

#include "door/door.h"
#include "base/memory.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_world.h"

enum { PLACES = 8, GUEST_BYTES = 1000, CLIENTS_MAX = 4096 };

struct client {
    struct door_slot slot; /* first */
    struct connection *connection;
    bool was_late;
};

static struct sim_world *sim;
static struct network *network;
static struct door door;
static struct client *clients;
static uint32_t client_count;

static void client_closed(void *context)
{
    (void)context;
}

static const struct connection_handler handler = {.closed = client_closed};

static void hang_up(struct client *client)
{
    door_leave(&client->slot);
    if (client->connection == NULL)
        return;
    network_close(client->connection);
    sim_network_drop(client->connection);
    client->connection = NULL;
}

static void evict(struct door_slot *slot)
{
    hang_up((struct client *)slot);
}

static void late(struct door_slot *slot)
{
    ((struct client *)slot)->was_late = true;
}

static void setup(void)
{
    sim = sim_world_new(1);
    network = sim_network_new(1, NULL);
    clients = memory_zeroed(CLIENTS_MAX, sizeof *clients);
    door_open(&door, &(struct door_options){.name = "test",
                                            .world = sim_world_interface(sim),
                                            .slots_max = PLACES,
                                            .evict = evict,
                                            .late = late,
                                            .login_bytes_max = GUEST_BYTES});
}

static void teardown(void)
{
    for (uint32_t i = 0; i < client_count; i++)
        hang_up(&clients[i]);
    while (sim_network_step(network))
        ;
    cr_expect(door.count == 0);
    cr_expect(door.login_quota.taken == 0);
    door_close(&door);
    sim_network_free(network);
    sim_world_free(sim);
    memory_free(clients);
}

TestSuite(door, .init = setup, .fini = teardown, .timeout = 60);

/* One more, from the last byte of an IPv4 address; 127: of this machine.  NULL: it was refused. */
static struct client *come(uint8_t from)
{
    struct network_address peer = {.bytes = {from == 127 ? 127 : 10, 0, 0, from}, .size = 4};
    struct client *client = &clients[client_count++];

    cr_assert(client_count <= CLIENTS_MAX);
    client->connection = sim_network_connect(network, client);
    sim_network_come_from(client->connection, &peer);
    network_start(client->connection, &handler, client);
    if (door_enter(&door, &client->slot, client->connection))
        return client;
    hang_up(client);
    return NULL;
}

static bool is_in(const struct client *client)
{
    return client != NULL && client->slot.door != NULL;
}

Test(door, one_address_may_have_every_place_while_they_are_free)
{
    for (int i = 0; i < PLACES; i++)
        cr_assert(come(1) != NULL);
    for (int i = 0; i < PLACES; i++)
        cr_expect(is_in(&clients[i]));
}

Test(door, a_full_door_takes_the_place_that_was_idle_longest_of_the_address_with_most)
{
    struct client *lone = come(2);
    struct client *first = come(1);
    struct client *second = come(1);

    for (int i = 3; i < PLACES; i++)
        cr_assert(come(1) != NULL);
    door_use(&first->slot, DOOR_IDLE);
    cr_expect(is_in(come(3)));
    cr_expect(is_in(lone));
    cr_expect(is_in(first), "it was used after the second");
    cr_expect(!is_in(second));
    cr_expect(door.count == PLACES);
}

/* A crowd from one address, more than there are places, displaces itself and no other. */
Test(door, an_address_that_has_most_displaces_its_own)
{
    struct client *others[3] = {come(2), come(3), come(4)};

    for (int i = 0; i < 1000; i++)
        cr_assert(is_in(come(1)));
    for (int i = 0; i < 3; i++)
        cr_expect(is_in(others[i]));
}

Test(door, a_producer_goes_after_those_that_have_none)
{
    struct client *producer = come(1);
    struct client *idle;

    door_claim(&producer->slot, DOOR_NAMED);
    idle = come(1);
    for (int i = 2; i < PLACES; i++)
        door_claim(&come(1)->slot, DOOR_NAMED);
    cr_expect(is_in(come(2)));
    cr_expect(!is_in(idle));
    cr_expect(is_in(producer));
    cr_expect(is_in(come(3)));
    cr_expect(!is_in(producer));
}

Test(door, who_is_owed_an_answer_keeps_the_place_and_the_new_one_is_refused)
{
    for (int i = 0; i < PLACES; i++)
        door_claim(&come(1)->slot, DOOR_OWED);
    cr_expect(come(2) == NULL);
    cr_expect(door.count == PLACES);
    door_claim(&clients[3].slot, DOOR_NAMED);
    cr_expect(is_in(come(2)));
    cr_expect(!is_in(&clients[3]));
}

Test(door, those_with_a_name_give_one_place_up_when_none_is_idle)
{
    for (int i = 0; i < PLACES; i++)
        door_claim(&come(127)->slot, DOOR_NAMED);
    cr_expect(is_in(come(127)));
    cr_expect(!is_in(&clients[0]));
}

Test(door, an_address_that_has_most_and_is_owed_all_does_not_displace_others)
{
    struct client *idle = come(2);

    for (int i = 1; i < PLACES; i++)
        door_claim(&come(1)->slot, DOOR_OWED);
    cr_expect(come(1) == NULL);
    cr_expect(is_in(idle));
}

/* Where the address with most is owed everything, others' idle places do. */
Test(door, an_idle_place_of_another_address_is_taken_when_the_one_with_most_has_none)
{
    struct client *idle = come(2);

    for (int i = 1; i < PLACES; i++)
        door_claim(&come(1)->slot, DOOR_OWED);
    cr_expect(is_in(come(3)));
    cr_expect(!is_in(idle));
}

Test(door, loopback_counts_as_many_addresses)
{
    struct client *remote[2] = {come(1), come(1)};

    for (int i = 2; i < PLACES; i++)
        cr_assert(come(127) != NULL);
    cr_expect(is_in(come(127)));
    cr_expect(!is_in(remote[0]), "two of one address are more than one each");
    door_use(&remote[1]->slot, DOOR_IDLE);
    cr_expect(is_in(come(127)));
    cr_expect(is_in(remote[1]) && !is_in(&clients[2]), "then the one that is idle longest");
}

static void come_from_v6(uint8_t network_byte, uint8_t host)
{
    struct network_address peer = {.bytes = {0x20, 1, [7] = network_byte, [15] = host}, .size = 16};
    struct client *client = &clients[client_count++];

    client->connection = sim_network_connect(network, client);
    sim_network_come_from(client->connection, &peer);
    network_start(client->connection, &handler, client);
    cr_assert(door_enter(&door, &client->slot, client->connection));
}

Test(door, a_network_of_ipv6_counts_as_one_address)
{
    come_from_v6(2, 1);
    for (uint8_t host = 1; host < 200; host++)
        come_from_v6(1, host);
    cr_expect(is_in(&clients[0]));
}

Test(door, a_clock_fires_once_and_is_not_set_anew_by_the_same_time)
{
    struct client *client = come(1);

    door_clock(&client->slot, 10000);
    sim_world_run_us(sim, 6000000);
    door_clock(&client->slot, 10000);
    cr_expect(!client->was_late);
    sim_world_run_us(sim, 5000000);
    cr_expect(client->was_late);
    client->was_late = false;
    door_clock(&client->slot, 10000);
    door_clock(&client->slot, 0);
    sim_world_run_us(sim, 20000000);
    cr_expect(!client->was_late);
}

Test(door, connections_before_a_login_share_a_quota_and_the_oldest_is_evicted)
{
    struct client *guests[4];

    for (int i = 0; i < 4; i++) {
        guests[i] = come((uint8_t)(i + 1));
        door_login_pending(&guests[i]->slot);
        door_login_charge(&guests[i]->slot, 300);
    }
    cr_expect(!is_in(guests[0]));
    door_login_done(&guests[1]->slot);
    door_login_charge(&guests[3]->slot, 600);
    cr_expect(is_in(guests[1]) && is_in(guests[2]) && is_in(guests[3]));
    door_login_charge(&guests[3]->slot, GUEST_BYTES + 1);
    cr_expect(!is_in(guests[2]) && !is_in(guests[3]), "more than there is for all");
    cr_expect(is_in(guests[1]), "it is known");
}

/* Addresses that come, go and speak at random: whoever loses a place is of an address that no other
 * exceeds, the new one counted. */
Test(door, at_random_the_one_that_goes_is_of_an_address_that_has_most)
{
    struct sim_random random = {.state = 7};
    uint8_t from[CLIENTS_MAX] = {0};

    for (uint32_t step = 0; client_count < CLIENTS_MAX; step++) {
        uint64_t draw = sim_random_below(&random, 10);
        struct client *client = &clients[sim_random_below(&random, client_count + 1)];
        uint32_t counts[6] = {0};
        uint32_t newest = client_count;

        if (draw < 2)
            hang_up(client);
        if (draw >= 2 && draw < 5 && is_in(client))
            door_use(&client->slot, sim_random_below(&random, 2) == 0 ? DOOR_IDLE : DOOR_NAMED);
        if (draw < 5)
            continue;
        from[newest] = (uint8_t)(1 + sim_random_below(&random, 5));
        counts[from[newest]]++;
        for (uint32_t i = 0; i < newest; i++)
            counts[from[i]] += is_in(&clients[i]);
        bool was_full = door.count == PLACES;
        bool was_in[CLIENTS_MAX];
        for (uint32_t i = 0; i < newest; i++)
            was_in[i] = is_in(&clients[i]);
        (void)come(from[newest]);
        cr_assert(door.count <= PLACES);
        for (uint32_t i = 0; i < newest; i++) {
            if (!was_in[i] || is_in(&clients[i]))
                continue;
            cr_assert(was_full);
            for (int address = 1; address < 6; address++)
                cr_assert_leq(counts[address], counts[from[i]], "step %u", step);
        }
    }
}

Test(door, descriptors_are_shared_so_that_commands_always_have_some)
{
    struct door_shares plenty = {256, 8192, 1024, 16384};
    struct door_shares some = plenty, few = plenty;

    door_share(1 << 20, &plenty);
    cr_expect(plenty.control == 256 && plenty.http == 8192 && plenty.ingest == 1024 &&
              plenty.cql == 16384);
    /* 1,000 viewers of the page, and 5,000 connections that send nothing, at a limit of 20,000. */
    door_share(18950, &some);
    cr_expect(some.control == 256 && some.http >= 6000 && some.ingest == 1024 && some.cql >= 6000);
    door_share(32, &few);
    cr_expect(few.control == 4 && few.http == 9 && few.ingest == 9 && few.cql == 10);
}
