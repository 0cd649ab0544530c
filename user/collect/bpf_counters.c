// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the maps in which eBPF counts, sums them over the CPUs, and sorts rows by their weight.
 * The counters go to the ledger and into recordings.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "collect/bpf_programs.h"

int bpf_counters_next_key(int fd, const void *before, void *key)
{
	int err = bpf_map_get_next_key(fd, before, key);

	if (err == -ENOENT)
		return 0;
	return err ? err : 1;
}

/* A whole array map at once: `values` has `nr` values for each CPU. */
static int bpf_read_array(int fd, __u32 nr, void *values)
{
	__u32 found = nr, last, *keys = calloc(nr, sizeof(*keys));
	int err;

	if (!keys)
		return -ENOMEM;
	err = bpf_map_lookup_batch(fd, NULL, &last, keys, values, &found, NULL);
	free(keys);
	return err;
}

/* The sums over an array map whose values are `width` numbers on each CPU. */
static int bpf_read_sums(int fd, size_t nr, size_t width, uint64_t *sums)
{
	int nr_cpus = libbpf_num_possible_cpus();
	uint64_t *values;
	size_t i;
	int err;

	if (nr_cpus < 0)
		return nr_cpus;
	values = calloc(nr * nr_cpus * width, sizeof(*values));
	if (!values)
		return -ENOMEM;
	err = bpf_read_array(fd, nr, values);
	memset(sums, 0, nr * width * sizeof(*sums));
	for (i = 0; i < nr * nr_cpus * width; i++)
		sums[i / (nr_cpus * width) * width + i % width] += values[i];
	free(values);
	return err;
}

static int bpf_read_faults(const struct event_maps *maps, struct pfstat_fault_value *faults)
{
	return bpf_read_sums(maps->faults, PFSTAT_NR_FAULT_INDICES,
			     sizeof(*faults) / sizeof(uint64_t), (uint64_t *)faults);
}

static void syscall_add_value(struct pfstat_syscall_value *sum,
			      const struct pfstat_syscall_value *value)
{
	unsigned int i;

	sum->count += value->count;
	sum->total_ns += value->total_ns;
	for (i = 0; i < PFSTAT_SYSCALL_BUCKETS; i++)
		sum->log2_ns[i] += value->log2_ns[i];
}

static int syscall_rows_compare(const void *a, const void *b)
{
	const struct syscall_row *left = a, *right = b;

	if (left->value.total_ns != right->value.total_ns)
		return left->value.total_ns < right->value.total_ns ? 1 : -1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* One more row, summed over the CPUs' values. */
static int syscall_row_append(struct syscall_row **rows, size_t *nr_rows,
			      const struct pfstat_syscall_key *key,
			      const struct pfstat_syscall_value *values, int nr_cpus)
{
	struct syscall_row *grown = reallocarray(*rows, *nr_rows + 1, sizeof(**rows));
	struct syscall_row *row;
	int cpu;

	if (!grown)
		return -ENOMEM;
	*rows = grown;
	row = &grown[(*nr_rows)++];
	*row = (struct syscall_row){ .number = key->number, .error = key->error };
	for (cpu = 0; cpu < nr_cpus; cpu++)
		syscall_add_value(&row->value, &values[cpu]);
	return 0;
}

static int bpf_read_syscalls(int fd, struct syscall_row **rows, size_t *nr_rows)
{
	int nr_cpus = libbpf_num_possible_cpus();
	struct pfstat_syscall_key key, *before = NULL;
	struct pfstat_syscall_value *values;
	int next, err = 0;

	*rows = NULL;
	*nr_rows = 0;
	if (nr_cpus < 0)
		return nr_cpus;
	values = calloc(nr_cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	while (!err && (next = bpf_counters_next_key(fd, before, &key)) > 0) {
		before = &key;
		err = bpf_map_lookup_elem(fd, &key, values);
		if (!err)
			err = syscall_row_append(rows, nr_rows, &key, values, nr_cpus);
	}
	free(values);
	if (*nr_rows)
		qsort(*rows, *nr_rows, sizeof(**rows), syscall_rows_compare);
	return err ? err : next;
}

int bpf_counters_read(const struct event_maps *maps, struct run_counters *counters)
{
	int err = bpf_read_sums(maps->counts, PFSTAT_NR_COUNTS, 1, counters->counts);

	if (!err && maps->faults >= 0)
		err = bpf_read_faults(maps, counters->faults);
	if (!err && maps->faults >= 0)
		run_counters_fill_task(counters, &maps->missed);
	return err ? err :
		     bpf_read_syscalls(maps->syscalls, &counters->syscalls, &counters->nr_syscalls);
}

uint64_t bpf_counters_swap_pages(void)
{
	struct sysinfo info;

	if (sysinfo(&info))
		return 0;
	return (uint64_t)info.totalswap * info.mem_unit / sysconf(_SC_PAGESIZE);
}

static int swap_row_append(struct run_counters *counters, const struct swap_row *row)
{
	struct swap_row *grown =
		reallocarray(counters->swap_rows, counters->nr_swap_rows + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	counters->swap_rows = grown;
	grown[counters->nr_swap_rows++] = *row;
	return 0;
}

static int swap_rows_compare(const void *a, const void *b)
{
	const struct swap_row *left = a, *right = b;

	if (left->pages != right->pages)
		return left->pages < right->pages ? 1 : -1;
	return left->pair.evictor < right->pair.evictor ? -1 :
							  left->pair.evictor > right->pair.evictor;
}

int bpf_counters_read_swap(int pairs, int names, struct run_counters *counters)
{
	struct pfstat_swap_pair *before = NULL, key;
	struct swap_row row;
	int next, err = 0;

	free(counters->swap_rows);
	counters->swap_rows = NULL;
	counters->nr_swap_rows = 0;
	while (!err && (next = bpf_counters_next_key(pairs, before, &key)) > 0) {
		row = (struct swap_row){ .pair = key };
		before = &key;
		/* A process whose name was not kept has none. */
		bpf_map_lookup_elem(names, &key.evictor, row.evictor_name);
		bpf_map_lookup_elem(names, &key.owner, row.owner_name);
		err = bpf_map_lookup_elem(pairs, &key, &row.pages);
		if (!err)
			err = swap_row_append(counters, &row);
	}
	if (counters->nr_swap_rows)
		qsort(counters->swap_rows, counters->nr_swap_rows, sizeof(*counters->swap_rows),
		      swap_rows_compare);
	return err ? err : next;
}
