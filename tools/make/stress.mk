# SPDX-License-Identifier: GPL-2.0-only
# Stress in the VM.

stress_dir	:= tests/stress
stress_programs	:= $(addprefix $(BUILD)/stress/,worker recorder vm_ops.bpf.o)
stress_cflags	:= -O2 -std=gnu11 -D_GNU_SOURCE -Iinclude $(WARNINGS)

guest_programs	+= $(stress_programs)

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
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(bpf_arch) -g -O2 -Wall -Werror \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

# Settings for one run: SEED= repeats it. With LOADS= it fails if the module was loaded and unloaded
# less often. The VM has four CPUs, for arm64 two, and little memory.
MINUTES		?= 10
LOADS		?=
KERNEL		?= 6.12
SEED		?=
stress_cpus	:= $(if $(vm_is_arm64),2,4)

.PHONY: stress
stress:
	$(Q)tools/deps
	$(Q)tools/lab run -q --kernel $(KERNEL) --cpus $(stress_cpus) --out $(BUILD)/stress-$(KERNEL) -- \
		tests/stress/run --minutes $(MINUTES) $(if $(LOADS),--loads $(LOADS)) \
			$(if $(SEED),--seed $(SEED))

# Foreign tests, with and without hooks. stress-ng is a package. Kernel selftests mapping files are
# built in the lab's root if it has the kernel source.
same_packages	:= linux-source-6.12
selftests	:= cow gup_longterm madv_populate map_populate mkdirty mlock2-tests mremap_test \
		   mrelease_test pagemap_ioctl soft-dirty uffd-unit-tests
selftests_dir	:= $(BUILD)/selftests/.source

.PHONY: stress-same
stress-same:
	$(Q)tools/deps
	$(Q)tools/lab run -q --kernel $(KERNEL) --cpus 4 --swap 0 \
		$(if $(filter 6.12,$(KERNEL)),--packages $(same_packages)) -- tests/stress/compare_selftests $(NAMES)

ifeq ($(CURDIR),/pfstat)
linux_source	:= $(wildcard /usr/src/linux-source-6.12.tar.xz)
endif
ifneq ($(linux_source),)
guest_programs	+= $(selftests:%=$(BUILD)/selftests/%)
endif

$(selftests_dir)/unpacked: $(linux_source)
	$(call say,UNPACK,$@)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)tar -C $(@D) --strip-components=1 -xJf $< --wildcards '*/tools/testing/selftests/mm' \
		'*/tools/testing/selftests/kselftest*.h' '*/tools/include' '*/mm/gup_test.h'
	$(Q)touch $(@D)/tools/testing/selftests/mm/local_config.h $@	# without liburing

# Like the kernel's Makefile there, but without the parts that need a built kernel.
$(selftests:%=$(BUILD)/selftests/%): $(BUILD)/selftests/%: $(selftests_dir)/unpacked
	$(call say,CC,$@)
	$(Q)cd $(selftests_dir)/tools/testing/selftests/mm && \
		$(CC) -O2 -w -D_GNU_SOURCE= -o $(abspath $@) \
		$*.c vm_util.c thp_settings.c $(if $(filter uffd-%,$*),uffd-common.c) -lrt -lpthread -lm
