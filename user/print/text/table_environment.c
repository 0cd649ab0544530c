// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines above all tables: machine, kernel, file or command, cache, time. All values come from
 * the report. Unknown ones print as n/a.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "print/text/table.h"
#include "util/array.h"
#include "util/grid.h"

#define TEXT_WIDTH  84 /* text width, without the line names */
#define LEAST_STILL 0.01

static const char *known(const char *text)
{
	return text && *text ? text : "n/a";
}

/* Units of 1024 bytes, as in the sizes accepted by pfdrive. */
static const char *size_text(uint64_t bytes, char *text, size_t length)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double size = bytes;
	size_t unit = 0;

	while (size >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		size /= 1024;
		unit++;
	}
	snprintf(text, length, "%.*f %s", size == (uint64_t)size ? 0 : 1, size, units[unit]);
	return text;
}

static const char *time_text(uint64_t ns, char *text, size_t length)
{
	if (ns == COUNT_NA)
		return "n/a";
	snprintf(text, length, "%.3f ms", ns / 1e6);
	return text;
}

static void env_line(struct grid *grid, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void env_line(struct grid *grid, const char *name, const char *format, ...)
{
	const char *rest;
	char text[8192];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	grid_row(grid);
	grid_cell(grid, "%s", name);
	rest = grid_text(grid, TEXT_WIDTH, text);
	while (*rest) {
		grid_row(grid);
		grid_cell(grid, "%s", "");
		rest = grid_text(grid, TEXT_WIDTH, rest);
	}
}

/* A slow counter is part of every duration's precision, so the tick is stated. */
static void clock_tick(const struct environment *e, char *text, size_t size)
{
	text[0] = '\0';
	if (e->counter_hz && !strcmp(e->clocksource, "arch_sys_counter"))
		snprintf(text, size, ", %.4g MHz: a tick is %.3g ns", e->counter_hz / 1e6,
			 1e9 / e->counter_hz);
}

static void machine_lines(struct grid *grid, const struct environment *e)
{
	char cpus[32] = "CPUs n/a", memory[32] = "memory n/a", tick[64];
	char pages[48] = "";

	if (e->cpus)
		snprintf(cpus, sizeof(cpus), "%u CPU%s", e->cpus, e->cpus == 1 ? "" : "s");
	if (e->memory_bytes)
		size_text(e->memory_bytes, memory, sizeof(memory));
	env_line(grid, "Machine", "%s; %s, %s; virtualization: %s", known(e->machine), cpus, memory,
		 known(e->virtualization));
	clock_tick(e, tick, sizeof(tick));
	if (e->page_bytes && e->page_bytes != ENVIRONMENT_PAGE_BYTES)
		snprintf(pages, sizeof(pages), "; pages of %" PRIu64 " KiB", e->page_bytes / 1024);
	env_line(grid, "Kernel", "%s%s; clock source: %s%s", known(e->kernel), pages,
		 known(e->clocksource), tick);
}

static void file_lines(struct grid *grid, const struct environment *e)
{
	char size[32], readahead[32] = "n/a", resident[32] = "n/a";

	env_line(grid, "File", "%s", known(e->file));
	env_line(grid, "", "%s, %" PRIu64 " pages; %s on %s",
		 size_text(e->file_bytes, size, sizeof(size)), e->file_pages, known(e->filesystem),
		 known(e->device));
	if (e->readahead_bytes >= 0)
		size_text(e->readahead_bytes, readahead, sizeof(readahead));
	if (e->resident_pages != COUNT_NA)
		snprintf(resident, sizeof(resident), "%" PRIu64, e->resident_pages);
	env_line(grid, "Cache", "%s: %s of %" PRIu64 " pages resident before; read-ahead %s",
		 known(e->cache), resident, e->file_pages, readahead);
}

/* Prints nothing for the default, a shared mapping that is only read. */
static void memory_line(struct grid *grid, const struct environment *e)
{
	const bool to_file = !strncmp(e->map, "shared", strlen("shared"));
	const bool anon = !strcmp(e->backing, "anonymous");
	char stores[96] = "no stores";

	if (e->fill[0] || e->store_share > 0)
		snprintf(stores, sizeof(stores), "%s%.4g %% of the accesses store, to %s",
			 e->fill[0] ? "memset and msync first; " : "", 100 * e->store_share,
			 to_file ? "the file itself" :
			 anon	 ? "it" :
				   "private page copies");
	if (strcmp(e->map, "shared") || e->fill[0] || e->store_share > 0)
		env_line(grid, "Mapping", "%s; %s", known(e->map), stores);
}

static void anonymous_lines(struct grid *grid, const struct environment *e)
{
	char size[32];

	env_line(grid, "Memory", "%s, %" PRIu64 " pages, anonymous; transparent huge pages: %s",
		 size_text(e->file_bytes, size, sizeof(size)), e->file_pages,
		 known(e->transparent_hugepage));
}

static void access_line(struct grid *grid, const struct report *run)
{
	const struct environment *e = &run->environment;
	char cpu[32] = "not pinned", took[32];

	if (e->pinned_cpu >= 0)
		snprintf(cpu, sizeof(cpu), "on CPU %d", e->pinned_cpu);
	env_line(grid, "Accesses", "%s: %" PRIu64 " in %s, seed %" PRIu64 ", %s", known(e->pattern),
		 e->accesses, time_text(run->time.elapsed_ns, took, sizeof(took)), e->seed, cpu);
}

/* Rounds up: a limit of that size would not have been met. */
static void limit_line(struct grid *grid, const struct report_memory *memory)
{
	const double limit = memory->limit / 0x1p20, peak = ceil(memory->peak / 0x1p20 * 10) / 10;

	if (memory->limit == COUNT_NA || memory->peak == COUNT_NA)
		return;
	if (peak < limit)
		env_line(grid, "Memory limit",
			 "%.1f MiB; at most %.1f MiB were used, so %.1f MiB would have done", limit,
			 peak, peak);
	else
		env_line(grid, "Memory limit", "%.1f MiB, and all of it was used", limit);
}

static void cpu_limit_line(struct grid *grid, const struct cgroup_cpu_limit *cpu)
{
	char quota[64] = "changed meanwhile", held[96] = "";

	if (cpu->throttled == COUNT_NA || !cpu->throttled || cpu->periods == COUNT_NA)
		return;
	if (cpu->quota_ns != COUNT_NA && cpu->period_ns != COUNT_NA)
		snprintf(quota, sizeof(quota), "%.10g ms of %.10g ms", cpu->quota_ns / 1e6,
			 cpu->period_ns / 1e6);
	if (cpu->throttled_ns != COUNT_NA)
		snprintf(held, sizeof(held),
			 ", and the cgroup was held back for %.3f s, summed over CPUs",
			 cpu->throttled_ns / 1e9);
	env_line(grid, "CPU limit",
		 "cpu.max of %s (%s): used up in %" PRIu64 " of %" PRIu64 " periods%s", cpu->path,
		 quota, cpu->throttled, cpu->periods, held);
}

static void memory_events_line(struct grid *grid, const struct cgroup_memory_limit *memory)
{
	char high[128] = "", max[64] = "", killed[64] = "", size[32], bytes[48] = "";

	if (memory->high_bytes != COUNT_NA)
		snprintf(bytes, sizeof(bytes), " (%s)",
			 size_text(memory->high_bytes, size, sizeof(size)));
	if (memory->high != COUNT_NA && memory->high)
		snprintf(high, sizeof(high), ", memory.high%s exceeded %" PRIu64 " times", bytes,
			 memory->high);
	if (memory->max != COUNT_NA && memory->max)
		snprintf(max, sizeof(max), ", memory.max met %" PRIu64 " times", memory->max);
	if (memory->oom_kill != COUNT_NA && memory->oom_kill)
		snprintf(killed, sizeof(killed), ", processes killed for memory: %" PRIu64,
			 memory->oom_kill);
	if (memory->path[0])
		env_line(grid, "Memory events", "of %s%s%s%s", memory->path, high, max, killed);
}

/* Omits times below 1 % of the run. */
static void stood_still_line(struct grid *grid, const struct report *run)
{
	static const struct {
		const char *what, *file;
	} rows[] = { { "memory", "memory.pressure" }, { "a CPU", "cpu.pressure" } };
	const uint64_t full_ns[] = { run->cgroup.pressure.memory_full_ns,
				     run->cgroup.pressure.cpu_full_ns };
	const char *separator = "";
	char text[192] = "";
	size_t i, used;

	if (run->time.elapsed_ns == COUNT_NA)
		return;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (full_ns[i] == COUNT_NA || !full_ns[i] ||
		    full_ns[i] < run->time.elapsed_ns * LEAST_STILL)
			continue;
		used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s %s for %.3f s (%s, full)", separator,
			 rows[i].what, full_ns[i] / 1e9, rows[i].file);
		separator = ", for";
	}
	if (text[0])
		env_line(grid, "Stood still",
			 "all threads of the cgroup %s that had work waited at once for%s",
			 run->cgroup.path, text);
}

static void watched_lines(struct grid *grid, const struct report *run)
{
	const struct environment *e = &run->environment;
	char took[32];

	if (e->command[0])
		env_line(grid, "Command", "%s", e->command);
	else if (e->pid)
		env_line(grid, "Process", "%" PRIu32, e->pid);
	else if (e->cgroup[0])
		env_line(grid, "Cgroup", "%s", e->cgroup);
	limit_line(grid, &run->memory);
	memory_events_line(grid, &run->cgroup.memory);
	cpu_limit_line(grid, &run->cgroup.cpu);
	stood_still_line(grid, run);
	if (e->only_file[0])
		env_line(grid, "Only file", "%s", e->only_file);
	env_line(grid, "Watched", "for %s", time_text(run->time.elapsed_ns, took, sizeof(took)));
}

static void instrument_lines(struct grid *grid, const struct environment *e)
{
	char around[32] = "size n/a";

	if (e->fault_around_bytes)
		size_text(e->fault_around_bytes, around, sizeof(around));
	if (e->fault_around)
		env_line(grid, "Fault-around", "on (%s)", around);
	else
		env_line(grid, "Fault-around", "off: each page faults separately");
}

/* What record --exact changed, and what it did not reach. */
static void exact_lines(struct grid *grid, const struct report *run)
{
	const struct exact_reach *reach = &run->exact;
	const uint64_t starts = run->evidence.execs;
	char size[32];

	if (!run->environment.exact || reach->programs == COUNT_NA)
		return;
	env_line(grid, "Exact",
		 "each first touch of a file page is a fault: more faults, and fewer pages mapped "
		 "by each; %" PRIu64 " read-only shared mapping%s made private",
		 reach->made_private, reach->made_private == 1 ? "" : "s");
	env_line(grid, "Not exact",
		 "%" PRIu64 " of %" PRIu64 " program starts; %" PRIu64
		 " file mappings (%s) found at the exits of %" PRIu64 " programs; %" PRIu64
		 " processes without userfaultfd",
		 starts > reach->programs ? starts - reach->programs : 0, starts,
		 reach->not_reached, size_text(reach->not_reached_bytes, size, sizeof(size)),
		 reach->checked, reach->no_userfaultfd);
}

static void perf_lines(struct grid *grid, const struct report *run, const char *added)
{
	env_line(grid, "Source",
		 "perf: whole faults, on and off the CPU%s; adds %s to a fault, about half to its "
		 "time",
		 view_has_hook(run, HOOK_RECLAIM) ? ", and reclaim" : "", added);
	env_line(grid, "Not seen", "file operation calls, disk requests, get_user_pages()%s%s",
		 view_has_hook(run, HOOK_WAIT_STACK) ? "" : ", sleep reasons",
		 run->bpf.user_only ? ", and faults in system calls (kernel.perf_event_paranoid is "
				      "above 1)" :
				      "");
	if (run->bpf.waits_missing[0])
		env_line(grid, "Sleep reasons", "n/a: %s", run->bpf.waits_missing);
	if (run->bpf.missing[0])
		env_line(grid, "No eBPF", "%s", run->bpf.missing);
}

/* The cost comes from the calibration before the run. */
static void source_line(struct grid *grid, const struct report *run)
{
	const struct own_cost cost = view_own_cost(run);
	const bool bpf = view_source_is_bpf(run);
	const bool perf = view_source_is_perf(run);
	const double added_ns = perf ? cost.other_ns : bpf ? cost.hooked_ns : cost.call_ns;
	char added[64] = "n/a";

	if (!isnan(added_ns))
		snprintf(added, sizeof(added), "%.0f ns", added_ns);
	if (perf)
		perf_lines(grid, run, added);
	else if (bpf)
		env_line(grid, "Source", "eBPF, without the pfstat module; adds %s to a fault",
			 added);
	else
		env_line(grid, "Source", "the pfstat module; adds %s to a call", added);
}

static void recorded_line(struct grid *grid, const struct environment *e)
{
	const time_t started = e->started_s;
	char text[64];
	struct tm utc;

	if (!started || !gmtime_r(&started, &utc))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
	env_line(grid, "Recorded", "%s, by pfdrive %s", text, known(e->version));
}

int table_environment(FILE *out, const struct report *run)
{
	static const char *const headings[] = { "<", "<" };
	struct grid grid;

	grid_open(&grid, headings, 2);
	grid.no_headings = true;
	machine_lines(&grid, &run->environment);
	recorded_line(&grid, &run->environment);
	source_line(&grid, run);
	if (view_is_drive(run)) {
		if (strcmp(run->environment.backing, "anonymous"))
			file_lines(&grid, &run->environment);
		else
			anonymous_lines(&grid, &run->environment);
		memory_line(&grid, &run->environment);
		access_line(&grid, run);
	} else {
		watched_lines(&grid, run);
	}
	if (strcmp(run->environment.backing, "anonymous"))
		instrument_lines(&grid, &run->environment);
	exact_lines(&grid, run);
	return grid_close(&grid, out);
}
