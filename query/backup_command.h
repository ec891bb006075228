/* backup_command: `daybook backup`: copy the directory, once or again and again. */
#ifndef DAYBOOK_QUERY_BACKUP_COMMAND_H
#define DAYBOOK_QUERY_BACKUP_COMMAND_H

#include "base/cli/command.h"

struct backup_command_options {
    const char *path;
    bool follows;
    bool stops;
    bool copies;
    uint32_t keep;                     /* 0: not given */
};

extern const struct argp backup_command_argp;
/* `room` is a struct query (query/query.h). */
void backup_command_run(void *room, const struct command_request *request,
                        struct command_output *output);
#endif
