// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each source of faults shows. The rows are the hooks of model/counters.h, with the parts of a
 * fault's time and the classes that need them.
 */
#include "doctor/doctor.h"
#include "model/counters.h"
#include "model/fault_class.h"
#include "model/part.h"
#include "util/grid.h"

static const char *const shows[NR_HOOKS] = { HOOKS(HOOK_SHOWS) };

#define PERF_HOOKS_ROOT (PERF_HOOKS | PERF_HOOKS_KERNEL | PERF_HOOKS_TRACED)

static const struct {
	const char *heading;
	uint32_t hooks;
} sources[] = {
	{ "<eBPF", BPF_HOOKS },
	{ "<perf, root", PERF_HOOKS_ROOT },
	{ "<paranoid 1", PERF_HOOKS | PERF_HOOKS_KERNEL },
	{ "<perf, user", PERF_HOOKS },
};

#define NR_SOURCES (sizeof(sources) / sizeof(*sources))

/* Parts and classes that need a hook, "" if none, or if all need it. */
static void doctor_list_uses(char *text, size_t size, enum bpf_hook hook)
{
	const char *separator = "";
	enum fault_class class;
	enum part part;
	size_t used = 0;

	text[0] = '\0';
	if (hook == HOOK_FAULT)
		return;
	for (part = 0; part < NR_PARTS; part++)
		if (part_rows[part].hooks & 1U << hook && used < size) {
			used += snprintf(text + used, size - used, "%s%s", separator,
					 part_name(part));
			separator = ", ";
		}
	for (class = FAULT_FIRST_OTHER; class < NR_FAULT_CLASSES; class++)
		if (fault_classes[class].hooks & 1U << hook && used < size) {
			used += snprintf(text + used, size - used, "%s%s", separator,
					 fault_class_name(class));
			separator = ", ";
		}
}

static void doctor_add_row(struct grid *grid, const char *figure, uint32_t hooks, const char *uses)
{
	size_t i;

	grid_row(grid);
	grid_cell(grid, "%s", figure);
	for (i = 0; i < NR_SOURCES; i++)
		grid_cell(grid, "%s", sources[i].hooks & hooks ? "yes" : "-");
	grid_cell(grid, "%s", uses);
}

int doctor_print_sources(FILE *out)
{
	const char *headings[NR_SOURCES + 2] = { "<Figure" };
	struct grid grid;
	enum bpf_hook hook;
	char uses[256];
	size_t i;

	for (i = 0; i < NR_SOURCES; i++)
		headings[i + 1] = sources[i].heading;
	headings[i + 1] = "<Needed by";
	grid_open(&grid, headings, NR_SOURCES + 2);
	/* Not a hook: eBPF, or the module, has the calls. */
	doctor_add_row(&grid, "calls of file operations", BPF_HOOKS & ~PERF_HOOKS_ROOT,
		       part_name(PART_MM));
	for (hook = 0; hook < HOOK_PERF; hook++) {
		doctor_list_uses(uses, sizeof(uses), hook);
		doctor_add_row(&grid, shows[hook], 1U << hook, uses);
	}
	return grid_close(&grid, out);
}
