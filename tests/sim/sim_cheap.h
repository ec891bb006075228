/* sim_cheap: make a process that opens an engine a thousand times a second cheap to run.
 *
 * Nothing the engine does changes by it; only what it costs. */
#ifndef DAYBOOK_TESTS_SIM_SIM_CHEAP_H
#define DAYBOOK_TESTS_SIM_SIM_CHEAP_H

/* Memory that is freed stays with the process, and huge pages are off: clearing them again for
 * every memtable took a third of the time of a crash. */
void sim_cheap(void);
#endif
