// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes memory pressure for a run: a cgroup with a limit, and competing processes in it. Reads the
 * kernel's counters before and after, and checks first whether memory and swap suffice.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/meminfo.h"
#include "bench/pressure/pressure.h"
#include "util/message.h"
#include "util/page_size.h"
#include "util/signals.h"
#include "util/why.h"

#define MIB	      (1024.0 * 1024)
#define PROCESS_PAGES 192.0
#define ENTRY_BYTES   8.0 /* page table size */

static uint64_t pressure_bytes_of(uint64_t number, uint32_t unit)
{
	return number * unit;
}

/* Whole pages, one at least. */
static uint64_t pressure_size_of_each(const struct compete_options *options, uint64_t memory)
{
	uint64_t bytes = options->bytes ?: (uint64_t)(options->ratio * memory);

	return bytes < page_size() ? page_size() : bytes / page_size() * page_size();
}

static void pressure_plan(struct pressure *pressure, const struct sysinfo *info)
{
	const struct compete_options *options = pressure->options;
	struct competition *competition = &pressure->competition;
	uint64_t memory = pressure_bytes_of(info->totalram, info->mem_unit);

	competition->limit = COUNT_NA;
	if (!options->unsafe) {
		memory = options->limit ?: COMPETE_LIMIT;
		competition->limit = memory;
	}
	competition->bytes = pressure_size_of_each(options, memory);
	competition->random = !options->sequential;
	competition->nr = options->nr ?: 1;
	competition->swap_bytes = pressure_bytes_of(info->totalswap, info->mem_unit);
}

/*
 * Memory a process needs in the cgroup: the buffer, twice the page table entries, and the pages the
 * process writes in the program and the libraries. Measured with 4 KiB pages: 0.3 to 0.6 MiB, or 77
 * to 154 pages, more than the buffer. The rest is for pages charged to the cgroup in advance, up to
 * 64 per CPU.
 */
static double pressure_process_bytes(uint64_t buffer)
{
	const double page = page_size();

	return (double)buffer + buffer / page * 2 * ENTRY_BYTES + PROCESS_PAGES * page;
}

static double pressure_memory_of(const struct competition *competition, const struct sysinfo *info)
{
	struct meminfo meminfo;
	uint64_t memory;

	meminfo_read(&meminfo);
	memory = meminfo.available == COUNT_NA ? pressure_bytes_of(info->freeram, info->mem_unit) :
						 meminfo.available * 1024;
	/* No limit is COUNT_NA, the largest number. */
	return competition->limit < memory ? competition->limit : memory;
}

/* Why the processes and the file do not fit. */
static int pressure_report_room(const struct pressure *pressure, double processes, double memory,
				double swap)
{
	const struct compete_options *options = pressure->options;
	struct why why = { "" };

	if (!options->bytes)
		why_set(&why,
			": --compete %g is a ratio, %g times the %s, and a size "
			"has a unit (%gM)",
			options->ratio, options->ratio,
			options->unsafe ? "machine's memory" : "limit", options->ratio);
	else if (processes <= memory)
		why_set(&why, ": the kernel could evict only file pages");
	return message(STATUS_FAILED,
		       "--compete: cannot fit %.1f MiB of processes and %.1f MiB of "
		       "file into %.1f MiB of memory and %.1f MiB of free swap%s; add swap "
		       "(swapon), or compete for less",
		       processes / MIB, pressure->file_bytes / MIB, memory / MIB, swap / MIB,
		       why.text);
}

/*
 * Swap must hold the excess over the memory, up to the size of all processes. Otherwise the kernel
 * kills a process, or evicts the few file pages again and again for minutes.
 */
static int pressure_check_room(const struct pressure *pressure, const struct sysinfo *info)
{
	const struct competition *competition = &pressure->competition;
	const double swap = (double)pressure_bytes_of(info->freeswap, info->mem_unit);
	const double memory = pressure_memory_of(competition, info);
	const double processes = pressure_process_bytes(pressure->bytes) +
				 pressure_process_bytes(competition->bytes) * competition->nr;
	const double excess = processes + pressure->file_bytes - memory;

	if (fmin(excess, processes) <= swap)
		return STATUS_OK;
	return pressure_report_room(pressure, processes, memory, swap);
}

static int pressure_start_all(struct pressure *pressure)
{
	const struct competition *competition = &pressure->competition;
	struct competitor_plan each = {
		.bytes = competition->bytes,
		.random = competition->random,
		.cpus = pressure->cpus,
	};
	unsigned int i;
	int err;

	for (i = 0; i < competition->nr; i++) {
		each.number = i + 1;
		err = competitor_start(&pressure->competitors[i], &each);
		pressure->pids[i] = pressure->competitors[i].pid;
		if (err)
			return message(STATUS_FAILED, "cannot start a competitor: %s",
				       strerror(-err));
	}
	return STATUS_OK;
}

static int pressure_enter(struct run_load *load)
{
	struct pressure *pressure = (struct pressure *)load;
	struct sysinfo info;
	struct why why;
	int status;

	if (sysinfo(&info))
		return message(STATUS_FAILED, "cannot read the memory size: %s", strerror(errno));
	pressure_plan(pressure, &info);
	status = pressure_check_room(pressure, &info);
	if (status)
		return status;
	if (!pressure->options->unsafe &&
	    memory_cgroup_enter(&pressure->group, pressure->competition.limit,
				"use --unsafe to compete without a limit", &why))
		return message(STATUS_FAILED, "--compete: %s", why.text);
	return pressure->alone ? STATUS_OK : pressure_start_all(pressure);
}

static int pressure_report_end(unsigned int number, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return message(
			STATUS_FAILED,
			"competitor %u was killed, probably because memory and swap are full; add "
			"swap, or use a smaller --compete",
			number);
	return message(STATUS_FAILED, "competitor %u ended unexpectedly, with %s %d; report a bug",
		       number, WIFSIGNALED(status) ? "signal" : "status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* A NULL file does not exist. */
static void pressure_read_file(FILE *file, enum competition_file which, uint64_t *counts)
{
	competition_read(file, which, counts);
	if (file)
		fclose(file);
}

static void pressure_read_counts(const struct pressure *pressure, uint64_t *counts)
{
	const struct memory_cgroup *group = &pressure->group;

	pressure_read_file(memory_cgroup_open(group, "memory.stat"), COMPETITION_MEMORY_STAT,
			   counts);
	pressure_read_file(memory_cgroup_open(group, "memory.events"), COMPETITION_MEMORY_EVENTS,
			   counts);
	pressure_read_file(fopen("/proc/vmstat", "re"), COMPETITION_VMSTAT, counts);
}

static unsigned int pressure_nr_processes(const struct pressure *pressure)
{
	return pressure->alone ? 0 : pressure->competition.nr;
}

static void pressure_go(struct run_load *load)
{
	const struct pressure *pressure = (const struct pressure *)load;
	unsigned int i;

	for (i = 0; i < pressure_nr_processes(pressure); i++)
		competitor_go(&pressure->competitors[i]);
}

static int pressure_begin(struct run_load *load)
{
	struct pressure *pressure = (struct pressure *)load;
	unsigned int i;
	int err, status;

	pressure_go(load);
	for (i = 0; i < pressure_nr_processes(pressure); i++) {
		err = competitor_await(&pressure->competitors[i], &signals_caught, &status);
		if (err == -EINTR)
			return 128 + signals_caught;
		if (err)
			return pressure_report_end(i + 1, status);
	}
	for (i = 0; i < pressure_nr_processes(pressure); i++)
		competitor_read(&pressure->competitors[i], &pressure->competition.competitors[i]);
	pressure_read_counts(pressure, pressure->before);
	return STATUS_OK;
}

static uint64_t pressure_difference(uint64_t after, uint64_t before)
{
	return after == COUNT_NA || before == COUNT_NA ? COUNT_NA : after - before;
}

static void pressure_fill_competitor(struct competitor_figures *figures,
				     const struct competitor *competitor)
{
	struct competitor_figures after;

	competitor_read(competitor, &after);
	figures->minflt = pressure_difference(after.minflt, figures->minflt);
	figures->majflt = pressure_difference(after.majflt, figures->majflt);
	figures->accesses = after.accesses - figures->accesses;
}

static int pressure_end(struct run_load *load)
{
	struct pressure *pressure = (struct pressure *)load;
	struct competition *competition = &pressure->competition;
	uint64_t after[NR_COMPETITION_FIGURES];
	unsigned int i;
	int status;

	for (i = 0; i < pressure_nr_processes(pressure); i++)
		if (competitor_pause(&pressure->competitors[i], &status))
			return pressure_report_end(i + 1, status);
	for (i = 0; i < pressure_nr_processes(pressure); i++)
		pressure_fill_competitor(&competition->competitors[i], &pressure->competitors[i]);
	pressure_read_counts(pressure, after);
	competition_between(pressure->before, after, &competition->with);
	return STATUS_OK;
}

int pressure_close(struct pressure *pressure)
{
	unsigned int i;
	char path[sizeof(pressure->group.path)];
	int err;

	for (i = 0; i < COMPETITORS_MAX; i++)
		competitor_stop(&pressure->competitors[i]);
	strcpy(path, pressure->group.path);
	err = memory_cgroup_leave(&pressure->group);
	return err ? message(STATUS_FAILED, "cannot leave and remove the cgroup %s: %s", path,
			     strerror(-err)) :
		     STATUS_OK;
}

static int pressure_close_load(struct run_load *load)
{
	return pressure_close((struct pressure *)load);
}

void pressure_init(struct pressure *pressure, const struct compete_options *options, bool alone)
{
	unsigned int i;

	*pressure = (struct pressure){
		.load = {
			.enter = pressure_enter,
			.begin = pressure_begin,
			.go = pressure_go,
			.end = pressure_end,
			.close = pressure_close_load,
		},
		.options = options,
		.alone = alone,
		.group = MEMORY_GROUP_NONE,
	};
	for (i = 0; i < COMPETITORS_MAX; i++)
		pressure->competitors[i] = COMPETITOR_NONE;
	competition_side_init(&pressure->competition.alone);
	competition_side_init(&pressure->competition.with);
}
