/* thread: how the threads of this process share the cores, with each other and with other programs.
 *
 * A thread that wakes may wait for a core for milliseconds.  So all threads have short time slices
 * (since Linux 6.12), and only latency threads preempt others.  Background threads get a third of
 * the ordinary share while all cores are busy.  thread_linux.c makes the system calls. */
#ifndef DAYBOOK_BASE_WORLD_THREAD_H
#define DAYBOOK_BASE_WORLD_THREAD_H

enum thread_kind {
    THREAD_LATENCY,            /* requests wait for it */
    THREAD_BATCH,
    THREAD_BACKGROUND          /* no request waits for it */
};

/* A new thread inherits the kind of the thread that makes it. */
void thread_set(enum thread_kind kind);

/* Let the threads that wait for the calling thread's core run first.  A batch thread that works on
 * every batch of clicks calls this about every 0.1 ms, because the system itself compares waiting
 * times only at its ticks.  The calling thread loses the rest of its slice.  The call does nothing
 * on a latency thread, or before Linux 6.12, where slices are long. */
void thread_yield(void);
#endif
