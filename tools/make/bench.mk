# SPDX-License-Identifier: GPL-2.0-only
# Measures the overhead added to a fault by pfstat and the peers.

bench_dir	:= tests/overhead
bench_programs	:= $(addprefix $(BUILD)/overhead/,touch threads operations fentry_reference)

.PHONY: bench-programs
bench-programs: $(bench_programs)
guest_programs	+= $(bench_programs)

$(patsubst %,$(BUILD)/overhead/%,touch threads operations): $(BUILD)/overhead/%: $(bench_dir)/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -o $@ $< -lpthread

$(BUILD)/overhead/fentry_reference.bpf.o: $(bench_dir)/fentry_reference.bpf.c $(bench_dir)/fentry_reference.h
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(bpf_arch) -g -O2 -Wall -Werror \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

$(BUILD)/overhead/fentry_reference.skel.h: $(BUILD)/overhead/fentry_reference.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name fentry_reference_bpf > $@

$(BUILD)/overhead/fentry_reference: $(bench_dir)/fentry_reference.c $(BUILD)/overhead/fentry_reference.skel.h
	$(call say,CC,$@)
	$(Q)$(CC) $(user_cflags) -I$(BUILD)/overhead -o $@ $< $(user_libs)

$(BUILD)/overhead/bare_loop: $(bench_dir)/bare_loop.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -o $@ $<

# pfdrive's access loop, compared with a bare one, on the host, with valgrind.
.PHONY: bench-loop
bench-loop: $(BUILD)/overhead/bare_loop $(BUILD)/pfdrive
	$(Q)tests/overhead/loop $(BUILD)

# Guest packages only this target needs. For arm64, only pfstat's own rows have budgets.
ifeq ($(vm_is_arm64),)
bench_packages	:= --packages bpftrace,linux-perf
endif
bench_figures	:= Documentation/user/overhead.json

.PHONY: bench bench-check
bench:
	$(Q)for kernel in $(KERNELS); do \
		tools/lab run -q --deterministic --kernel $$kernel $(bench_packages) \
			--out $(BUILD)/bench-$$kernel -- tests/overhead/measure $(ROWS) || exit; done
	$(Q)tests/overhead/figures merge $(BUILD)/overhead.json \
		$(KERNELS:%=$(BUILD)/bench-%/overhead.json)

# Fails if a row of pfstat is more than 5 % above the committed figures.
bench-check: bench
	$(Q)tests/overhead/figures check $(bench_figures) $(BUILD)/overhead.json

# The same as time, on this machine: bare rounds and others alternate. It loads the module, and asks
# before. OPTIONS="--threads 1 2 4 --rows pfstat pfdrive --yes". --help has more.
OPTIONS		?=

# The program reports instruments that cannot be built for this kernel.
.PHONY: bench-native bench-scale
bench-native:
	$(Q)if test -d $(KDIR); then $(MAKE) module pfdrive bench-programs; fi
	$(Q)PFSTAT_BUILD=$(abspath $(BUILD)) tests/overhead/native $(OPTIONS)

# From one thread to four, on as many CPUs. Emulated CPUs run in turn.
bench-scale:
	$(Q)tools/lab run -q --cpus 4 --out $(BUILD)/bench-scale -- sh -c \
		'tests/overhead/native --yes --folder /mnt/disk --mib 4 --threads 1 2 3 4 \
		--json "$$OUT/scale.json" $(or $(OPTIONS),--rows pfstat)'
