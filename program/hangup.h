/* hangup: what a server reads again at SIGHUP: its log's file, and the passwords of the CQL door.
 *
 *     SIGHUP ─▶ LANE_LOGIN: open the log, load the passwords ─▶ engine thread: the door takes them
 *
 * What cannot be read stays as it was, and the log says so.  Signals that come while this runs are
 * one. */
#ifndef DAYBOOK_PROGRAM_HANGUP_H
#define DAYBOOK_PROGRAM_HANGUP_H

#include "base/error.h"
#include "base/world/world.h"
#include "query/native/native_door.h"
#include "query/native/native_password.h"

/* The first five members are set by the owner; the rest begins as zeros. */
struct hangup {
    struct world *world;
    const char *log_path;              /* NULL: the log is no file */
    const char *passwords_path;        /* NULL: the door asks for no login */
    struct native_door **door;         /* the pointer in it is NULL while there is none */
    /* Those of the door.  The owner releases them in the end. */
    struct native_passwords *passwords;
    /* private */
    struct job job;
    struct native_passwords *loaded;
    int log_status;
    int passwords_status;
    struct error log_error;
    struct error passwords_error;
    bool is_running;                   /* the owner waits for it to end */
    bool is_wanted;                    /* once more after that */
};

void hangup_begin(struct hangup *hangup);
#endif
