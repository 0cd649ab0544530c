# SPDX-License-Identifier: GPL-2.0-only
# The wheel for Python: the package of python/, with a static pfdrive for x86-64 or arm64.

wheel_machine	:= $(if $(vm_is_arm64),aarch64,x86_64)
wheel_home	:= $(BUILD)/wheel/$(wheel_machine)
wheel_is_cross	:= $(filter-out $(shell uname -m),$(wheel_machine))
wheel_pfdrive	:= $(if $(wheel_is_cross),$(BUILD)/arm64/pfdrive-static,$(BUILD)/pfdrive-static)
# The program is static, so any C library will do: the oldest tags that pip knows.
wheel_platform	:= manylinux_2_17_$(wheel_machine).manylinux2014_$(wheel_machine).musllinux_1_1_$(wheel_machine)
wheel_src	:= $(addprefix python/,README.md pyproject.toml setup.py) VERSION LICENSE
wheel_modules	:= $(wildcard python/pfstat/*.py) python/pfstat/py.typed

.PHONY: wheel $(BUILD)/arm64/pfdrive-static
wheel: $(wheel_pfdrive)
	$(Q)! command -v apt-get >/dev/null || tools/deps python
	$(Q)rm -rf $(wheel_home) && mkdir -p $(wheel_home)/source/pfstat/bin
	$(Q)cp $(wheel_src) $(wheel_home)/source
	$(Q)cp $(wheel_modules) $(wheel_home)/source/pfstat
	$(Q)install -m 755 $(if $(wheel_is_cross),,-s) $< $(wheel_home)/source/pfstat/bin/pfdrive
	$(call say,WHEEL,$(wheel_home))
	$(Q)environment=$$(tools/python-env build) && \
		WHEEL_PLATFORM=$(wheel_platform) SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
		$$environment/bin/pip --disable-pip-version-check wheel --quiet --no-deps --no-index \
		--no-build-isolation --wheel-dir $(wheel_home) $(wheel_home)/source
	$(Q)ls $(wheel_home)/*.whl

# In a root with a cross compiler, without eBPF.
$(BUILD)/arm64/pfdrive-static:
	$(if $(filter-out x86_64,$(shell uname -m)),$(error the wheel for another machine is cross-built only on x86-64))
	$(Q)! command -v apt-get >/dev/null || tools/deps cross
	$(Q)BUILD=$(BUILD) tools/cross build arm64
