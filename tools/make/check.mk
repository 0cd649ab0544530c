# SPDX-License-Identifier: GPL-2.0-only
# Tests: units on this machine (plain, and under ASan and UBSan), the rest in VMs.

KERNELS		?= 6.1 6.12
# All of Debian's, where hours do not matter, or minutes are enough.
check-kernels bpf-stats: KERNELS := 6.1 6.12 6.18 7.2 newest
TESTS		?=
# Of tools/check's words: the short jobs of the last fill what the last VM leaves of the CPUs.
CHECKS		?= unit browser vm unit-san

unit_tests	:= $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
# The parts that are pure: compiled for this machine from the very same source.
unit_src	:= $(wildcard user/correlate/*.c user/report/*.c user/engine/pattern*.c user/engine/replay.c) \
		   user/compete/options.c \
		   user/engine/stores.c user/engine/mapping.c user/engine/scratch.c user/engine/memory_group.c \
		   $(addprefix user/via/,way.c meminfo.c figures.c table.c json.c) \
		   $(addprefix user/touch/,steps.c sizes.c table.c json.c) \
		   $(wildcard user/recording/*.c) \
		   $(wildcard user/figures/*.c) user/report_figures.c \
		   user/cmd_compare.c user/cmd_report.c user/code_names.c user/report_options.c \
		   user/recorded_file.c \
		   user/complain.c user/interrupt.c user/item_known.c user/output.c user/regular.c user/size.c \
		   user/argument.c user/named_files.c user/recording_output.c \
		   $(wildcard user/rights/*.c) user/watch/command.c user/watch/processes.c \
		   user/collect/ring.c user/collect/queue.c user/collect/procmaps.c user/collect/priority.c \
		   user/collect/symbols.c user/collect/symbol_child.c user/collect/elf_names.c user/collect/code_name.c \
		   user/collect/perf_map.c user/collect/bpf_log.c \
		   user/collect/smaps.c user/collect/hardware.c \
		   $(addprefix user/collect/,perf.c maps.c code_files.c tids.c descriptors.c time_heap.c) \
		   user/engine/cpu_cache.c user/engine/cache.c \
		   $(filter-out %/witness.c %/machine.c %/place_facts.c,$(wildcard user/bench/*.c)) \
		   module/classify.c module/command.c
SANITIZE	:= -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# $(1): build folder, $(2): extra flags
define unit_rules
$(1)/%.o: %.c
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(user_cflags) -Imodule -I. $(2) $$(shell pkg-config --cflags check) -c -o $$@ $$<

$(1)/test_%: $(1)/tests/unit/test_%.o $(unit_src:%.c=$(1)/%.o)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $(2) -o $$@ $$^ $$(user_libs) $$(shell pkg-config --libs check)

-include $(unit_src:%.c=$(1)/%.d) $(unit_tests:%=$(1)/tests/unit/%.d)
endef
$(eval $(call unit_rules,$(BUILD)/unit,))
$(eval $(call unit_rules,$(BUILD)/unit-san,$(SANITIZE)))
.SECONDARY:

unit_runs := $(unit_tests:%=$(BUILD)/unit/%) $(unit_tests:%=$(BUILD)/unit-san/%)

check:
	$(Q)tools/check --kernels "$(KERNELS)" $(CHECKS)

check-unit:
	$(Q)tools/check unit unit-san

check-vm:
	$(Q)tools/check --kernels "$(KERNELS)" --tests "$(TESTS)" vm

# What takes long by itself, on the last of the kernels.
check-long:
	$(Q)tools/check --kernels "$(KERNELS)" long

# The suite, and a minute of stress; some tests alone where they are asked for.
check-debug:
	$(Q)tools/check --tests "$(TESTS)" debug $(if $(TESTS),,stress)

check-kernels:
	$(Q)tools/check-kernels --tests "$(TESTS)" $(KERNELS)

# What check-unit runs.
.PHONY: unit-tests
unit-tests: $(unit_runs)


# What the eBPF programs say, as text; its objects but main are pfdrive's.
dump_obj := $(BUILD)/tests/vm/events_dump.o $(BUILD)/user/watch/command.o $(BUILD)/user/interrupt.o \
	    $(patsubst %,$(BUILD)/user/rights/%.o,invoker capabilities) \
	    $(addprefix $(BUILD)/user/collect/,descriptors.o events.o event_facts.o event_ring.o) \
	    $(addprefix $(BUILD)/user/collect/,hooks.o pins.o time_heap.o bpf_log.o pid_namespace.o) \
	    $(BUILD)/user/collect/swap_facts.o \
	    $(BUILD)/user/item_known.o $(BUILD)/user/correlate/facts.o

$(BUILD)/events_dump: $(dump_obj)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

$(BUILD)/tests/vm/%.o: tests/vm/%.c | $(BUILD)/pfstat.skel.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -c -o $@ $<

-include $(BUILD)/tests/vm/events_dump.d

# A stack is what frame pointers tell, where no call was made a jump.
frame_pointers := -fno-omit-frame-pointer -fno-optimize-sibling-calls

$(BUILD)/workload: tests/vm/workload.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 $(frame_pointers) -D_GNU_SOURCE -Wall -Wextra -Werror -o $@ $< -lpthread

# What test_fuzz_debugfs.py lets loose.
$(BUILD)/fuzz_debugfs: tests/vm/fuzz_debugfs.c tests/unit/random.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -o $@ $<

$(BUILD)/touch_pages: tests/vm/touch_pages.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -o $@ $<

maps_dump_src	:= tests/vm/maps_dump.c user/watch/processes.c \
		   $(addprefix user/collect/,maps.c procmaps.c counters.c time_heap.c) \
		   $(addprefix user/collect/,descriptors.c perf.c tids.c code_files.c) \
		   user/regular.c user/correlate/hash.c

$(BUILD)/maps_dump: $(maps_dump_src:%.c=$(BUILD)/unit/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^

# What each eBPF program costs, on every kernel.
bpf-stats:
	$(Q)for kernel in $(KERNELS); do echo "-- kernel $$kernel"; \
		tools/lab run -q --kernel $$kernel -- \
		sh -c 'tools/bpf-stats $$PFSTAT_BUILD/pfstat.bpf.o' || exit; done

lint:
	$(Q)tools/lint

# What recording that many million faults costs the recorder, in the VM.
.PHONY: bench-record
bench-record:
	$(Q)tools/lab run -q --cpus 4 -- tests/bench/record $(MILLIONS)

# How fast recordings are explained, and in how much memory; not a test.
MILLIONS	?= 10
bench_src	:= $(filter-out module/%,$(unit_src))

$(BUILD)/bench_%: $(BUILD)/unit/tests/bench/bench_%.o $(bench_src:%.c=$(BUILD)/unit/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(user_libs)

$(BUILD)/make_recording: $(BUILD)/unit/tests/bench/make_recording.o $(bench_src:%.c=$(BUILD)/unit/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(user_libs)

-include $(patsubst %,$(BUILD)/unit/tests/bench/%.d,bench_analysis make_recording)

# A recording with something for each figure, for the tests of pages.
$(BUILD)/make_run: $(BUILD)/unit/tests/browser/make_run.o $(bench_src:%.c=$(BUILD)/unit/%.o)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(user_libs)

check-browser:
	$(Q)tools/check browser

.PHONY: bench-report check-browser
bench-report: $(BUILD)/bench_analysis $(BUILD)/make_recording $(BUILD)/pfdrive
	$(Q)tests/bench/report $(BUILD) $(MILLIONS)
