# SPDX-License-Identifier: GPL-2.0-only
# The coursework: grading a submission, and the archive for students.

LAB		?=
SUBMISSION	?=
FORMAT		?= table
handout		:= $(BUILD)/pfstat-course-$(version).tar.xz

.PHONY: grade check-course course-handout lab-image check-lab-image
grade:
	$(Q)course/grade --format "$(FORMAT)" $(if $(SEED),--seed "$(SEED)") "$(LAB)" "$(SUBMISSION)"

# The solutions, the skeletons and the wrong solutions, in a VM: a quarter of an hour.
check-course:
	$(Q)tools/lab run -q --deterministic -- tests/vm/run course_solutions.py

# The committed files without the solutions, and the hand-outs as PDF.
course_pages	:= $(filter-out instructor,$(basename $(notdir $(wildcard Documentation/course/*.rst))))
handout_home	:= $(BUILD)/course/$(notdir $(basename $(basename $(handout))))

course-handout: docs
	$(Q)tools/deps browser
	$(Q)rm -rf $(handout_home) && mkdir -p $(handout_home)/handout
	$(Q)git archive HEAD -- . ':!course/instructor' ':!Documentation/course/instructor.rst' \
		':!tests/vm/course_solutions.py' | tar -x -C $(handout_home)
	$(Q)for page in $(course_pages); do \
		chromium --headless --no-sandbox --disable-gpu --no-pdf-header-footer \
			--print-to-pdf=$(abspath $(handout_home))/handout/$$page.pdf \
			file://$(abspath $(BUILD))/docs/html/course/$$page.html 2>$(BUILD)/course/chromium.log || \
			{ cat $(BUILD)/course/chromium.log >&2; exit 1; }; \
	done
	$(Q)tar -C $(dir $(handout_home)) -cJf $(handout) $(notdir $(handout_home))
	@echo "$(handout)"

# The lab as a folder bootable without this tree, and the archive.
lab-image:
	$(Q)tools/deps lab
	$(Q)tools/lab-image $(BUILD)

# Boots it, emulated: some minutes. An arm64 image's name ends so.
image_arch	:= $(if $(vm_is_arm64),-arm64)

check-lab-image: lab-image
	$(Q)tests/image/run $(BUILD)/pfstat-lab-$(version)$(image_arch).tar.zst
