/* version: of the program, as --version and status say it. */
#ifndef DAYBOOK_PROGRAM_VERSION_H
#define DAYBOOK_PROGRAM_VERSION_H

#define DAYBOOK_VERSION "0.1.0"
#endif
