/* parse_job: a stretch of input whose records are made rows on another thread, before its
 * connection gets there.
 *
 * A job is given bytes that do not change while it runs, and finds out what of them is records:
 *
 *     input   r1,... \n r2,... \n r1,... \n  #batch 8 5000 \n  r3,... \n r1,... \n
 *     spans   |___________ 0 ___________|                   |______ 1 ______|
 *
 * Whether a span is taken is the connection's to decide: control lines, batches and counts are not
 * looked at here, but for this: numbered batches that are whole in the input and follow one another
 * become one span, a batch group, so that their rows are one block.
 *
 *     input   #batch 7 3 \n  r1,... \n r2,... \n r1,... \n  #batch 8 2 \n  r3,... \n r1,... \n
 *     spans   |______________________________________ 0 ______________________________________|
 *
 * Of frames each STRINGS and BATCH is decoded, for the dictionary that they share goes from one to
 * the next (decoded_frame.h).  BATCH frames make groups, too, with STRINGS between them.
 *
 *     input   BATCH 7 │ STRINGS │ BATCH 8 │ CONTROL #file … │ BATCH 9 │ BATCH of no number
 *     groups  |_____________ 0 ___________|                 |__ 1 ____|                      */
#ifndef DAYBOOK_INGEST_PARSE_PARSE_JOB_H
#define DAYBOOK_INGEST_PARSE_PARSE_JOB_H

#include "ingest/parse/batch_group.h"
#include "ingest/parse/decoded_frame.h"
#include "ingest/parse/parse_lane.h"

enum { PARSE_JOB_SPANS_MAX = 12 };     /* the lines behind them are not parsed by the job */

struct record_span {
    struct batch_group group;          /* its part is the span's; of no batches: records alone */
    size_t start;                      /* of its input, within the job's data */
};

struct parse_job {
    /* given, with a part for each span's group */
    struct parse_lane *lane;
    struct row_builder *builder;       /* the lane's for the stream */
    uint32_t group_rows_max;           /* of a group of more than one batch */
    struct line_order order;           /* of lines, */
    uint8_t columns;                   /* and what the hash of a batch says of it */
    struct binary_decoder *decoder;    /* of frames */
    uint32_t frame_count;              /* that are to be decoded (decoded_frame_plan) */
    const uint8_t *data;               /* readable for LINE_PARSER_PADDING bytes behind it */
    size_t start, end;                 /* whole lines or frames */
    /* made */
    struct record_span spans[PARSE_JOB_SPANS_MAX];
    uint32_t span_count;
    struct decoded_frame frames[DECODED_FRAMES_MAX];           /* whose rows are in spans, or in
                                        * parts of theirs */
    uint32_t span_next, frame_next;    /* the first that may still be taken */
};

/* On the lane's thread, one of these. */
void parse_job_lines(struct parse_job *job);
void parse_job_frames(struct parse_job *job);

/* The span, or the frame, that begins at `start`; NULL: none does.  Asked in ascending order. */
struct record_span *parse_job_span_at(struct parse_job *job, size_t start);
struct decoded_frame *parse_job_frame_at(struct parse_job *job, size_t start);
/* Its parts go back to the pool; it is all zeros then. */
void parse_job_clear(struct parse_job *job, struct part_pool *pool);
#endif
