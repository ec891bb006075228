/* native: see the header. */
#include "codec/native.h"

struct native_opcode_entry {
    const char *name;
    bool is_request;
};

static const struct native_opcode_entry native_opcodes[] = {
#define X(opcode, number, name, is_request) [number] = {name, is_request},
    NATIVE_OPCODES(X)
#undef X
};

enum { NATIVE_OPCODE_COUNT = sizeof native_opcodes / sizeof native_opcodes[0] };

const char *native_opcode_name(uint8_t opcode)
{
    return opcode < NATIVE_OPCODE_COUNT ? native_opcodes[opcode].name : NULL;
}

bool native_opcode_is_request(uint8_t opcode)
{
    return opcode < NATIVE_OPCODE_COUNT && native_opcodes[opcode].is_request;
}
