/* parse_job: parses a piece of a connection's input into rows on another thread.
 *
 * While a job runs, its bytes do not change, and only the job uses its lane, builder, decoder and
 * parts.  The job finds and parses the spans of records:
 *
 *     input   r1,... \n r2,... \n r1,... \n  #batch 8 5000 \n  r3,... \n r1,... \n
 *     spans   |___________ 0 ___________|                   |______ 1 ______|
 *
 * The connection decides later whether it uses a span.  A job executes no control lines.  But
 * successive numbered batches that are whole in the input become one span, a batch group:
 *
 *     input   #batch 7 3 \n  r1,... \n r2,... \n r1,... \n  #batch 8 2 \n  r3,... \n r1,... \n
 *     spans   |______________________________________ 0 ______________________________________|
 *
 * If the input is frames, the job decodes STRINGS and BATCH frames in order (decoded_frame.h).
 * BATCH frames become groups, too, with the STRINGS frames between them:
 *
 *     input   BATCH 7 │ STRINGS │ BATCH 8 │ CONTROL #file … │ BATCH 9 │ BATCH of no number
 *     groups  |_____________ 0 ___________|                 |__ 1 ____| */
#ifndef DAYBOOK_INGEST_PARSE_PARSE_JOB_H
#define DAYBOOK_INGEST_PARSE_PARSE_JOB_H

#include "ingest/parse/batch_group.h"
#include "ingest/parse/decoded_frame.h"
#include "ingest/parse/parse_lane.h"

enum { PARSE_JOB_SPANS_MAX = 12 };

struct record_span {
    struct batch_group group;          /* its part has the span's rows; count 0: the rows are not
                                        * whole batches */
    size_t start;                      /* offset in the job's data */
};

struct parse_job {
    /* Set by the caller, with a part in each span's group. */
    struct parse_lane *lane;
    struct row_builder *builder;
    struct line_order order;
    uint8_t columns;                   /* entries of order.line_field that go into a batch's hash */
    struct binary_decoder *decoder;    /* NULL: the input is lines */
    uint32_t frame_count;
    const uint8_t *data;               /* LINE_PARSER_PADDING bytes are readable behind `end` */
    size_t start, end;                 /* whole lines or frames */
    /* results */
    struct record_span spans[PARSE_JOB_SPANS_MAX];
    uint32_t span_count;
    struct decoded_frame frames[DECODED_FRAMES_MAX];
    uint32_t span_next, frame_next;
};

/* Run the job on the lane's thread; parse_job_frames if it has a decoder. */
void parse_job_lines(struct parse_job *job);
void parse_job_frames(struct parse_job *job);

/* The span or frame that begins at `start`, or NULL.  `start` must never decrease. */
struct record_span *parse_job_span_at(struct parse_job *job, size_t start);
struct decoded_frame *parse_job_frame_at(struct parse_job *job, size_t start);
/* Give the parts back to the pool, and free the hashes.  The job must not be used again. */
void parse_job_release(struct parse_job *job, struct part_pool *pool);
#endif
