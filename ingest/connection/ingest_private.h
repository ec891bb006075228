/* ingest_private: the room's state, shared by its connections. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_PRIVATE_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_PRIVATE_H

#include <sys/queue.h>

#include "counters/producer.h"
#include "ingest/connection/ingest.h"
#include "ingest/connection/input_room.h"
#include "ingest/connection/text_input.h"
#include "ingest/parse/reject.h"
#include "ingest/parse/part_pool.h"

struct text_connection;
struct parse_ahead;
struct parse_lane;

/* For parsing ahead (parse_ahead.h). */
struct parse_ahead_pool {
    struct parse_ahead *spare;         /* jobs */
    uint32_t in_use;
    struct parse_lane *lane;           /* what LANE_COMPUTE works with; NULL before its first job */
};

struct ingest_metrics {
    struct metric *clicks;
    struct metric *bytes;
    struct metric *batches;
    struct metric *duplicates;
    struct metric *rejects[REJECT_CODE_COUNT];
    struct metric *connections;
    struct metric *connections_max;
    struct metric *producers;
    struct metric *evicted;
    struct metric *refused;
    struct metric *waits;
    struct metric *forgotten;
    struct metric *ahead;
    struct metric *input_bytes;
    struct metric *answer_bytes;
};

struct ingest {
    struct ingest_options options;
    struct ingest_metrics metrics;
    struct store_waiting waiting;      /* what connections were told of it */
    struct producer_table *producers;
    size_t producers_told;             /* bytes that the store was told of */
    size_t strings_bytes;              /* of all connections' dictionaries; the store was told */
    struct input_room room;            /* what came in part; the store was told */
    size_t answer_bytes;               /* that wait, of all connections; the same */
    struct timer look;                 /* who holds memory and does not go on */
    struct log_group evictions;        /* of producers */
    int64_t producers_due_us;          /* when to look for silent ones again */
    struct part_pool parts;
    struct text_spare spare;           /* of the connections' inputs */
    struct reject_list keyed_rejects;  /* of the batch that is being made */
    struct parse_ahead_pool aheads;
    struct write_batch *batch;         /* made, applied and cleared in one call */
    struct door door;                  /* connections of the network, */
    struct door loads;                 /* and of the control socket */
    LIST_HEAD(, text_connection) connections;
    struct text_connection *woken;     /* to be served in the next turn of the loop, in order, */
    struct text_connection **woken_end;        /* and where the next one goes */
    struct timer turn;
    size_t turn_bytes_left;            /* that may still be taken before the next turn, */
    int64_t turn_us_left;              /* and for how long */
    int64_t turn_resumed_us;           /* by the monotonic clock */
    int64_t turn_look_us_left;         /* when so much is left it is looked whether somebody asks */
    bool is_turn_given;                /* to who asked, whole: the next one is not */
    int64_t asked_us;                  /* when somebody asked last, by the same clock */
    uint64_t connections_ever;
    uint32_t calls;                    /* of the store, whose callback is still to come */
    store_done opened;                 /* NULL once it was called */
    void *opened_context;
    bool is_closing;
    store_done closed;
    void *closed_context;
};

/* What all connections take in one turn of the loop, so that whoever asks a question waits for a
 * millisecond or so, however many clicks have come and however slow the machine is.  Past either
 * bound the turn goes to others.  Half the time took a tenth off shuffled clicks of 8 connections:
 * frames are smaller, and answers leave more often.  So the turn is as long as that only while
 * nobody asks: at its start and every INGEST_LOOK_US of it is looked whether somebody does
 * (network_has_question), and then it ends, which costs clicks nothing as long as there are no
 * questions.  Of two turns one takes clicks, however many questions come. */
enum {
    INGEST_TURN_US = 1000,
    INGEST_TURN_BYTES = 256 << 10,
    INGEST_LOOK_US = 100,
    INGEST_ASKED_US = 1000000
};

void ingest_turn_begin(struct ingest *ingest);
/* From here on time is spent, until ingest_turn_is_over is asked for the last time. */
void ingest_turn_resume(struct ingest *ingest);
bool ingest_turn_is_over(struct ingest *ingest);
/* Whether somebody was found asking within the last second, so that the next may be on his way. */
bool ingest_was_asked(const struct ingest *ingest);
static inline void ingest_spend(struct ingest *ingest, size_t bytes)
{
    ingest->turn_bytes_left -= bytes < ingest->turn_bytes_left ? bytes : ingest->turn_bytes_left;
}

/* Tell the store what the producers take, after a change. */
void ingest_tell_producers(struct ingest *ingest);
/* A dictionary took `before` bytes and takes `after`.  False: all of them take too much. */
bool ingest_take_strings(struct ingest *ingest, size_t before, size_t after);

/* A callback of the store has done its work. */
void ingest_called_back(struct ingest *ingest);
/* Free a room that is closing when nothing of it is left. */
void ingest_release(struct ingest *ingest);
#endif
