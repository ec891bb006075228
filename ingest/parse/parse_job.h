/* parse_job: turns a piece of input into rows on another thread, before its connection takes it.
 *
 * A job gets bytes that do not change while it runs, and finds the spans that are records:
 *
 *     input   r1,... \n r2,... \n r1,... \n  #batch 8 5000 \n  r3,... \n r1,... \n
 *     spans   |___________ 0 ___________|                   |______ 1 ______|
 *
 * The connection decides whether it uses a span.  A job does not carry control lines out and counts
 * nothing, with one exception: numbered batches that are whole in the input and follow one another
 * become one span, a batch group, so that their rows are one block.
 *
 *     input   #batch 7 3 \n  r1,... \n r2,... \n r1,... \n  #batch 8 2 \n  r3,... \n r1,... \n
 *     spans   |______________________________________ 0 ______________________________________|
 *
 * Of frames each STRINGS and BATCH is decoded in order, because they share a dictionary
 * (decoded_frame.h).  BATCH frames become groups, too, with STRINGS frames between them.
 *
 *     input   BATCH 7 │ STRINGS │ BATCH 8 │ CONTROL #file … │ BATCH 9 │ BATCH of no number
 *     groups  |_____________ 0 ___________|                 |__ 1 ____|                      */
#ifndef DAYBOOK_INGEST_PARSE_PARSE_JOB_H
#define DAYBOOK_INGEST_PARSE_PARSE_JOB_H

#include "ingest/parse/batch_group.h"
#include "ingest/parse/decoded_frame.h"
#include "ingest/parse/parse_lane.h"

enum { PARSE_JOB_SPANS_MAX = 12 };     /* lines after so many spans are not parsed by the job */

struct record_span {
    struct batch_group group;          /* its part has the span's rows; count 0: the span is records
                                        * outside of whole batches */
    size_t start;                      /* of its input, within the job's data */
};

struct parse_job {
    /* given, with a part for each span's group */
    struct parse_lane *lane;
    struct row_builder *builder;       /* the lane's for the stream */
    uint32_t group_rows_max;           /* of a group of more than one batch */
    struct line_order order;           /* of lines */
    uint8_t columns;                   /* fields of `order` that are part of a batch's hash */
    struct binary_decoder *decoder;    /* of frames; NULL: the input is lines */
    uint32_t frame_count;              /* that are to be decoded (decoded_frame_plan) */
    const uint8_t *data;               /* readable for LINE_PARSER_PADDING bytes behind it */
    size_t start, end;                 /* whole lines or frames */
    /* made */
    struct record_span spans[PARSE_JOB_SPANS_MAX];
    uint32_t span_count;
    struct decoded_frame frames[DECODED_FRAMES_MAX];           /* their rows are in spans, or in
                                        * parts of their own */
    uint32_t span_next, frame_next;    /* the first that may still be used */
};

/* Run the job, on the lane's thread: one of these two. */
void parse_job_lines(struct parse_job *job);
void parse_job_frames(struct parse_job *job);

/* The span, or the frame, that begins at `start`; NULL: there is none.  Calls are in ascending
 * order of `start`. */
struct record_span *parse_job_span_at(struct parse_job *job, size_t start);
struct decoded_frame *parse_job_frame_at(struct parse_job *job, size_t start);
/* Give the job's parts back to the pool; the job is not used any more. */
void parse_job_release(struct parse_job *job, struct part_pool *pool);
#endif
