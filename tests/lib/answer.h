/* answer: a subcommand of the rollup's, given to a fixture as a line, and what it answered. */
#ifndef DAYBOOK_TESTS_LIB_ANSWER_H
#define DAYBOOK_TESTS_LIB_ANSWER_H

#include "tests/lib/rollup_fixture.h"

/* What a command printed, both streams, and its exit status. */
struct answer {
    struct command_output output;
    struct buffer text;            /* the caller's to release */
    bool done;
    int exit_status;
    struct command_request request;
    void *options;
    char *words;
};

/* Words apart by single spaces; `answer->done` when it is over, then answer_end. */
void answer_start(struct rollup_fixture *fixture, struct answer *answer, const char *line,
                  const char *input);
/* Ends the text with a NUL. */
void answer_end(struct answer *answer);
/* Both, and what lies between. */
void answer_run(struct rollup_fixture *fixture, struct answer *answer, const char *line,
                const char *input);
#endif
