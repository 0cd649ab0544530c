# SPDX-License-Identifier: GPL-2.0-only
# Stress in the VM. The programs are part of `all`, for that is what the lab builds for
# its guests.

stress_dir	:= tests/stress
stress_programs	:= $(addprefix $(BUILD)/stress/,worker recorder vm_ops.bpf.o)
stress_cflags	:= -O2 -std=gnu11 -D_GNU_SOURCE -Iinclude $(WARNINGS)

all: $(stress_programs)

$(BUILD)/stress/worker: $(wildcard $(stress_dir)/worker/*.[ch])
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(stress_cflags) -o $@ $(filter %.c,$^) -lpthread

$(BUILD)/stress/recorder: $(stress_dir)/recorder.c $(wildcard include/pfstat/*.h)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(stress_cflags) -o $@ $<

$(BUILD)/stress/vm_ops.bpf.o: $(stress_dir)/vm_ops.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_x86 -g -O2 -Wall -Werror \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

# What one run takes; SEED= repeats one. Four CPUs, and memory that is short.
MINUTES		?= 10
KERNEL		?= 6.12
SEED		?=

.PHONY: stress
stress:
	$(Q)tools/deps
	$(Q)tools/lab run -q --kernel $(KERNEL) --cpus 4 --out $(BUILD)/stress-$(KERNEL) -- \
		tests/stress/run --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))
