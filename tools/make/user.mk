# SPDX-License-Identifier: GPL-2.0-only
# The eBPF programs, pfdrive and pfbench.

# CROSS=riscv64-linux-gnu- compiles for another architecture, with Debian's cross compiler and the
# architecture's libraries, which dpkg installs beside this machine's.
CROSS		?=
ifneq ($(CROSS),)
CC		:= $(CROSS)gcc
AR		:= $(CROSS)ar
PKG_CONFIG	:= env PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS:%-=%)/pkgconfig:/usr/share/pkgconfig pkg-config
endif

# BPF=no leaves out the eBPF programs, all files that use libbpf, and their tests: pfdrive is then
# built without clang, bpftool and libbpf. bpf_none.c takes their place.
BPF		?= yes
$(if $(filter yes no,$(BPF)),,$(error BPF takes yes or no, not '$(BPF)'))
bpf_user	:= $(patsubst %,user/collect/%.c,bpf_counters bpf_explain events bpf_pins \
		   bpf_programs bpf_records bpf_targets event_rings fault_source_bpf \
		   kernel_types)
bpf_tests	:= test_bpf_log test_bpf_targets test_kernel_types
without_bpf	:= $(filter no,$(BPF))

packages	:= $(if $(without_bpf),,libbpf) libcap-ng jansson libseccomp libdw hwloc libxxhash libzstd
user_src	:= $(filter-out $(if $(without_bpf),$(bpf_user),user/collect/bpf_none.c), \
		   $(sort $(shell find user apps -name '*.c')))
user_obj	:= $(user_src:%.c=$(BUILD)/%.o)
# Everything but main(), for pfdrive, the unit tests and the tools.
lib_src		:= $(filter-out apps/main.c,$(user_src))
lib		:= $(BUILD)/libpfdrive.a
# The studies' measurements, without main().
bench_src	:= $(filter-out bench/main.c,$(sort $(shell find bench -name '*.c')))
bench_lib	:= $(BUILD)/libpfbench.a
bpf_src		:= $(wildcard bpf/*.bpf.c)
bpf_obj		:= $(bpf_src:%.c=$(BUILD)/%.o)

# As libbpf names the architecture that $(CC) compiles for. Empty: the programs are not written for
# it.
cc_machine	:= $(shell $(CC) -dumpmachine)
bpf_arch	:= $(if $(filter aarch64-%,$(cc_machine)),arm64,$(if $(filter x86_64-%,$(cc_machine)),x86))

WARNINGS	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
CFLAGS		?= -O2 -g
PKG_CONFIG	?= pkg-config
user_cflags	= -std=gnu11 -D_GNU_SOURCE -Iinclude -Iuser -Iapps -I$(BUILD) $(WARNINGS) $(CFLAGS) \
		  $(shell $(PKG_CONFIG) --cflags $(packages)) -MMD -MP
user_libs	= $(shell $(PKG_CONFIG) --libs $(packages)) -lelf -lz -liberty -lpthread -lm

# Generated headers, which must exist before the first object is compiled.
generated	:= $(if $(without_bpf),,$(BUILD)/pfstat.skel.h) $(BUILD)/util/version.h

# What one build folder cannot mix. If it changes, all objects are built again.
configuration	:= $(BUILD)/configuration
.PHONY: always
$(configuration): always
	$(Q)mkdir -p $(@D)
	$(Q)echo 'BPF=$(BPF) CC=$(CC)' | cmp -s - $@ || echo 'BPF=$(BPF) CC=$(CC)' > $@

pfdrive: $(BUILD)/pfdrive $(BUILD)/pfbench

$(lib): $(lib_src:%.c=$(BUILD)/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(bench_lib): $(bench_src:%.c=$(BUILD)/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/pfbench: $(BUILD)/bench/main.o $(bench_lib) $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

$(BUILD)/pfdrive: $(BUILD)/apps/main.o $(lib)
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(user_libs)

# One file which needs no library. The linker's warnings are about user and host names, which a
# system without glibc's libraries cannot look up: such a name is then not found.
.PHONY: pfdrive-static
pfdrive-static: $(BUILD)/pfdrive-static

$(BUILD)/pfdrive-static: $(BUILD)/apps/main.o $(lib) $(wildcard packaging/static_*.c)
	$(if $(CROSS),,$(Q)! command -v apt-get >/dev/null || tools/deps static)
	$(call say,LINK,$@)
	$(Q)$(CC) -static -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ \
		-lelf -lz -liberty -lpthread -lm \
		$(filter-out -ludev,$(shell $(PKG_CONFIG) --static --libs $(packages))) -liberty -lz 2>$@.log || \
		{ cat $@.log >&2; exit 1; }

$(BUILD)/user/%.o: user/%.c $(configuration) | $(generated)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -c -o $@ $<

$(BUILD)/apps/%.o: apps/%.c $(configuration) | $(generated)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -c -o $@ $<

$(BUILD)/bench/%.o: bench/%.c $(configuration) | $(generated)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(user_cflags) -I. -c -o $@ $<

# pfdrive's command line completion, generated from pfdrive's command and option tables.
completions	:= $(BUILD)/completion/pfdrive.bash $(BUILD)/completion/_pfdrive

.PHONY: completion
completion: $(completions)

$(BUILD)/completion/pfdrive.bash: shell := bash
$(BUILD)/completion/_pfdrive: shell := zsh
$(completions): $(BUILD)/pfbench
	$(call say,COMPLETE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< helper completion $(shell) > $@

# The JSON schema of a report: the part by hand, and the definitions from the rows of fields.
.PHONY: schema
schema: $(BUILD)/pfdrive.schema.json

$(BUILD)/pfdrive.schema.json: Documentation/formats/pfdrive.schema.in.json $(BUILD)/pfbench
	$(call say,SCHEMA,$@)
	$(Q)$(BUILD)/pfbench helper schema $< > $@

# The page template is embedded with .incbin, which -MMD does not list.
$(BUILD)/user/print/html/html_template.o: user/print/html/page.html user/print/html/style.css

# States the instruction set: clang's default was v1 and is v3 since 20, so the programs and the
# verifier's figures would depend on the compiler.
$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c tools/make/user.mk
	$(if $(bpf_arch),,$(error the eBPF programs are for x86-64 and arm64, not $(cc_machine); add BPF=no))
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -D__TARGET_ARCH_$(bpf_arch) -g -O2 -Wall -Werror \
		-Iinclude -I. \
		-idirafter /usr/include/$(shell $(CC) -print-multiarch) -MMD -MP -c -o $@ $<

$(BUILD)/pfstat.bpf.o: $(bpf_obj)
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(BUILD)/pfstat.skel.h: $(BUILD)/pfstat.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name pfstat_bpf > $@

# record --exact's library for the watched programs, which pfdrive embeds. It has no libc. Only these
# architectures have what it needs.
exact_library	:= $(if $(filter x86_64-% aarch64-%,$(cc_machine)),$(BUILD)/preload/first_touch.so)

$(BUILD)/preload/first_touch.so: preload/first_touch.c include/pfstat/exact.h $(configuration)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -Iinclude $(WARNINGS) -O2 -ffreestanding -fPIC \
		-fvisibility=hidden -fno-stack-protector -U_FORTIFY_SOURCE -shared -nostdlib -s \
		$(if $(filter aarch64-%,$(cc_machine)),-mno-outline-atomics) \
		-Wl,-z,defs -Wl,--build-id=none -o $@ $<

$(BUILD)/user/run/exact.o: $(exact_library)

# The version, the kernel range accepted by Kbuild, and the oldest kernel for eBPF alone. The list's
# last columns are for x86-64 and arm64.
arch_column	= $(if $(filter arm64,$(bpf_arch)),10,9)
bpf_releases	= $(shell awk -v column=$(arch_column) '$$2 ~ /^[0-9.]+$$/ && $$column != "-" \
		  { print $$2 }' tools/kernels/list | sort -V)
releases	= $(shell awk -v column=$(arch_column) '$$2 ~ /^[0-9.]+$$/ && $$5 != "-" && \
		  $$column != "-" { print $$2 }' tools/kernels/list | sort -V)

$(BUILD)/util/version.h: VERSION tools/kernels/list tools/make/user.mk $(configuration)
	$(call say,VERSION,$@)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#define %s "%s"\n' PFDRIVE_VERSION $(version) \
		OLDEST_BPF_KERNEL $(firstword $(bpf_releases)) \
		OLDEST_KERNEL $(firstword $(releases)) NEWEST_KERNEL $(lastword $(releases)) \
		BUILT_WITHOUT '$(if $(without_bpf),$(comma) without eBPF)' > $@

-include $(user_obj:.o=.d) $(bpf_obj:.o=.d) $(bench_src:%.c=$(BUILD)/%.d) $(BUILD)/bench/main.d
