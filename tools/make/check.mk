# SPDX-License-Identifier: GPL-2.0-only
# Tests: unit tests on the host (plain, and with ASan and UBSan), the others in VMs.

KERNELS		?= $(shell LAB_ARCH=$(ARCH) tools/kernel-names check)
# All Debian kernels: hours are acceptable for check-kernels, and bpf-stats takes minutes.
bpf-stats: KERNELS := $(shell LAB_ARCH=$(ARCH) tools/kernel-names check check-kernels)
check-kernels: KERNELS := $(shell LAB_ARCH=$(ARCH) tools/kernel-names check check-kernels check-ubuntu)
# And the lab's default, locked down, where only tests without the module run.
check-kernels: KERNELS += $(addprefix $(lastword $(shell LAB_ARCH=$(ARCH) tools/kernel-names check))+,\
	integrity confidentiality)
TESTS		?=
# tools/check words. The native suite and the VMs come early, since they take long: the short jobs
# after them use the CPUs left idle by the last VM.
CHECKS		?= unit native vm arm64 unit-san python docs browser course
MORE_CHECKS	?=

unit_tests	:= $(filter-out $(if $(without_bpf),$(bpf_tests)), \
		   $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c)))
# Beside the tests: main(), and pure parts of the kernel side, compiled for the host.
unit_other	:= tests/unit/runner.c common/classify.c module/command.c
# Libraries the tests are linked with, in linker order.
unit_libs	:= libpfbench.a libpfdrive.a
SANITIZE	:= -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

link_tests	= $(CC) -o $@ $^ $(user_libs) $(shell $(PKG_CONFIG) --libs check)

# all_tests has the tests from all files, test_NAME those from tests/unit/test_NAME.c. $(1): build
# folder, $(2): extra flags, $(3): library folder
define unit_rules
$(1)/%.o: %.c $(configuration) | $(generated)
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(user_cflags) -Imodule -I. $(2) $$(shell $$(PKG_CONFIG) --cflags check) -c -o $$@ $$<

$(1)/all_tests: $(unit_tests:%=$(1)/tests/unit/%.o) $(unit_other:%.c=$(1)/%.o) $(unit_libs:%=$(3)/%)
	$$(call say,LINK,$$@)
	$$(Q)$$(link_tests) $(2)

$(1)/test_%: $(1)/tests/unit/test_%.o $(unit_other:%.c=$(1)/%.o) $(unit_libs:%=$(3)/%)
	$$(call say,LINK,$$@)
	$$(Q)$$(link_tests) $(2)

-include $(unit_other:%.c=$(1)/%.d) $(unit_tests:%=$(1)/tests/unit/%.d)
endef
$(eval $(call unit_rules,$(BUILD)/unit,,$(BUILD)))
$(eval $(call unit_rules,$(BUILD)/unit-san,$(SANITIZE),$(BUILD)/unit-san))

$(BUILD)/unit-san/libpfdrive.a: $(lib_src:%.c=$(BUILD)/unit-san/%.o)
$(BUILD)/unit-san/libpfbench.a: $(bench_src:%.c=$(BUILD)/unit-san/%.o)
$(unit_libs:%=$(BUILD)/unit-san/%):
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

-include $(lib_src:%.c=$(BUILD)/unit-san/%.d) $(bench_src:%.c=$(BUILD)/unit-san/%.d)
.SECONDARY:

# The make check-unit programs. check-cross has no sanitizers.
.PHONY: unit-tests unit-tests-plain
unit-tests-plain: $(BUILD)/unit/all_tests
unit-tests: unit-tests-plain $(BUILD)/unit-san/all_tests

# Runs the unit tests on this machine, without sanitizers: all, or the files TESTS, each as a
# separate program, which takes less time to link.
.PHONY: unit
unit_programs := $(or $(patsubst %,$(BUILD)/unit/%,$(basename $(notdir $(TESTS)))),$(BUILD)/unit/all_tests)
unit: $(unit_programs)
	$(Q)$(unit_programs:%=% &&) true

# Writes what pfdrive prints now into the golden files of the unit tests. Look at git diff.
.PHONY: accept
accept: $(BUILD)/unit/all_tests
	$(Q)rm -f tests/unit/golden/*.txt
	$(Q)mkdir -p tests/unit/golden
	$(Q)PFSTAT_ACCEPT=1 $<
	$(Q)git diff --stat -- tests/unit/golden

check:
	$(Q)tools/check --kernels "$(KERNELS)" $(CHECKS) $(MORE_CHECKS)

check-unit:
	$(Q)tools/check unit unit-san

# pfdrive on this machine, as root if make runs as root, and as an ordinary user.
.PHONY: check-native
check-native:
	$(Q)tools/check native

.PHONY: check-python
check-python:
	$(Q)tools/check python

check-vm:
	$(Q)tools/check --kernels "$(KERNELS)" --tests "$(TESTS)" vm

smoke:
	$(Q)tools/check --kernels "$(KERNELS)" smoke

# The long tests, on the last kernel.
check-long:
	$(Q)tools/check --kernels "$(KERNELS)" long

# The Documentation/ pages whose commands need packages in the lab.
.PHONY: check-recipes
check-recipes:
	$(Q)tools/check recipes

# The unit tests for other architectures, in an emulator.
.PHONY: check-cross
check-cross:
	$(Q)tools/check cross

# The suite, and a minute of stress, or only the given tests.
check-debug:
	$(Q)tools/check --tests "$(TESTS)" debug $(if $(TESTS),,stress)

check-kernels:
	$(Q)tools/check-kernels --tests "$(TESTS)" $(KERNELS)

small_programs	:= touch_pages accesses rare_faults overlapping_faults lock_holder page_server kvm_guest \
	cold_touches contents mechanisms advised shaping_calls removed_pages gives_back next_miss
guest_programs	+= $(addprefix $(BUILD)/,events_dump maps_dump records_dump workload fuzz_debugfs \
	$(small_programs) frame_spy other_tool.bpf.o other_tool_exit.bpf.o)

# Prints the eBPF programs' events as text.
$(BUILD)/events_dump: $(BUILD)/tests/vm/progs/events_dump.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

# Prints a process's mappings as perf events report them.
$(BUILD)/maps_dump: $(BUILD)/tests/vm/progs/maps_dump.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

# Prints a recording's records as the module's log.
$(BUILD)/records_dump: $(BUILD)/tests/vm/progs/records_dump.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

$(BUILD)/tests/vm/progs/%.o: tests/vm/progs/%.c $(configuration) | $(generated)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -I. -c -o $@ $<

-include $(patsubst %,$(BUILD)/tests/vm/progs/%.d,events_dump maps_dump records_dump)

# User stacks follow frame pointers, and need calls that are not replaced by jumps.
frame_pointers := -fno-omit-frame-pointer -fno-optimize-sibling-calls

$(BUILD)/workload: tests/vm/progs/workload.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 $(frame_pointers) -D_GNU_SOURCE -Wall -Wextra -Werror -o $@ $< -lpthread

$(BUILD)/other_tool.bpf.o $(BUILD)/other_tool_exit.bpf.o: $(BUILD)/%.o: tests/vm/progs/%.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -g -O2 -Wall -Wextra -Wno-unused-parameter -Werror \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

# The test_fuzz_debugfs.py fuzzer.
$(BUILD)/fuzz_debugfs: tests/vm/progs/fuzz_debugfs.c tests/unit/random.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -o $@ $<

# Some run on this machine, too.
$(addprefix $(BUILD)/,$(small_programs)): $(BUILD)/%: tests/vm/progs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -o $@ $< -lpthread

# Reads a ring while records are stored.
$(BUILD)/frame_spy: tests/vm/progs/frame_spy.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -o $@ $<

# They run on this machine. The frame pointers are for call paths.
$(BUILD)/native/%: tests/native/progs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -D_GNU_SOURCE -Wall -Wextra \
		-Werror -o $@ $< -lpthread

# The tests/complaints programs run on this machine and in guests. Their function names are in
# reports.
complaints := $(patsubst tests/complaints/%.c,$(BUILD)/complaints/%,$(wildcard tests/complaints/*.c))
guest_programs	+= $(complaints)
.PHONY: complaints complaint-programs
complaint-programs: $(complaints)

# Records them all, and writes the outcomes into Documentation/user/accuracy.rst.
CASES	?=
complaints: pfdrive complaint-programs $(BUILD)/native/native_faults $(BUILD)/overlapping_faults
	$(Q)tests/complaints/run $(BUILD) $(CASES)

# Compares what-if with cold runs, and writes the tables of Documentation/user/what_if.rst.
.PHONY: what-if-table
what-if-table: pfdrive $(BUILD)/cold_touches
	$(Q)tests/what_if/run $(BUILD) $(or $(CASES),native 6.12 newest)

$(BUILD)/complaints/%: tests/complaints/%.c tests/complaints/complaint.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -g $(frame_pointers) -D_GNU_SOURCE -Wall -Wextra -Werror -o $@ $< -lpthread

# Cost of each eBPF program, on every kernel.
bpf-stats:
	$(Q)for kernel in $(KERNELS); do echo "-- kernel $$kernel"; \
		tools/lab run -q --kernel $$kernel -- \
		sh -c 'tools/bpf-stats $$PFSTAT_BUILD/pfstat.bpf.o' || exit; done

lint:
	$(Q)tools/lint

# The recorder's cost for MILLIONS of faults, in the VM.
.PHONY: bench-record
bench-record:
	$(Q)tools/lab run -q --cpus 4 -- tests/perf/record $(MILLIONS)

# The analysis's speed and memory, not a test.
MILLIONS	?= 10

$(BUILD)/bench_%: $(BUILD)/unit/tests/perf/bench_%.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(user_libs)

$(BUILD)/make_recording: $(BUILD)/unit/tests/perf/make_recording.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(user_libs)

-include $(patsubst %,$(BUILD)/unit/tests/perf/%.d,bench_analysis bench_codecs bench_merge make_recording)

# Recordings for the page tests: with something for each figure, and with many classes.
$(BUILD)/make_run $(BUILD)/make_classes: $(BUILD)/make_%: $(BUILD)/unit/tests/browser/make_%.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(user_libs)

-include $(patsubst %,$(BUILD)/unit/tests/browser/%.d,make_run make_classes)

check-browser:
	$(Q)tools/check browser

.PHONY: bench-codecs bench-merge bench-report check-browser
bench-codecs: $(BUILD)/bench_codecs $(BUILD)/make_recording
	$(Q)$(BUILD)/make_recording $(BUILD)/bench_codecs.pfs $(MILLIONS)
	$(Q)$< $(BUILD)/bench_codecs.pfs
	$(Q)rm $(BUILD)/bench_codecs.pfs

bench-merge: $(BUILD)/bench_merge
	$(Q)$<

bench-report: $(BUILD)/bench_analysis $(BUILD)/make_recording $(BUILD)/pfdrive
	$(Q)tests/perf/report $(BUILD) $(MILLIONS)
