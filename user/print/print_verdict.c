// SPDX-License-Identifier: GPL-2.0-only
/* Prints a verdict as sentences, for the text, HTML and live reports. */
#include <inttypes.h>
#include <string.h>

#include "print/print_verdict.h"
#include "print/standstill_text.h"

#define CPU_SHARE 2 /* times the share of the run: the threads waited for long outside faults */

/* Prints a name on one line. The name may come from a recording. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name < ' ' ? '?' : *name, out);
}

static void print_share_of(FILE *out, const char *what, const char *name, uint64_t ns,
			   uint64_t all_ns)
{
	fprintf(out, "; %s ", what);
	print_name(out, name);
	fprintf(out, " %.0f %%", 100.0 * ns / all_ns);
}

/* The kernel's file for MAP_HUGETLB without a file has a name that says little. */
static const char *verdict_place_name(const struct group *group)
{
	return strncmp(group->name, "/anon_hugepage", 14) ? group->name : "(anonymous huge pages)";
}

static void print_place(FILE *out, const char *what, const struct group *group, uint64_t all_ns)
{
	/* Among many equal threads each has next to nothing. */
	if (group && 100 * group->total_ns >= all_ns)
		print_share_of(out, what, verdict_place_name(group), group->total_ns, all_ns);
}

/* The row for faults outside a process's known mappings. */
static bool is_unmapped(const struct group *place)
{
	return !place->inode && !place->address && place->pid;
}

/* perf, which reports mappings to all sources, does not report what mremap() moves or extends. */
static void print_unmapped(FILE *out, const struct group *place, uint64_t all_ns)
{
	if (100 * place->total_ns >= all_ns)
		fprintf(out,
			"; memory of %" PRIu32 " without a known mapping (most likely of "
			"mremap()) %.0f %%",
			place->pid, 100.0 * place->total_ns / all_ns);
}

static void print_places(FILE *out, const struct verdict *verdict, const struct report *run)
{
	const uint64_t all_ns = run->faults.all.whole.total_ns;

	if (!all_ns)
		return;
	fprintf(out, "Most of it: class %s %.0f %%", fault_class_name(verdict->class),
		100 * verdict->class_share);
	if (verdict->place && verdict->place->inode)
		print_place(out, "file", verdict->place, all_ns);
	else if (verdict->place && is_unmapped(verdict->place))
		print_unmapped(out, verdict->place, all_ns);
	else if (verdict->place)
		print_place(out, verdict->place->address ? "mapping" : "file", verdict->place,
			    all_ns);
	print_place(out, "thread", verdict->thread, all_ns);
	if (verdict->code.name[0])
		print_share_of(out, "code", verdict->code.name, verdict->code.total_ns, all_ns);
	fputs(".\n", out);
}

static void print_share(FILE *out, const struct verdict *verdict, const struct report *run)
{
	const uint64_t all_ns = run->faults.all.whole.total_ns;
	char wall[VERDICT_SPAN], all[VERDICT_SPAN], cpu[VERDICT_SPAN];

	fprintf(out,
		"Page faults were in progress for %s%.*f %% of the run (%s): %" PRIu64
		" fault%s took %s",
		verdict->at_least ? "at least " : "", verdict->share < 0.1 ? 1 : 0,
		100 * verdict->share, verdict_span(wall, verdict->wall_ns), run->faults.all.count,
		run->faults.all.count == 1 ? "" : "s", verdict_span(all, all_ns));
	/* Faults in several threads overlap. */
	if (all_ns > 1.1 * verdict->busy_ns)
		fputs(" of the threads' time", out);
	fputs(".\n", out);
	if (verdict->cpu_share >= VERDICT_WRONG_SHARE &&
	    verdict->cpu_share >= CPU_SHARE * verdict->share)
		fprintf(out, "Page faults took %s%.*f %% of the CPU time that the run got (%s).\n",
			verdict->at_least ? "at least " : "", verdict->cpu_share < 0.1 ? 1 : 0,
			100 * verdict->cpu_share, verdict_span(cpu, verdict->cpu_ns));
}

void print_verdict(FILE *out, const struct verdict *verdict, const struct report *run)
{
	const struct verdict_cause *cause;
	size_t i;

	if (!verdict->known) {
		fputs("No verdict: the duration of the run is not known.\n", out);
		return;
	}
	print_share(out, verdict, run);
	standstill_text_verdict(out, run, verdict->wall_ns);
	if (!verdict->small)
		print_places(out, verdict, run);
	for (i = 0; i < verdict->nr_causes; i++) {
		cause = &verdict->causes[i];
		fputs(cause->certain ? "Cause: " : "Not certain: ", out);
		print_name(out, cause->text);
		fputs(cause->certain ? "\nTry: " : "\nMeasure next: ", out);
		print_name(out, cause->remedy);
		fputc('\n', out);
	}
}
