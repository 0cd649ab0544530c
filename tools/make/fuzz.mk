# SPDX-License-Identifier: GPL-2.0-only
# Fuzzing, FUZZ_SECONDS for each target. Interesting inputs stay in $(BUILD)/fuzz. A target is
# tests/fuzz/fuzz_NAME.c. corpus_NAME, a program or a script, writes the target's initial corpus.

FUZZ_SECONDS	?= 60
ifeq ($(shell expr 'x$(FUZZ_SECONDS)' : 'x[1-9][0-9]*$$'),0)
$(error FUZZ_SECONDS takes a whole number of seconds, not '$(FUZZ_SECONDS)')
endif
fuzz_tests	:= $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_flags	:= -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
		   -Wno-unknown-attributes

# The library with instrumentation, and a target's other inputs.
fuzz_lib	:= $(BUILD)/fuzz/libpfdrive.a
fuzz_command_obj := $(BUILD)/fuzz/module/command.o
# All option parsers, but no code after argp_parse().
fuzz_options_obj := $(BUILD)/fuzz/apps/main.o

fuzz_options_link  := -Wl,--wrap=argp_parse,--wrap=argp_failure,--wrap=invoker_init \
		      -Wl,--wrap=invoker_choose,--wrap=invoker_is_other
# Discards the help text.
fuzz_options_run   := -close_fd_mask=3 -max_len=512
fuzz_command_run   := -max_len=256
fuzz_recording_run := -max_len=65536
fuzz_events_run	   := -max_len=8192
fuzz_prefetch_run  := -max_len=4096

$(BUILD)/fuzz/apps/main.o: fuzz_flags += -Dmain=pfdrive_main -Wno-missing-prototypes

$(BUILD)/fuzz/%.o: %.c | $(generated)
	$(call say,FUZZCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(user_cflags) -Imodule -I. $(fuzz_flags) -fsanitize=fuzzer-no-link -c -o $@ $<

$(fuzz_lib): $(lib_src:%.c=$(BUILD)/fuzz/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

define fuzz_rules
$(BUILD)/fuzz/$(1): $(BUILD)/fuzz/tests/fuzz/$(1).o $($(1)_obj) $(fuzz_lib)
	$$(call say,LINK,$$@)
	$$(Q)$$(CLANG) $$(fuzz_flags) -fsanitize=fuzzer $$($(1)_link) -o $$@ $$^ $$(user_libs) || \
		{ echo "fuzz: without libFuzzer nothing is fuzzed: tools/deps fuzz installs it" >&2; exit 1; }
endef
$(foreach test,$(fuzz_tests),$(eval $(call fuzz_rules,$(test))))

corpus_programs	:= $(patsubst tests/fuzz/corpus_%.c,%,$(wildcard tests/fuzz/corpus_*.c))

define corpus_rules
$(BUILD)/fuzz/corpus_$(1): $(BUILD)/unit/tests/fuzz/corpus_$(1).o $(lib)
	$$(call say,LINK,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) -o $$@ $$^ $$(user_libs)
endef
$(foreach name,$(corpus_programs),$(eval $(call corpus_rules,$(name))))

$(BUILD)/fuzz/corpus_%: tests/fuzz/corpus_%
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@

.PHONY: fuzz-programs $(fuzz_tests)
fuzz-programs: $(fuzz_tests:%=$(BUILD)/fuzz/%) $(fuzz_tests:fuzz_%=$(BUILD)/fuzz/corpus_%)

$(fuzz_tests): fuzz_%: $(BUILD)/fuzz/fuzz_% $(BUILD)/fuzz/corpus_%
	$(Q)mkdir -p $(BUILD)/fuzz/corpus/$*
	$(Q)$(BUILD)/fuzz/corpus_$* $(BUILD)/fuzz/corpus/$*
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1 \
		$(fuzz_$*_run) -artifact_prefix=$(BUILD)/fuzz/$*- $(BUILD)/fuzz/corpus/$*

fuzz: $(fuzz_tests)

-include $(wildcard $(BUILD)/fuzz/tests/fuzz/*.d $(BUILD)/unit/tests/fuzz/*.d) \
	$(user_src:%.c=$(BUILD)/fuzz/%.d) $(fuzz_command_obj:.o=.d)

# Fuzzes the module's files with tests/vm/progs/fuzz_debugfs.c. SEED repeats a run.
OPERATIONS	?= 1000000
KERNEL		?= 6.12
SEED		?=

.PHONY: fuzz-debugfs check-injection
fuzz-debugfs:
	$(Q)tools/lab run -q --kernel $(KERNEL) --cpus 4 -- tests/vm/run -s \
		--operations $(OPERATIONS) $(if $(SEED),--seed $(SEED)) test_fuzz_debugfs.py

# Lets every pfdrive step fail once, not only a sample, then every allocation in the module.
check-injection:
	$(Q)tools/check-injection $(KERNEL)
