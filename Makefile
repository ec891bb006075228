# daybook's build: the program, the client library, their installation.
#
#   make                   ./daybook
#   make test              everything a change must pass; tests/Makefile lists the parts
#   make BUILD=asan        another flavour (release, debug, asan, tsan), in build/<flavour>-<cc>/
#   make CFLAGS=... V=1    further flags for the compiler; each command is printed
#   make install           under PREFIX, /usr/local unless given
#   make deps              installs the packages that the build needs
#
# Sources are found by folder; tests/folders lists the folders and who includes whom.  Nothing here
# runs the compiler or pkg-config before a rule needs it, so that `make deps` works on a machine that
# has neither.  What tests, measurements and editors need is in tests/Makefile.

BUILD ?= release
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
V ?=
quiet := $(if $(V),,@)

folders := $(shell sed 's/\#.*//; s/:.*//' tests/folders)
# Linked; snappy's library is opened when a client asks for it (codec/native_compress.c).
vendor  := libuv gmp libzstd uuid libxxhash zlib yajl liblz4 libxcrypt expat inih
packages := gcc libc6-dev pkgconf re2c lemon tzdata libuv1-dev libgmp-dev libzstd-dev uuid-dev \
    libxxhash-dev zlib1g-dev libyajl-dev liblz4-dev libsnappy-dev libcrypt-dev \
    libexpat1-dev libinih-dev node-llhttp libjs-dygraphs

# The HTTP parser of node, which Debian has as C source, not as a library.
LLHTTP ?= /usr/share
llhttp := $(LLHTTP)/include/llhttp/llhttp.h $(addprefix $(LLHTTP)/llhttp/,api.c http.c llhttp.c)

# The charts that one can zoom on the page; Debian has it as one file for browsers.
DYGRAPHS ?= /usr/share/javascript/dygraphs/dygraph.min.js

# ---- flags ----

warnings := -Wall -Wextra -Werror -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
    -Wold-style-definition -Wpointer-arith -Wcast-align -Wcast-qual -Wwrite-strings -Wundef -Wvla \
    -Wformat=2 -Wswitch-enum -Wimplicit-fallthrough -Wdouble-promotion
machine := $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v2)

# What makes a mistake end the program rather than serve an attacker: about 1 % of what a click
# costs.  Of the shipped program alone: sanitizers see more.  Not -ftrivial-auto-var-init: it zeroes
# padding, too, and gcc 12.2 (at any -O; __builtin_clear_padding shows it alone) places what follows
# an array of structs of more than 64 bytes as if that had none.  Here it zeroes bytes 4 to 7, half
# of a pointer, for bytes 84 to 87; ours are struct bound and struct slice:
#     struct { struct { void *data; size_t size; } values[5]; int side; }
hardened := $(if $(findstring gcc,$(notdir $(firstword $(CC)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 \
    -fstack-clash-protection $(if $(machine),-fcf-protection=full))

# Sanitizers name functions and lines, for which -g1 is enough: a quarter less to compile.
flags_release := -O3 -g $(machine) $(hardened)
flags_debug   := -O0 -g3
flags_asan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=all
flags_tsan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=thread
flags_fuzz    := -O1 -g1 -fno-omit-frame-pointer \
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
flavour_flags := $(flags_$(BUILD))
ifeq ($(strip $(flavour_flags)),)
$(error BUILD is one of release, debug, asan, tsan, fuzz; not '$(BUILD)')
endif

# Asked once, when first needed; as system headers, whose warnings are not ours.
vendor_cflags = $(eval vendor_cflags := $$(patsubst -I%,-isystem %,$$(shell \
    pkg-config --cflags $(vendor))) -isystem $$(LLHTTP)/include)$(vendor_cflags)
vendor_libs = $(eval vendor_libs := $$(shell pkg-config --libs $(vendor)))$(vendor_libs)

# Sources include each other, and generated headers, from the root.
compile = $(CC) -std=c11 -fno-common -fstack-protector-strong -D_GNU_SOURCE -I. \
    -I$(out)/generated $(warnings) \
    $(flavour_flags) $(CFLAGS) $(vendor_cflags) -MMD -MP
link = $(CC) $(flavour_flags) $(CFLAGS) -Wl,--as-needed -Wl,-z,relro,-z,now \
    -Wl,-z,noexecstack,-z,separate-code $(LDFLAGS)

# ---- files ----

out := build/$(BUILD)-$(notdir $(firstword $(CC)))
library := $(out)/libdaybook.a
sources := $(foreach folder,$(filter-out program,$(folders)),$(sort $(wildcard $(folder)/*.c)))
objects := $(sources:%.c=$(out)/%.o)
# C that re2c and lemon make of a lexer and a grammar; never committed.
lexers := $(foreach folder,$(folders),$(wildcard $(folder)/*.re))
grammars := $(foreach folder,$(folders),$(wildcard $(folder)/*.y))
embedded := $(foreach folder,$(folders),$(wildcard $(folder)/*.json))
assets := $(sort $(wildcard query/web/page/assets/*)) $(DYGRAPHS)
generated_sources := $(lexers:%.re=$(out)/generated/%.c) $(grammars:%.y=$(out)/generated/%.c) \
    $(embedded:%.json=$(out)/generated/%.c) $(out)/generated/query/web/page/assets.c
generated_headers := $(grammars:%.y=$(out)/generated/%.h)
objects += $(generated_sources:$(out)/generated/%.c=$(out)/%.o)
llhttp_objects := $(patsubst $(LLHTTP)/%.c,$(out)/%.o,$(filter %.c,$(llhttp)))
objects += $(llhttp_objects)

program_objects := $(patsubst %.c,$(out)/%.o,$(sort $(wildcard program/*.c)))

# The client library: what is installed for others to link, as position-independent code of which
# only daybook.h's functions are seen.
client_sources := $(sort $(wildcard client/*.c)) base/crc32c.c
client_objects := $(client_sources:%.c=$(out)/pic/%.o)
client_static := $(out)/client/libdaybook.a
client_shared := $(out)/client/libdaybook.so.1

program := $(if $(program_objects),$(out)/daybook)
ifeq ($(BUILD),release)
program_left := $(if $(program_objects),daybook)
endif

.PHONY: all clean deps install
.DELETE_ON_ERROR:
.SECONDARY:

all: $(library) $(client_static) $(client_shared) $(program) $(program_left)

# ---- rules ----

$(out)/%.o: %.c Makefile
	$(quiet)mkdir -p $(@D)
	$(if $(quiet),@echo "  CC $<")
	$(quiet)$(compile) -c $< -o $@

# What their generators write is not held to our warnings; NDEBUG is lemon's own tracing.
warnings_generated := -Wno-conversion -Wno-sign-conversion -Wno-sign-compare -Wno-cast-qual \
    -Wno-unused-parameter -Wno-unused-variable -Wno-missing-prototypes -Wno-undef -Wno-switch-enum \
    -Wno-implicit-fallthrough

$(out)/%.o: $(out)/generated/%.c Makefile
	$(quiet)mkdir -p $(@D)
	$(if $(quiet),@echo "  CC $(<:$(out)/generated/%=%)")
	$(quiet)$(compile) -DNDEBUG $(warnings_generated) -c $< -o $@

# The sources are no prerequisites: where they are missing, the check below says so.
$(llhttp_objects): $(out)/%.o: Makefile
	$(quiet)mkdir -p $(@D)
	$(if $(quiet),@echo "  CC $(LLHTTP)/$*.c")
	$(quiet)$(compile) -w -DLLHTTP_STRICT_MODE=1 -I$(LLHTTP)/include/llhttp -c $(LLHTTP)/$*.c -o $@

# NAME.json becomes NAME_json, which NAME.h declares.
$(out)/generated/%.c: %.json Makefile
	$(quiet)mkdir -p $(@D)
	$(quiet){ printf '#include "%s.h"\nconst uint8_t %s_json[] = {\n' $* $(*F); \
	    od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; \
	    printf '};\nconst size_t %s_json_size = sizeof %s_json;\n' $(*F) $(*F); } > $@

# The files of the page, as query/web/page/assets.h declares them.  od's numbers become an array.
array = od -An -v -tu1 $1 | sed 's/[0-9][0-9]*/&,/g; 1s/^/{/; $$s/$$/},/'
$(out)/generated/query/web/page/assets.c: $(filter-out $(DYGRAPHS),$(assets)) \
    $(wildcard query/web/page/assets) Makefile
	$(quiet)mkdir -p $(@D)
	$(quiet){ printf '#include "query/web/page/assets.h"\n'; \
	    printf 'const struct assets_file assets_files[] = {\n'; \
	    for file in $(assets); do \
	        printf '{"%s", (const uint8_t[])' "$${file##*/}"; $(call array,$$file); \
	        printf '%s, (const uint8_t[])' "$$(wc -c <"$$file")"; gzip -9n <"$$file" | $(call array); \
	        printf '%s},\n' "$$(gzip -9n <"$$file" | wc -c)"; \
	    done; \
	    printf '};\nconst size_t assets_count = sizeof assets_files / sizeof assets_files[0];\n'; } > $@

$(out)/generated/%.c: %.re Makefile
	$(quiet)mkdir -p $(@D)
	$(quiet)re2c -W -Werror --no-debug-info -o $@ $<

# lemon leaves a header that would be the same, which would be made for ever.
$(out)/generated/%.c $(out)/generated/%.h &: %.y Makefile
	$(quiet)mkdir -p $(@D)
	$(quiet)lemon -c -l -q -d$(@D) $<
	$(quiet)touch $(basename $@).h

# Before the first compilation; after it the dependencies say who includes them.
$(objects): | $(generated_headers)

# What is missing is named, once, before a tool is called that is not there.
$(out)/needed: tests/needed.sh
	$(quiet)tests/needed.sh $(firstword $(CC)) "$(vendor)" "$(llhttp) $(DYGRAPHS)" $(packages)
	$(quiet)mkdir -p $(@D) && touch $@

$(objects) $(program_objects) $(client_objects) $(generated_sources) $(generated_headers): | $(out)/needed

# Made anew, so that an object whose source is gone does not stay in it.
$(library): $(objects)
	$(quiet)mkdir -p $(@D)
	$(quiet)rm -f $@ && ar rcs $@ $^

$(out)/pic/%.o: %.c Makefile
	$(quiet)mkdir -p $(@D)
	$(quiet)$(compile) -fPIC -fvisibility=hidden -c $< -o $@

# One object, whose inner names cannot meet those of the program it is linked into.
$(client_static): $(client_objects)
	$(quiet)mkdir -p $(@D)
	$(quiet)ld -r $^ -o $(@D)/joined.o && objcopy --localize-hidden $(@D)/joined.o
	$(quiet)rm -f $@ && ar rcs $@ $(@D)/joined.o

$(client_shared): $(client_objects)
	$(quiet)mkdir -p $(@D)
	$(quiet)$(link) -shared -Wl,-soname,$(@F) $^ -o $@

$(out)/daybook: $(program_objects) $(library)
	$(if $(quiet),@echo "  LD $@")
	$(quiet)$(link) $^ $(vendor_libs) -lm -lpthread -o $@

# By rename: a running daybook keeps its file.
daybook: $(out)/daybook
	$(quiet)cp $< $@.new && mv $@.new $@

# ---- packages, installation ----

deps:
	@tests/deps.sh $(packages)

installed := $(DESTDIR)$(PREFIX)
version = $(shell sed -n 's/.*DAYBOOK_VERSION "\(.*\)".*/\1/p' program/version.h)

install: all
	install -D -m 755 daybook $(installed)/bin/daybook
	install -D -m 644 client/daybook.h $(installed)/include/daybook.h
	install -D -m 644 $(client_static) $(installed)/lib/libdaybook.a
	install -D -m 755 $(client_shared) $(installed)/lib/libdaybook.so.1
	ln -sf libdaybook.so.1 $(installed)/lib/libdaybook.so
	mkdir -p $(installed)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(version)|' client/daybook.pc.in \
	    >$(installed)/lib/pkgconfig/daybook.pc

clean:
	rm -rf build daybook

-include $(client_objects:.o=.d) $(objects:.o=.d) $(program_objects:.o=.d)
-include tests/Makefile
