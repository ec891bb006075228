/* thread: how the threads of this process share the cores, with each other and with other programs.
 *
 * A thread that wakes may have to wait for a core: by default up to a tick of the system's clock,
 * 4 ms at 250 Hz, which is many times what a request takes.  So there are three kinds of threads.
 * All have short time slices, and a thread with a shorter slice gets its next one sooner.  Latency
 * threads may preempt others when they wake; batch threads do not.  Both have an ordinary share of
 * the cores.  Background threads are batch threads with a third of that share while all cores are
 * busy.  Before Linux 6.12 a program cannot set time slices.  thread_linux.c makes the system
 * calls. */
#ifndef DAYBOOK_BASE_WORLD_THREAD_H
#define DAYBOOK_BASE_WORLD_THREAD_H

enum thread_kind {
    THREAD_LATENCY,            /* requests wait for it, and it sleeps most of the time */
    THREAD_BATCH,              /* it computes for long */
    THREAD_BACKGROUND          /* it computes for long, and no request waits for it */
};

/* Set the kind of the calling thread.  A new thread inherits that of the thread that makes it. */
void thread_set(enum thread_kind kind);
#endif
