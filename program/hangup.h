/* hangup: opens the log file again at SIGHUP, and reads the passwords of the CQL door again.
 *
 *     SIGHUP ─▶ LANE_LOGIN: open the log, load the passwords ─▶ engine thread: the door takes them
 *
 * If a file cannot be read, the old log or passwords stay in use, and the log says so.  All signals
 * that arrive during a run cause one further run. */
#ifndef DAYBOOK_PROGRAM_HANGUP_H
#define DAYBOOK_PROGRAM_HANGUP_H

#include "base/error.h"
#include "base/world/world.h"
#include "query/native/native_door.h"
#include "query/native/native_password.h"

/* The first five members are set by the owner; the rest begins as zeros. */
struct hangup {
    struct world *world;
    const char *log_path;              /* NULL: the log is not a file */
    const char *passwords_path;        /* NULL: the door requires no login */
    struct native_door **door;         /* *door is NULL while there is no CQL door */
    /* The passwords that the door uses.  The owner frees them at the end. */
    struct native_passwords *passwords;
    /* private */
    struct job job;
    struct native_passwords *loaded;
    int log_status;
    int passwords_status;
    struct error log_error;
    struct error passwords_error;
    bool is_running;                   /* a run is under way, and uses this struct */
    bool is_wanted;                    /* another run follows */
};

void hangup_begin(struct hangup *hangup);
#endif
