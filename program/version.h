/* version: the program's version. */
#ifndef DAYBOOK_PROGRAM_VERSION_H
#define DAYBOOK_PROGRAM_VERSION_H

#define DAYBOOK_VERSION "0.1.0"
#endif
