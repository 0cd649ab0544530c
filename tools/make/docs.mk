# SPDX-License-Identifier: GPL-2.0-only
# The documents as HTML: Sphinx reads all pages (-E), and fails at each warning.

SPHINX	?= sphinx-build

.PHONY: docs
docs:
	$(Q)tools/deps docs
	$(call say,SPHINX,$(BUILD)/docs/html/index.html)
	$(Q)$(SPHINX) -q -E -b html -W -n --keep-going -d $(BUILD)/docs/doctrees Documentation $(BUILD)/docs/html
