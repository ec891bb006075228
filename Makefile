# daybook's build.
#
#   make                   ./daybook
#   make test              everything a change must pass; installs what it needs
#   make test-unit T=clog  one module's unit tests
#   make fuzz MINUTES=10   all fuzzers, for so long together
#   make record-cassandra  ask Cassandra what daybook must answer; T=file, or SEED=n for random
#   make test-hostile      one honest client beside hostile ones; MINUTES=60 SEED=1, BUILD=asan
#   make test-tsan         all kinds of work at once, watched by the thread sanitizer
#   make test-sanitized    bad input and statements, watched by the address sanitizer
#   make soak MINUTES=60   a server under everything at once; curves in build/soak
#   make sim MINUTES=10    all short histories with crashes, then random ones from SEED=n on
#   make bench PART=ingest the measurements, or some of them; bench/README.md
#   make BUILD=asan        another flavour (release, debug, asan, tsan), in build/<flavour>-<cc>/
#
# Sources are found by folder; tests/folders lists the folders and who includes whom.  Nothing here
# runs the compiler or pkg-config before a rule needs it, so that `make deps` works on a machine that
# has neither.

BUILD ?= release
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
V ?=
quiet := $(if $(V),,@)

folders := $(shell sed 's/\#.*//; s/:.*//' tests/folders)
# Linked; snappy's library is opened when a client asks for it (query/native/native_compress.c).
vendor  := libuv gmp libzstd uuid libxxhash zlib yajl liblz4 libxcrypt expat inih
packages := gcc libc6-dev pkgconf re2c lemon tzdata libuv1-dev libgmp-dev libzstd-dev uuid-dev \
    libxxhash-dev zlib1g-dev libyajl-dev liblz4-dev libsnappy-dev libcrypt-dev \
    libexpat1-dev libinih-dev
packages_demo := netcat-openbsd
packages_test := libcriterion-dev python3-pytest python3-venv $(packages_demo) patch valgrind strace zstd procps \
    clang libclang-rt-dev clang-format-16

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
    pkg-config --cflags $(vendor))))$(vendor_cflags)
vendor_libs = $(eval vendor_libs := $$(shell pkg-config --libs $(vendor)))$(vendor_libs)
criterion_cflags = $(eval criterion_cflags := $$(patsubst -I%,-isystem %,$$(shell \
    pkg-config --cflags criterion)))$(criterion_cflags)
criterion_libs = $(eval criterion_libs := $$(shell pkg-config --libs criterion))$(criterion_libs)

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
generated_sources := $(lexers:%.re=$(out)/generated/%.c) $(grammars:%.y=$(out)/generated/%.c)
generated_headers := $(grammars:%.y=$(out)/generated/%.h)
objects += $(generated_sources:$(out)/generated/%.c=$(out)/%.o)

program_objects := $(patsubst %.c,$(out)/%.o,$(sort $(wildcard program/*.c)))

# The client library: what is installed for others to link, as position-independent code of which
# only daybook.h's functions are seen.
client_sources := $(sort $(wildcard client/*.c)) base/crc32c.c
client_objects := $(client_sources:%.c=$(out)/pic/%.o)
client_static := $(out)/client/libdaybook.a
client_shared := $(out)/client/libdaybook.so.1

# What several measuring programs share has a header; every other source is a program.
bench_shared := $(patsubst %.h,%.c,$(sort $(wildcard bench/*.h)))
bench_objects := $(bench_shared:%.c=$(out)/%.o)
bench_programs := $(patsubst %.c,$(out)/%,$(filter-out $(bench_shared),$(sort $(wildcard bench/*.c))))
bench_library := $(out)/libbench.a

# T chooses the tests of one module; the simulated world serves every program in tests/.
T ?= *
unit_tests = $(sort $(wildcard tests/unit/test_$(1).c))
sim_tests = $(sort $(wildcard tests/sim/test_$(1).c))
e2e_tests = $(sort $(wildcard tests/e2e/test_$(1).py))
unit_programs := $(patsubst %.c,$(out)/%,$(call unit_tests,$(T)))
sim_programs := $(patsubst %.c,$(out)/%,$(call sim_tests,$(T)))
test_objects := $(patsubst %.c,$(out)/%.o,$(filter-out tests/sim/test_% tests/sim/sim_network.c \
    tests/lib/quiet_fork.c, \
    $(wildcard tests/sim/*.c tests/lib/*.c)))
test_library := $(out)/libtest.a

# What the fuzzers share has a header; a fuzzer is tests/fuzz/fuzz_<target>.c.
fuzz_tests = $(filter-out %_stream.c,$(sort $(wildcard tests/fuzz/fuzz_$(1).c)))
fuzz_programs := $(patsubst %.c,$(out)/%,$(call fuzz_tests,$(T)))
comma := ,
fuzz_shared := fuzz.c fuzz_stream.c fuzz_native_stream.c open_checksum.c
fuzz_wrap := $(patsubst %,-Wl$(comma)--wrap=%,crc32c hash64 native_crc24 native_crc32)
fuzz_objects := $(fuzz_shared:%.c=$(out)/tests/fuzz/%.o)

program := $(if $(program_objects),$(out)/daybook)
ifeq ($(BUILD),release)
program_left := $(if $(program_objects),daybook)
endif

.PHONY: all bench bench-cql bench-ingest bench-programs bench-rivals clean damage demo deps deps-demo \
    deps-test fmt fuzz fuzz-corpus fuzz-programs golden install kills planted \
    record-cassandra sim soak \
    test test-build test-e2e test-fuzz test-hostile test-sanitized test-sim test-tsan test-unit \
    test-clients tidy
.DELETE_ON_ERROR:
.SECONDARY:

all: $(library) $(client_static) $(client_shared) $(program) $(program_left)

# ---- rules ----

# What a unit test takes is in the code it tests; the simulated world is that of long runs.
ifeq ($(BUILD),release)
$(out)/tests/unit/%.o: flavour_flags += -O1
endif

$(out)/tests/%.o: tests/%.c Makefile
	$(quiet)mkdir -p $(@D)
	$(quiet)$(compile) $(criterion_cflags) -c $< -o $@

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
	$(quiet)tests/needed.sh $(firstword $(CC)) "$(vendor)" $(packages)
	$(quiet)mkdir -p $(@D) && touch $@

$(objects) $(program_objects) $(client_objects) $(generated_sources) $(generated_headers): | $(out)/needed

# Made anew, so that an object whose source is gone does not stay in it.
$(library): $(objects)
	$(quiet)mkdir -p $(@D)
	$(quiet)rm -f $@ && ar rcs $@ $^

$(test_library): $(test_objects)
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

# What the thread sanitizer cannot see of libuv by itself.
ifeq ($(BUILD),tsan)
$(out)/daybook: $(out)/tests/tsan/libuv_close.o
endif

# By rename: a running daybook keeps its file.
daybook: $(out)/daybook
	$(quiet)cp $< $@.new && mv $@.new $@

# Simulations reuse what is slow to make: tests/sim/sim_cheap.c.
$(out)/tests/sim/%: LDFLAGS += $(foreach context,CCtx DCtx,-Wl,--wrap=ZSTD_create$(context) \
    -Wl,--wrap=ZSTD_free$(context)) -Wl,-u,sim_cheap

# A test counts how often the rollup looks whether a day may be published.
$(out)/tests/unit/test_away: LDFLAGS += -Wl,--wrap=publication_earliest_us

# And how often a block that grows is left to the C library.
$(out)/tests/unit/test_memory: LDFLAGS += -Wl,--wrap=realloc

# The simulated network stands in the place of libuv's, which other tests use.
$(out)/tests/sim/test_clients_crash $(out)/tests/sim/test_door: $(out)/tests/sim/sim_network.o

# What Criterion's forks need beside the sanitizer's allocator.
ifeq ($(BUILD),asan)
$(unit_programs) $(sim_programs): $(out)/tests/lib/quiet_fork.o
endif

# Linked to the archives, a test pulls in only the modules it uses.
$(out)/tests/%: $(out)/tests/%.o $(test_library) $(library)
	$(quiet)$(link) $(filter %.o,$^) $(filter %.a,$^) $(criterion_libs) $(vendor_libs) -lm -lpthread -o $@

$(out)/tests/fuzz/fuzz_%: $(out)/tests/fuzz/fuzz_%.o $(fuzz_objects) $(test_library) $(library)
	$(quiet)$(link) -fsanitize=fuzzer $(fuzz_wrap) $^ $(vendor_libs) -lm -lpthread -o $@

$(out)/tests/fuzz/make_corpus: $(out)/tests/fuzz/make_corpus.o $(fuzz_objects) $(test_library) \
    $(library)
	$(quiet)$(link) $(fuzz_wrap) $^ $(vendor_libs) -lm -lpthread -o $@

$(bench_library): $(bench_objects)
	$(quiet)mkdir -p $(@D)
	$(quiet)rm -f $@ && ar rcs $@ $^

$(out)/bench/%: $(out)/bench/%.o $(bench_library) $(library)
	$(quiet)$(link) $^ $(vendor_libs) -lm -lpthread -o $@

bench-programs: $(bench_programs)

# N clicks where it is given, RUNS of which the median is shown, PART or PARTs with commas.
given = $(if $(filter-out undefined file,$(origin $(1))),$($(1)))
PART ?=
bench: all bench-programs
	@bench/run.py --built $(out) $(if $(call given,N),--clicks $(N)) \
	    $(if $(call given,RUNS),--runs $(RUNS)) $(PART)

# Installs them under build/rivals, from package registries; RIVALS names some, with commas.
RIVALS ?=
bench-rivals: all bench-programs
	@bench/rivals/install.sh build/rivals
	@bench/rivals/compare.py --built $(out) --installed build/rivals \
	    $(if $(call given,N),--clicks $(N)) $(RIVALS)

bench-cql: all bench-programs
	@bench/rivals/install.sh build/rivals cassandra cql_client
	@bench/rivals/compare_cql.py --built $(out) --installed build/rivals \
	    $(if $(call given,N),--requests $(N))

# What Cassandra answers to the case files of tests/cql/cassandra, or to the one that T names, written
# into them; CASSANDRA=HOST:PORT asks one that runs.  SEED makes a file of random statements first.
generated_case = $(if $(call given,SEED),tests/cql/cassandra/generated_$(SEED).cql)
cassandra_cases = $(or $(generated_case),$(wildcard tests/cql/cassandra/$(T).cql))
record-cassandra:
	$(if $(generated_case),@tests/cql/generate.py $(SEED) >$(generated_case))
	$(if $(CASSANDRA),,@bench/rivals/install.sh build/rivals cassandra)
	@tests/cql/record.py $(if $(CASSANDRA),--at $(CASSANDRA),--jars build/rivals/cassandra-all/lib) \
	    $(cassandra_cases)

bench-ingest:
	@$(MAKE) --no-print-directory bench PART=ingest

# ---- tests ----

test: deps-test
	@tests/all.sh

# What T chose of a kind of tests; a T that is no test's name is a mistake, and not a success.
chosen = $(or $(call $(1),$(T)),$(error T=$(T) names none of these tests: $(sort \
    $(patsubst test_%,%,$(patsubst fuzz_%,%,$(basename $(notdir $(call $(1),*))))))))
built = $(patsubst %.c,$(out)/%,$(chosen))

test-build: $(unit_programs) $(sim_programs)

test-unit: $(unit_programs)
	@tests/run.sh $(call built,unit_tests)

test-sim: $(sim_programs)
	@tests/sim/run.sh $(call built,sim_tests)

# Debian's pytest, and what is in tests/requirements.txt.
python := build/python/bin/python3

build/python/installed: tests/requirements.txt
	@rm -rf build/python && python3 -m venv --system-site-packages build/python
	@build/python/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# As many tests at once as there are processors: each has a directory and ports of its own.
pytest_at_once = --numprocesses $(shell nproc) --dist worksteal --durations 10 --durations-min 5

test-e2e: all bench-programs build/python/installed
	@DAYBOOK=$(out)/daybook $(python) -m pytest -q $(pytest_at_once) $(call chosen,e2e_tests)

# All kinds of work at once, in the program with the thread sanitizer: what it reports fails it.
test-tsan:
	@$(MAKE) --no-print-directory BUILD=tsan all build/python/installed
	@DAYBOOK=build/tsan-$(notdir $(firstword $(CC)))/daybook $(python) -m pytest -q \
	    tests/e2e/test_together.py

# Bad input and statements against the program with the address sanitizer, which more memory than
# that ends: it does not know of --memory.
sanitized := build/asan-$(notdir $(firstword $(CC)))/daybook
sanitized_options := hard_rss_limit_mb=2048:clear_shadow_mmap_threshold=67108864:malloc_context_size=10
test-sanitized:
	@$(MAKE) --no-print-directory BUILD=asan all build/python/installed
	@ASAN_OPTIONS=$(sanitized_options) DAYBOOK=$(sanitized) $(python) -m pytest -q \
	    $(pytest_at_once) tests/e2e/test_bad_input.py tests/e2e/test_cassandra.py

# Requests that want all of a server's memory or time, then MINUTES of statements made at random from
# SEED on; SEED=n MINUTES=0 sends the one that a finding names.
test-hostile: all build/python/installed
	@ASAN_OPTIONS=$(sanitized_options) DAYBOOK=$(out)/daybook SEED=$(SEED) \
	    MINUTES=$(if $(filter file,$(origin MINUTES)),1,$(MINUTES)) \
	    $(python) -m pytest -q -s tests/hostile

# Killed N times at random moments: the report must be the same to the byte.
N ?= 10000
kills: all build/python/installed
	@DAYBOOK_KILLS=$(N) $(python) -m pytest -q -s tests/e2e/test_kill.py

MINUTES ?= 10

# All short histories, then random ones for so long, on two processors; a failure names its word or
# seed.
SEED ?= 1
LENGTH ?= 3
sim: $(out)/tests/sim/test_exhaustive_crash $(out)/tests/sim/test_history_crash
	@SIM_LENGTH=$(LENGTH) SIM_SECONDS=$$(($(MINUTES) * 60)) SIM_SEED=$(SEED) tests/sim/run.sh $^

# Bugs planted into a copy of the sources, each of which the simulation must find.
planted: $(sim_programs)
	@tests/sim/planted.sh run

# A server under ingest, queries, rate changes, merges, backups and connections that come and go.
soak: all
	@MINUTES=$(if $(filter file,$(origin MINUTES)),60,$(MINUTES)) DAYBOOK=$(out)/daybook \
	    python3 tests/soak/soak.py

# Every bit of a small directory turned over, of which test-sim takes a sample; the two directories
# side by side.
damage: $(out)/tests/sim/test_damage
	@DAMAGE_STEP=1 $< --verbose

# Drivers of other languages, whose tools are no packages of ours; cqlsh copies N rows, a million.
test-clients: all build/python/installed
	@$(if $(call given,N),N=$(N)) tests/clients/run.sh $(out)/daybook

# The fuzzers are clang's; MINUTES are for all of them together.
fuzz_make = $(MAKE) --no-print-directory BUILD=fuzz CC=clang
fuzz_built = $(patsubst %.c,build/fuzz-clang/%,$(chosen))

fuzz-programs: $(fuzz_programs)

fuzz:
	@$(fuzz_make) -j2 fuzz-programs
	@FUZZ_MINUTES=$(MINUTES) tests/fuzz/run.sh $(call fuzz_built,fuzz_tests)

test-fuzz:
	@$(fuzz_make) -j2 fuzz-programs
	@FUZZ_RUNS=20000 tests/fuzz/run.sh $(call fuzz_built,fuzz_tests)

# Writes the seeds anew; not part of any other target.
fuzz-corpus:
	@$(fuzz_make) build/fuzz-clang/tests/fuzz/make_corpus
	@build/fuzz-clang/tests/fuzz/make_corpus tests/fuzz/corpus

# The golden files of a format that is new; those that are there are never written again.
golden: $(out)/tests/golden/make_golden $(out)/tests/golden/make_golden_rollup
	@[ -e tests/golden/v3/data ] || $(out)/tests/golden/make_golden tests/golden/v3
	@[ -e tests/golden/v3/rollup ] || $(out)/tests/golden/make_golden_rollup tests/golden/v3

tidy:
	@tests/tidy.sh

# What tests/tidy.sh holds the C files to; headers are laid out by hand.
fmt:
	@clang-format-16 -i $(shell find . -name build -prune -o -name '*.c' -print)

demo: deps-demo
	@$(MAKE) --no-print-directory all
	@bench/demo.sh

# ---- packages, installation ----

deps:
	@tests/deps.sh $(packages)

deps-demo:
	@tests/deps.sh $(packages) $(packages_demo)

deps-test:
	@tests/deps.sh $(packages) $(packages_test)

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

-include $(client_objects:.o=.d) $(objects:.o=.d) $(program_objects:.o=.d) $(test_objects:.o=.d)
-include $(unit_programs:=.d) $(sim_programs:=.d) $(bench_programs:=.d) $(bench_objects:.o=.d)
-include $(fuzz_programs:=.d) $(fuzz_objects:.o=.d)
