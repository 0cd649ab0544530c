# SPDX-License-Identifier: GPL-2.0-only
# The source archive, packages for Debian, rpm and Arch Linux, and the module's source for DKMS.

dist_name	:= pfstat-$(version)
dist_archive	:= $(BUILD)/$(dist_name).tar.gz
deb_tree	:= $(BUILD)/deb/$(dist_name)
dkms_dir	= $(DESTDIR)/usr/src/$(dist_name)
# The files Kbuild reads. The kernel list has the range for which the module is built.
dkms_src	:= Kbuild VERSION LICENSE tools/kernels/list $(sort $(wildcard include/pfstat/*.h \
		module/*.[chS] module/probes/*.c common/*.[ch]))

.PHONY: dist deb rpm arch install-dkms
# Holds the files in the checked-out commit.
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

# RPM_RELEASE is the release of the package. A distribution without an rpm database, such as Debian,
# has the requirements under other names: tools/deps knows them.
RPM_RELEASE	?= 1
rpm_nodeps	= $(shell rpm -q rpm >/dev/null 2>&1 || echo --nodeps)
rpm: dist
	$(Q)! command -v apt-get >/dev/null || tools/deps rpm
	$(Q)rm -rf $(BUILD)/rpm && mkdir -p $(BUILD)/rpm
	$(Q)sed -e 's/#VERSION#/$(version)/; s/#RELEASE#/$(RPM_RELEASE)/; s/#PACKAGER#/$(DEB_MAINTAINER)/' \
		-e "s/#DATE#/$$(LC_ALL=C date -u -d @$$(git log -1 --format=%ct) '+%a %b %d %Y')/" \
		packaging/pfstat.spec > $(BUILD)/rpm/pfstat.spec
	$(call say,RPM,$(BUILD)/rpm)
	$(Q)unset MAKEFLAGS MAKELEVEL BUILD && rpmbuild -bb $(rpm_nodeps) --define '_topdir $(abspath $(BUILD)/rpm)' \
		--define '_sourcedir $(abspath $(BUILD))' --define '_rpmdir $(abspath $(BUILD)/rpm)' \
		$(BUILD)/rpm/pfstat.spec > $(BUILD)/rpm/build.log 2>&1 || { tail -30 $(BUILD)/rpm/build.log; exit 1; }
	$(Q)find $(BUILD)/rpm -name '*.rpm' | sort

# makepkg refuses to run as root, so root hands the folder to a user without privileges.
arch: dist
	$(Q)! command -v apt-get >/dev/null || tools/deps arch
	$(Q)rm -rf $(BUILD)/arch && mkdir -p $(BUILD)/arch
	$(Q)cp $(dist_archive) $(BUILD)/arch
	$(Q)sed "s/#VERSION#/$(version)/; s/#SHA256#/$$(sha256sum < $(dist_archive) | cut -d ' ' -f 1)/" \
		packaging/PKGBUILD > $(BUILD)/arch/PKGBUILD
	$(call say,ARCH,$(BUILD)/arch)
	$(Q)packaging/makepkg $(BUILD)/arch > $(BUILD)/arch/build.log 2>&1 || \
		{ tail -30 $(BUILD)/arch/build.log; exit 1; }
	$(Q)find $(BUILD)/arch -maxdepth 1 -name '*.pkg.tar*' | sort

# Only copies: `dkms install pfstat/VERSION` builds the module.
install-dkms:
	$(call say,INSTALL,$(dkms_dir))
	$(Q)for file in $(dkms_src); do install -D -m 644 $$file $(dkms_dir)/$$file; done
	$(Q)sed 's/#MODULE_VERSION#/$(version)/' packaging/dkms.conf > $(dkms_dir)/dkms.conf
