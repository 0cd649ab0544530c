# SPDX-License-Identifier: GPL-2.0-only
# The source archive, Debian packages, and the module's source for DKMS.

dist_name	:= pfstat-$(version)
dist_archive	:= $(BUILD)/$(dist_name).tar.gz
deb_tree	:= $(BUILD)/deb/$(dist_name)
dkms_dir	= $(DESTDIR)/usr/src/$(dist_name)
# What Kbuild reads. The list of kernels has the range that the module is built for.
dkms_src	:= Kbuild VERSION LICENSE tools/kernels/list $(sort $(wildcard include/pfstat/*.h \
		module/*.[ch] module/probes/*.c common/*.[ch]))

.PHONY: dist deb install-dkms
# Holds the files of the commit that is checked out.
dist:
	$(call say,DIST,$(dist_archive))
	$(Q)mkdir -p $(BUILD)
	$(Q)git archive --format=tar.gz --prefix=$(dist_name)/ -o $(dist_archive) HEAD

# DEB_VERSION may add a revision, for example 0.1+test1. The author of the commit answers for the
# package, unless DEB_MAINTAINER names another.
DEB_VERSION	?= $(version)
DEB_MAINTAINER	?= $(shell git log -1 --format='%an <%ae>')
deb: dist
	$(Q)tools/deps packages
	$(Q)rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	$(Q)tar -C $(BUILD)/deb -xzf $(dist_archive)
	$(Q)cp -r packaging/debian $(deb_tree)/debian
	$(Q)sed -i 's/#MAINTAINER#/$(DEB_MAINTAINER)/' $(deb_tree)/debian/control
	$(Q)printf 'pfstat (%s) unstable; urgency=medium\n\n  * See NEWS.md.\n\n -- %s  %s\n' \
		'$(DEB_VERSION)' '$(DEB_MAINTAINER)' \
		"$$(date -R -d @$$(git log -1 --format=%ct))" > $(deb_tree)/debian/changelog
	$(call say,DEB,$(BUILD)/deb)
	$(Q)cd $(deb_tree) && unset MAKEFLAGS MAKELEVEL BUILD && \
		dpkg-buildpackage -b -us -uc > ../build.log 2>&1 || { tail -30 ../build.log; exit 1; }
	$(Q)ls $(BUILD)/deb/*.deb

# Only copies: `dkms install pfstat/VERSION` builds the module.
install-dkms:
	$(call say,INSTALL,$(dkms_dir))
	$(Q)for file in $(dkms_src); do install -D -m 644 $$file $(dkms_dir)/$$file; done
	$(Q)sed 's/#MODULE_VERSION#/$(version)/' packaging/dkms.conf > $(dkms_dir)/dkms.conf
