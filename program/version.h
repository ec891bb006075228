/* version: the program's version, as --version and status print it. */
#ifndef DAYBOOK_PROGRAM_VERSION_H
#define DAYBOOK_PROGRAM_VERSION_H

#define DAYBOOK_VERSION "0.1.0"
#endif
