/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The eBPF programs: which to load (those that this kernel can run and the caller wants), what they
 * count, the symbols that one of them looks up, and why they cannot be loaded.
 */
#ifndef PFSTAT_USER_BPF_PROGRAMS_H
#define PFSTAT_USER_BPF_PROGRAMS_H

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pfstat/event.h>

#include "model/counters.h"
#include "util/why.h"

struct bpf_targets;

/*
 * The object is opened and not yet loaded. Leaves out the programs for the hooks in `without` (1 <<
 * enum bpf_hook), for hooks the kernel lacks, and for hooks that are useless without a missing one.
 * Sets *hooks to the rest, and *notes for bpf_programs_attach(). Returns 0 or a negative errno.
 */
int bpf_programs_choose(struct bpf_object *object, const struct bpf_targets *targets,
			uint32_t without, uint32_t *hooks, uint32_t *notes);

/*
 * Also loads the programs that record calls. -EOPNOTSUPP: the kernel lacks the function for one. 0
 * or a negative errno.
 */
int bpf_programs_choose_records(struct bpf_object *object, const struct bpf_targets *targets);

/* Attaches the loaded kprobe.multi programs. 0 or a negative errno. */
int bpf_programs_attach(const struct bpf_object_skeleton *skeleton, uint32_t notes);

/* Events that were lost because the kernel left out a program so far. 0 or a negative errno. */
int bpf_programs_read_skipped(const struct bpf_object *object, uint64_t *skipped);

/* Reads the counters in eBPF's maps, summed over the CPUs. */

/* Map file descriptors, and counts not kept in a map. */
struct event_maps {
	int counts;
	int syscalls;
	int faults;		     /* -1: they are not counted */
	struct pfstat_missed missed; /* to be added to these */
};

/* Fills counts, faults, the tasks' counts and syscalls. 0 or a negative errno. */
int bpf_counters_read(const struct event_maps *maps, struct run_counters *counters);

/* The total size of all swap areas. */
uint64_t bpf_counters_swap_pages(void);
/* Uses the maps' file descriptors and fills in swap_rows. 0 or a negative errno. */
int bpf_counters_read_swap(int pairs, int names, struct run_counters *counters);

/* The key behind `before` (NULL: the first). 1, 0 when there is none, or a negative errno. */
int bpf_counters_next_key(int fd, const void *before, void *key);

/* The reasons for which eBPF cannot measure, with their remedies. */

/* The last libbpf messages, including the verifier's log, for bug reports. */

#define BPF_LOG_BYTES (64U << 10)

/* For libbpf_set_print(): keeps a message. Debug messages are kept only with PFDRIVE_DEBUG=1. */
int bpf_log_keep(enum libbpf_print_level level, const char *format, va_list arguments);
/* With PFDRIVE_DEBUG=1 in the environment: prints the messages that are kept, and forgets them. */
void bpf_log_dump(FILE *out);

/* A machine property that forbids eBPF, as one clause. NULL: none is known. */
const char *bpf_explain_missing(void);
/* Stores one clause for a step ("load the eBPF programs") that failed with a negative errno. */
void bpf_explain(const char *step, int err, struct why *why);

#endif
