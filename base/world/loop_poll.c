/* loop_poll: see the header. */
#include "base/world/loop_poll.h"

enum {
    WANTED_NS = 100000, /* a yield that takes this long let another thread run */
    REST_MIN_NS = 1000000,
    REST_MAX_NS = 64000000
};

bool loop_poll_wants(const struct loop_poll *poll, int64_t now_ns)
{
    return poll->was_short && now_ns < poll->waits_since_ns + poll->look_ns &&
           now_ns >= poll->rests_until_ns;
}

void loop_poll_gave_way(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns)
{
    if (ended_ns - began_ns < WANTED_NS)
        return;
    int64_t rest_ns = 2 * poll->rest_ns;
    if (rest_ns < REST_MIN_NS)
        rest_ns = REST_MIN_NS;
    if (rest_ns > REST_MAX_NS)
        rest_ns = REST_MAX_NS;
    poll->rest_ns = rest_ns;
    poll->rests_until_ns = ended_ns + rest_ns;
}

void loop_poll_turn(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns)
{
    bool looked = poll->was_short && began_ns >= poll->rests_until_ns;
    poll->was_short = began_ns - poll->waits_since_ns < poll->look_ns;
    poll->waits_since_ns = ended_ns;
    if (looked && poll->was_short)
        poll->rest_ns /= 2;
}
