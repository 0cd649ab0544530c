// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the machine before the first row: CPUs, rate of the CPU's counter, memory, caches
 * (hwloc) and power settings, from /proc, /sys and the CPU. Unknown values stay empty, and only
 * missing CPUs are an error.
 */
#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/bench_machine.h"
#include "system/cgroups.h"
#include "system/machine.h"
#include "util/array.h"
#include "util/counter.h"
#include "util/time_ns.h"

#define CALIBRATION_NS 50000000L
#define READINGS       100
#define CPUFREQ	       "/sys/devices/system/cpu/cpu%d/cpufreq/%s"

/* The first word in a file, or "" if the file cannot be read. */
static void bench_machine_read_word(const char *path, char *word, size_t size)
{
	FILE *file = fopen(path, "re");

	word[0] = '\0';
	if (!file)
		return;
	if (!fgets(word, size, file))
		word[0] = '\0';
	word[strcspn(word, " \n")] = '\0';
	fclose(file);
}

static void read_frequency(struct bench_machine_state *state, int cpu)
{
	char path[96], word[32];

	snprintf(path, sizeof(path), CPUFREQ, cpu, "scaling_governor");
	bench_machine_read_word(path, state->governor, sizeof(state->governor));
	snprintf(path, sizeof(path), CPUFREQ, cpu, "scaling_cur_freq");
	bench_machine_read_word(path, word, sizeof(word));
	state->frequency_khz = strtoull(word, NULL, 10);
}

/* The switch depends on the driver: acpi-cpufreq has boost, intel_pstate has no_turbo. */
static void read_turbo(struct bench_machine_state *state)
{
	char word[8];

	bench_machine_read_word("/sys/devices/system/cpu/cpufreq/boost", word, sizeof(word));
	if (word[0]) {
		strcpy(state->turbo, word[0] == '1' ? "on" : "off");
		return;
	}
	bench_machine_read_word("/sys/devices/system/cpu/intel_pstate/no_turbo", word,
				sizeof(word));
	if (word[0])
		strcpy(state->turbo, word[0] == '0' ? "on" : "off");
}

/* Reads both clocks at one moment, using the shortest of several readings. */
static void read_both(uint64_t *ns, uint64_t *cycles)
{
	uint64_t before, after, now, least = UINT64_MAX;
	int i;

	for (i = 0; i < READINGS; i++) {
		before = counter_read();
		now = clock_monotonic_ns();
		after = counter_read();
		if (after - before >= least)
			continue;
		least = after - before;
		*ns = now;
		*cycles = before + least / 2;
	}
}

static double measure_cycle_ns(void)
{
	const struct timespec wait = { .tv_nsec = CALIBRATION_NS };
	uint64_t start_ns = 0, start = 0, end_ns = 0, end = 0;

	read_both(&start_ns, &start);
	nanosleep(&wait, NULL);
	read_both(&end_ns, &end);
	return end > start ? (double)(end_ns - start_ns) / (end - start) : NAN;
}

/* MemAvailable, or 0 if n/a. */
static uint64_t bench_machine_read_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kilobytes = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64 " kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

/* A quarter of memory, or half the available memory if that is less. */
static uint64_t bench_machine_room(uint64_t memory_bytes, uint64_t available_bytes)
{
	const uint64_t room = memory_bytes / 4;

	return available_bytes && available_bytes / 2 < room ? available_bytes / 2 : room;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * File pages may fill the memory cgroup up to its limit, or up to the limit in file.cache_size with
 * --quick.
 */
static void bench_machine_read_memory(struct bench_machine *machine,
				      const struct bench_options *options)
{
	const uint64_t available = bench_machine_read_available();

	machine->limit_bytes = bench_machine_room(machine->memory_bytes, available);
	machine->available_bytes = least(available, memory_cgroup_limit());
	if (options->quick)
		machine->available_bytes = least(machine->available_bytes, FILECACHE_QUICK_BYTES);
}

static int bench_machine_choose_cpu(struct bench_machine *machine, int wanted)
{
	int cpu, err = cpus_read(&machine->cpus);

	if (err)
		return err;
	machine->nr_cpus = cpus_count(&machine->cpus);
	machine->cpu = wanted;
	if (wanted >= 0)
		return cpus_has(&machine->cpus, wanted) ? 0 : -EINVAL;
	/* The last one: the first CPU handles most interrupts. */
	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpus_has(&machine->cpus, cpu))
			machine->cpu = cpu;
	return 0;
}

static void bench_machine_read_levels(struct bench_machine *machine, hwloc_topology_t topology)
{
	static const hwloc_obj_type_t levels[] = { HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
						   HWLOC_OBJ_L3CACHE };
	hwloc_obj_t cpu = hwloc_get_pu_obj_by_os_index(topology, machine->cpu), cache;
	size_t i;

	for (i = 0; cpu && i < ARRAY_SIZE(levels); i++) {
		cache = hwloc_get_ancestor_obj_by_type(topology, levels[i], cpu);
		if (!cache)
			continue;
		machine->cache_bytes[i] = cache->attr->cache.size;
		if (!machine->line_bytes)
			machine->line_bytes = cache->attr->cache.linesize;
	}
}

static void bench_machine_read_caches(struct bench_machine *machine,
				      struct bench_machine_state *state)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology)) {
		why_set(&state->caches_missing, "hwloc is out of memory");
		return;
	}
	if (hwloc_topology_load(topology))
		why_set(&state->caches_missing, "hwloc cannot read the topology");
	else
		bench_machine_read_levels(machine, topology);
	hwloc_topology_destroy(topology);
	if (!state->caches_missing.text[0] && !machine->cache_bytes[0])
		why_set(&state->caches_missing, "hwloc reports no caches");
}

int bench_machine_read(struct bench_machine *machine, struct bench_machine_state *state,
		       const struct bench_options *options)
{
	int err;

	*machine = (struct bench_machine){ .cycle_ns = NAN };
	*state = (struct bench_machine_state){ .load = NAN };
	err = bench_machine_choose_cpu(machine, options->cpu);
	if (err)
		return err;
	machine_state_read(&state->environment);
	if (getloadavg(&state->load, 1) != 1)
		state->load = NAN;
	if (cpu_identity_counter_is_readable())
		machine->cycle_ns = measure_cycle_ns();
	state->tsc_invariant = cpu_identity_counter_is_constant();
	machine->memory_bytes = state->environment.memory_bytes;
	bench_machine_read_memory(machine, options);
	bench_machine_read_caches(machine, state);
	read_frequency(state, machine->cpu);
	read_turbo(state);
	return 0;
}
