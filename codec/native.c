/* native: see the header. */
#include "codec/native.h"

struct native_opcode_entry {
    const char *name;
    bool is_request;
};

static const struct native_opcode_entry native_opcodes[] = {
    [NATIVE_ERROR] = {"ERROR", false},
    [NATIVE_STARTUP] = {"STARTUP", true},
    [NATIVE_READY] = {"READY", false},
    [NATIVE_AUTHENTICATE] = {"AUTHENTICATE", false},
    [NATIVE_OPTIONS] = {"OPTIONS", true},
    [NATIVE_SUPPORTED] = {"SUPPORTED", false},
    [NATIVE_QUERY] = {"QUERY", true},
    [NATIVE_RESULT] = {"RESULT", false},
    [NATIVE_PREPARE] = {"PREPARE", true},
    [NATIVE_EXECUTE] = {"EXECUTE", true},
    [NATIVE_REGISTER] = {"REGISTER", true},
    [NATIVE_EVENT] = {"EVENT", false},
    [NATIVE_BATCH] = {"BATCH", true},
    [NATIVE_AUTH_CHALLENGE] = {"AUTH_CHALLENGE", false},
    [NATIVE_AUTH_RESPONSE] = {"AUTH_RESPONSE", true},
    [NATIVE_AUTH_SUCCESS] = {"AUTH_SUCCESS", false},
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
