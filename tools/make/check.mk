# SPDX-License-Identifier: GPL-2.0-only
# Tests: units on this machine (plain, and under ASan and UBSan), the rest in VMs.

KERNELS		?= 6.1 6.12
TESTS		?=

unit_tests	:= $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
# The parts that are pure: compiled for this machine from the very same source.
unit_src	:= $(wildcard user/correlate/*.c user/report/*.c user/engine/pattern.c user/engine/replay.c) \
		   $(wildcard user/recording/*.c) \
		   user/size.c user/collect/ring.c user/collect/queue.c \
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
	$(Q)tools/check --kernels "$(KERNELS)" unit vm

check-unit:
	$(Q)tools/check unit

check-vm:
	$(Q)tools/check --kernels "$(KERNELS)" --tests "$(TESTS)" vm

# What check-unit runs.
.PHONY: unit-tests
unit-tests: $(unit_runs)


# What the eBPF programs say, as text; its objects but main are pfdrive's.
dump_obj := $(BUILD)/tests/vm/events_dump.o $(BUILD)/user/watch/command.o \
	    $(patsubst %,$(BUILD)/user/collect/%.o,events event_facts hooks pins)

$(BUILD)/events_dump: $(dump_obj)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

$(BUILD)/tests/vm/%.o: tests/vm/%.c | $(BUILD)/pfstat.skel.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -c -o $@ $<

-include $(BUILD)/tests/vm/events_dump.d

$(BUILD)/workload: tests/vm/workload.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -o $@ $< -lpthread

lint:
	$(Q)tools/lint
