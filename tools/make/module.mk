# SPDX-License-Identifier: GPL-2.0-only
# pfstat.ko, out of source: the kernel's build system writes next to the files it compiles, so it is
# given a folder of links below $(BUILD).

module_src	:= $(wildcard module/*.[chS] module/probes/*.c common/*.[ch] include/pfstat/*.h)
module_dir	:= $(BUILD)/module
module_ko	:= $(BUILD)/pfstat.ko

module: $(module_ko)

$(BUILD)/pfstat.ko: $(module_src) Kbuild VERSION tools/kernels/list
	$(call say,KBUILD,$@)
	$(Q)test -d $(KDIR) || { echo "no kernel headers at $(KDIR): install them" \
		"(apt-get install linux-headers-$$(uname -r)) or use the VM (make demo)" >&2; exit 1; }
	$(Q)rm -rf $(module_dir) && mkdir -p $(module_dir)
	$(Q)ln -s $(CURDIR)/module $(CURDIR)/include $(CURDIR)/Kbuild $(CURDIR)/VERSION $(CURDIR)/tools $(module_dir)
	$(Q)rm $(module_dir)/module && mkdir $(module_dir)/module $(module_dir)/common
	$(Q)ln -s $(CURDIR)/module/* $(module_dir)/module
	$(Q)ln -s $(CURDIR)/common/* $(module_dir)/common
	$(Q)+$(MAKE) $(if $(Q),-s) -C $(KDIR) M=$(abspath $(module_dir)) $(SPARSE) modules
	$(Q)cp $(module_dir)/pfstat.ko $@
