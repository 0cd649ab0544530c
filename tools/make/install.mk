# SPDX-License-Identifier: GPL-2.0-only
# Man pages, and the lists of what `make install` copies and `make uninstall` removes.

PREFIX		?= /usr/local
mandir		:= $(PREFIX)/share/man/man1
schemadir	:= $(PREFIX)/share/pfstat
RST2MAN		?= $(firstword $(foreach c,rst2man rst2man.py,$(shell command -v $(c))))

man_src		:= $(sort $(wildcard Documentation/man/pfdrive*.1.rst))
man_pages	:= $(man_src:Documentation/man/%.rst=$(BUILD)/man/%)
schemas		:= $(sort $(wildcard Documentation/formats/*.schema.json))
# The kernel for which the module is built; it may differ from the running one.
release		= $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
			$(KDIR)/include/generated/utsrelease.h 2>/dev/null),$\
			$(notdir $(patsubst %/build,%,$(KDIR))))

# Pairs FILE:DESTINATION.
program_files	= $(BUILD)/pfdrive:$(PREFIX)/sbin/pfdrive
man_files	= $(foreach page,$(man_pages),$(page):$(mandir)/$(notdir $(page)))
schema_files	= $(foreach schema,$(schemas),$(schema):$(schemadir)/$(notdir $(schema)))
completion_files = $(BUILD)/completion/pfdrive.bash:$(PREFIX)/share/bash-completion/completions/pfdrive \
	$(BUILD)/completion/_pfdrive:$(PREFIX)/share/zsh/site-functions/_pfdrive
data_files	= $(schema_files) $(completion_files)
module_files	= $(module_ko):/lib/modules/$(release)/updates/pfstat.ko

# The version is not in the source of a page.
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

install: install-user install-module

install-user: $(BUILD)/pfdrive man completion
	$(call install_pair,755,$(program_files))
	$(if $(RST2MAN),$(call install_data,$(man_files)))
	$(call install_data,$(data_files))

install-module: $(module_ko)
	$(call install_data,$(module_files))
	$(run_depmod)

uninstall:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX) and the module of Linux $(release))
	$(Q)rm -f $(foreach pair,$(program_files) $(man_files) $(data_files) $(module_files),\
		$(DESTDIR)$(lastword $(subst :, ,$(pair))))
	$(Q)rmdir $(DESTDIR)$(schemadir) 2>/dev/null || true
	$(run_depmod)
