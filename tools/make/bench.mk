# SPDX-License-Identifier: GPL-2.0-only
# What pfstat and its peers add to a fault. The programs are part of `all`, for that
# is what the lab builds for its guests.

bench_dir	:= tests/bench/overhead
bench_programs	:= $(BUILD)/bench/touch $(BUILD)/bench/crowd $(BUILD)/bench/peer

.PHONY: bench-programs
bench-programs: $(bench_programs)

$(BUILD)/bench/touch: $(bench_dir)/touch.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -o $@ $<

$(BUILD)/bench/crowd: $(bench_dir)/crowd.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -o $@ $< -lpthread

$(BUILD)/bench/peer.bpf.o: $(bench_dir)/peer.bpf.c $(bench_dir)/peer.h
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_x86 -g -O2 -Wall -Werror \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

$(BUILD)/bench/peer.skel.h: $(BUILD)/bench/peer.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name peer_bpf > $@

$(BUILD)/bench/peer: $(bench_dir)/peer.c $(BUILD)/bench/peer.skel.h
	$(call say,CC,$@)
	$(Q)$(CC) $(user_cflags) -I$(BUILD)/bench -o $@ $< $(user_libs)

$(BUILD)/bench/bare_loop: $(bench_dir)/bare_loop.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -O2 -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -o $@ $<

# The access loop of pfdrive against a bare one; on this machine, by valgrind.
.PHONY: bench-loop
bench-loop: $(BUILD)/bench/bare_loop $(BUILD)/pfdrive
	$(Q)tests/bench/overhead/loop $(BUILD)

# Packages of the guest that only this needs.
bench_packages	:= bpftrace,linux-perf
bench_figures	:= Documentation/overhead.json

.PHONY: bench bench-check
bench:
	$(Q)for kernel in $(KERNELS); do \
		tools/lab run -q --deterministic --kernel $$kernel --packages $(bench_packages) \
			--out $(BUILD)/bench-$$kernel -- tests/bench/overhead/measure $(ROWS) || exit; done
	$(Q)tests/bench/overhead/figures merge $(BUILD)/overhead.json \
		$(KERNELS:%=$(BUILD)/bench-%/overhead.json)

# Fails where a row of pfstat's own is dearer by more than 5 % than the committed figures.
bench-check: bench
	$(Q)tests/bench/overhead/figures check $(bench_figures) $(BUILD)/overhead.json

# The same as time, on this machine: bare rounds and others take turns. It loads the module,
# and asks before. OPTIONS="--threads 1 2 4 --rows pfstat pfdrive --yes"; --help has more.
OPTIONS		?=

# What cannot be built for this machine's kernel, it says itself.
.PHONY: bench-native bench-scale
bench-native:
	$(Q)if test -d $(KDIR); then $(MAKE) module pfdrive bench-programs; fi
	$(Q)PFSTAT_BUILD=$(abspath $(BUILD)) tests/bench/overhead/native $(OPTIONS)

# From one thread to four, on as many CPUs; where these are emulated they take turns.
bench-scale:
	$(Q)tools/lab run -q --cpus 4 --out $(BUILD)/bench-scale -- sh -c \
		'tests/bench/overhead/native --yes --folder /mnt/disk --mib 4 --threads 1 2 3 4 \
		--json "$$OUT/scale.json" $(or $(OPTIONS),--rows pfstat)'
