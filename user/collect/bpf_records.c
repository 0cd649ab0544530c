// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings are two mappable eBPF arrays (bpf/record_ring.bpf.h): a header for each ring, and the
 * records of all rings one after the other. Each online CPU has a ring. A CPU that comes online
 * later shares another CPU's ring.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <pfstat/control.h>

#include "collect/bpf_programs.h"
#include "collect/bpf_records.h"
#include "model/counters.h"
#include "pfstat.skel.h"

/* By default all rings together take at most this. */
#define RECORDS_BYTES_MAX (256ULL << 20)
#define RECORDS_MIN	  256U

/* An interrupt does not disturb all calibration batches. */
#define BATCHES	    8
#define BATCH_CALLS 64U

/* As struct record_header in bpf/record_ring.bpf.h. */
struct bpf_record_header {
	struct pfstat_ring_header header;
	uint64_t faults, faults_lost;
	uint8_t reserved[40];
};

/* The key in the map recorded_files: struct file_key in bpf/page.bpf.h. */
struct bpf_file_key {
	uint64_t inode;
	uint32_t dev;
	uint32_t reserved;
};

static uint32_t bpf_records_capacity(uint64_t ring_bytes, unsigned int nr_rings)
{
	const uint64_t bytes = ring_bytes ?: PFSTAT_RING_SIZE_DEFAULT;
	uint64_t capacity = RECORDS_MIN;

	while (capacity * sizeof(struct pfstat_record) < bytes)
		capacity *= 2;
	while (!ring_bytes && capacity > RECORDS_MIN &&
	       capacity * sizeof(struct pfstat_record) * nr_rings > RECORDS_BYTES_MAX)
		capacity /= 2;
	return capacity;
}

int bpf_records_configure(struct pfstat_bpf *bpf, const struct bpf_targets *targets,
			  uint64_t ring_bytes)
{
	const unsigned int nr_rings = get_nprocs();
	const uint32_t capacity = bpf_records_capacity(ring_bytes, nr_rings);
	int err = bpf_programs_choose_records(bpf->obj, targets);

	if (err)
		return err;
	if ((uint64_t)capacity * nr_rings > UINT32_MAX)
		return -ENOMEM;
	bpf->rodata->record_calls = true;
	bpf->rodata->record_rings = nr_rings;
	bpf->rodata->record_mask = capacity - 1;
	err = bpf_map__set_max_entries(bpf->maps.record_headers, nr_rings);
	return err ? err : bpf_map__set_max_entries(bpf->maps.records, capacity * nr_rings);
}

static uint64_t bpf_records_time_batch(struct pfstat_bpf *bpf)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	const uint64_t ns = bpf->bss->calibrated_ns, nr = bpf->bss->calibrations;
	unsigned int i;

	for (i = 0; i < BATCH_CALLS; i++)
		if (bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.on_calibrate), &run))
			return COUNT_NA;
	return bpf->bss->calibrations - nr == BATCH_CALLS ?
		       (bpf->bss->calibrated_ns - ns) * 1000 / BATCH_CALLS :
		       COUNT_NA;
}

uint64_t bpf_records_inside_ps(struct pfstat_bpf *bpf)
{
	uint64_t least = COUNT_NA, ps;
	unsigned int i;

	for (i = 0; i < BATCHES; i++) {
		ps = bpf_records_time_batch(bpf);
		least = ps < least ? ps : least;
	}
	return least;
}

static uint64_t bpf_records_pages(uint64_t bytes)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static void *bpf_records_map(const struct bpf_map *map, uint64_t bytes, int prot)
{
	void *address = mmap(NULL, bytes, prot, MAP_SHARED, bpf_map__fd(map), 0);

	return address == MAP_FAILED ? NULL : address;
}

int bpf_records_open(struct bpf_records *records, const struct pfstat_bpf *bpf)
{
	unsigned int i;

	*records = (struct bpf_records){
		.nr_rings = bpf->rodata->record_rings,
		.capacity = bpf->rodata->record_mask + 1,
	};
	records->headers_bytes =
		bpf_records_pages(records->nr_rings * sizeof(struct bpf_record_header));
	records->records_bytes = bpf_records_pages((uint64_t)records->nr_rings * records->capacity *
						   sizeof(struct pfstat_record));
	records->headers = bpf_records_map(bpf->maps.record_headers, records->headers_bytes,
					   PROT_READ | PROT_WRITE);
	if (!records->headers)
		return -errno;
	records->records = bpf_records_map(bpf->maps.records, records->records_bytes, PROT_READ);
	if (!records->records)
		return -errno;
	for (i = 0; i < records->nr_rings; i++) {
		records->headers[i].header.version = PFSTAT_ABI_VERSION;
		records->headers[i].header.record_size = sizeof(struct pfstat_record);
		records->headers[i].header.capacity = records->capacity;
		records->headers[i].header.cpu = i;
	}
	return 0;
}

void bpf_records_close(struct bpf_records *records)
{
	if (records->headers)
		munmap(records->headers, records->headers_bytes);
	if (records->records)
		munmap((void *)records->records, records->records_bytes);
	*records = (struct bpf_records){ 0 };
}

void bpf_records_ring(const struct bpf_records *records, unsigned int number,
		      struct record_ring *ring)
{
	record_ring_share(ring, &records->headers[number].header,
			  records->records + (uint64_t)number * records->capacity);
}

static void bpf_records_read(const struct bpf_records *records, struct bpf_record_counts *counts)
{
	const struct bpf_record_header *header;
	unsigned int i;

	*counts = (struct bpf_record_counts){ 0 };
	for (i = 0; i < records->nr_rings; i++) {
		header = &records->headers[i];
		/* Before head, which a program increments first: the difference is not negative. */
		counts->faults += __atomic_load_n(&header->faults, __ATOMIC_ACQUIRE);
		counts->calls += __atomic_load_n(&header->header.head, __ATOMIC_RELAXED);
		counts->lost += __atomic_load_n(&header->header.lost, __ATOMIC_RELAXED);
		counts->faults_lost += __atomic_load_n(&header->faults_lost, __ATOMIC_RELAXED);
	}
	counts->calls += counts->lost - counts->faults;
}

void bpf_records_count(const struct bpf_records *records, struct bpf_record_counts *counts)
{
	bpf_records_read(records, counts);
	counts->calls -= records->before.calls;
	counts->lost -= records->before.lost;
	counts->faults -= records->before.faults;
	counts->faults_lost -= records->before.faults_lost;
}

void bpf_records_forget(struct bpf_records *records)
{
	struct pfstat_ring_header *header;
	unsigned int i;

	for (i = 0; i < records->nr_rings; i++) {
		header = &records->headers[i].header;
		__atomic_store_n(&header->tail, header->head, __ATOMIC_RELEASE);
	}
	bpf_records_read(records, &records->before);
}

void bpf_records_name_files(struct pfstat_bpf *bpf)
{
	bpf->bss->record_named_files = 1;
}

int bpf_records_add_file(const struct pfstat_bpf *bpf, uint64_t inode, uint32_t dev)
{
	const struct bpf_file_key key = { .inode = inode, .dev = dev };
	const uint8_t value = 1;

	return bpf_map_update_elem(bpf_map__fd(bpf->maps.recorded_files), &key, &value, BPF_ANY);
}
