# SPDX-License-Identifier: GPL-2.0-only
# Man pages, and the lists of what `make install` copies and `make uninstall` removes.

PREFIX		?= /usr/local
SBINDIR		?= $(PREFIX)/sbin
mandir		:= $(PREFIX)/share/man/man1
schemadir	:= $(PREFIX)/share/pfstat
RST2MAN		?= $(firstword $(foreach c,rst2man rst2man.py,$(shell command -v $(c))))

man_src		:= $(sort $(wildcard Documentation/man/*.1.rst))
man_pages	:= $(man_src:Documentation/man/%.rst=$(BUILD)/man/%)
schemas		:= $(sort $(wildcard Documentation/formats/*.schema.json)) $(BUILD)/pfdrive.schema.json
# The kernel for which the module is built. It may differ from the running one.
release		= $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
			$(KDIR)/include/generated/utsrelease.h 2>/dev/null),$\
			$(notdir $(patsubst %/build,%,$(KDIR))))

# Pairs FILE:DESTINATION.
program_files	= $(BUILD)/pfdrive:$(SBINDIR)/pfdrive $(BUILD)/pfbench:$(SBINDIR)/pfbench
man_files	= $(foreach page,$(man_pages),$(page):$(mandir)/$(notdir $(page)))
schema_files	= $(foreach schema,$(schemas),$(schema):$(schemadir)/$(notdir $(schema)))
completion_files = $(BUILD)/completion/pfdrive.bash:$(PREFIX)/share/bash-completion/completions/pfdrive \
	$(BUILD)/completion/_pfdrive:$(PREFIX)/share/zsh/site-functions/_pfdrive
# The systemd units, each for all services, and for one.
units		= $(addprefix $(BUILD)/,pfdrive-export.service pfdrive-export@.service \
	pfdrive-record.service pfdrive-record@.service)
unit_files	= $(foreach unit,$(units),$(unit):$(PREFIX)/lib/systemd/system/$(notdir $(unit))) \
	packaging/pfstat.tmpfiles.conf:$(PREFIX)/lib/tmpfiles.d/pfstat.conf
# Rules for Prometheus, and a dashboard for Grafana.
monitoring_files = $(foreach file,pfstat.rules.yml pfstat.dashboard.json,\
	packaging/monitoring/$(file):$(schemadir)/$(file))
data_files	= $(schema_files) $(unit_files) $(monitoring_files) $(completion_files)
# With both, install-module signs the module for Secure Boot: a private key, and the certificate.
SIGN_KEY	?=
SIGN_CERT	?=
# Debian has the program in the package linux-kbuild.
sign_file	= $(firstword $(wildcard $(KDIR)/scripts/sign-file /usr/lib/linux-kbuild-*/scripts/sign-file))

module_files	= $(module_ko):/lib/modules/$(release)/updates/pfstat.ko

# The version is not in the page source.
$(BUILD)/man/%: Documentation/man/%.rst VERSION
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed 's/^:Manual section: 1$$/&\n:Version: pfstat $(version)/' $< | $(RST2MAN) --halt=2 - $@

.PHONY: man install install-user install-module uninstall
man: $(if $(RST2MAN),$(man_pages))
ifeq ($(RST2MAN),)
	@echo 'man: rst2man is not installed, so there are no man pages; run tools/deps man' >&2
endif

# $(1): mode, $(2): pair
define install_pair
$(call say,INSTALL,$(DESTDIR)$(lastword $(subst :, ,$(2))))
$(Q)install -D -m $(1) $(firstword $(subst :, ,$(2))) $(DESTDIR)$(lastword $(subst :, ,$(2)))

endef
install_data = $(foreach pair,$(1),$(call install_pair,644,$(pair)))

define run_depmod
@if [ -n "$(DESTDIR)" ]; then \
	echo '  depmod was not run: DESTDIR is set'; \
elif [ "$(release)" != "$$(uname -r)" ]; then \
	echo '  depmod was not run: the module is for Linux $(release), which is not running'; \
else depmod; fi
endef

# $(1): the installed module
define sign_module
$(call say,SIGN,$(1))
$(Q)test -n "$(SIGN_KEY)" -a -n "$(SIGN_CERT)" || \
	{ echo 'install: a signature needs both SIGN_KEY and SIGN_CERT' >&2; exit 1; }
$(Q)test -n "$(sign_file)" || { echo "install: no scripts/sign-file in $(KDIR):" \
	"install the kernel's build tools (linux-kbuild, kernel-devel)" >&2; exit 1; }
$(Q)$(sign_file) sha256 $(SIGN_KEY) $(SIGN_CERT) $(1)
endef

install: install-user install-module

$(units): $(BUILD)/%: packaging/% force
	$(call say,UNIT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed 's,@SBINDIR@,$(SBINDIR),' $< > $@

.PHONY: force
install-user: $(BUILD)/pfdrive $(BUILD)/pfbench $(units) man completion schema
	$(foreach pair,$(program_files),$(call install_pair,755,$(pair)))
	$(if $(RST2MAN),$(call install_data,$(man_files)))
	$(call install_data,$(data_files))

install-module: $(module_ko)
	$(call install_data,$(module_files))
	$(if $(SIGN_KEY)$(SIGN_CERT),$(call sign_module,$(DESTDIR)$(lastword $(subst :, ,$(module_files)))))
	$(run_depmod)

uninstall:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX) and the module of Linux $(release))
	$(Q)rm -f $(foreach pair,$(program_files) $(man_files) $(data_files) $(module_files),\
		$(DESTDIR)$(lastword $(subst :, ,$(pair))))
	$(Q)rmdir $(DESTDIR)$(schemadir) 2>/dev/null || true
	$(run_depmod)
