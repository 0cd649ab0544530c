/* SPDX-License-Identifier: GPL-2.0-only */
/* Chooses the eBPF programs to load: those that this kernel can run and the caller wants. */
#ifndef PFSTAT_USER_BPF_PROGRAMS_H
#define PFSTAT_USER_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counters.h"

struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;
struct bpf_targets;

/*
 * The object is opened and not yet loaded. Leaves out the programs for the hooks in `without` (1 <<
 * enum bpf_hook), for hooks the kernel lacks, and for hooks that are useless without a missing one.
 * Sets *hooks to the rest. Returns 0 or a negative errno.
 */
int bpf_programs_choose(struct bpf_object *object, const struct bpf_targets *targets,
			uint32_t without, uint32_t *hooks);

/*
 * Also loads the programs that record calls. -EOPNOTSUPP: the kernel lacks the function for one. 0
 * or a negative errno.
 */
int bpf_programs_choose_records(struct bpf_object *object, const struct bpf_targets *targets);

/* Attaches the loaded kprobe.multi programs. 0 or a negative errno. */
int bpf_programs_attach(const struct bpf_object_skeleton *skeleton);

/* Events that were lost because the kernel left out a program so far. 0 or a negative errno. */
int bpf_programs_read_skipped(const struct bpf_object *object, uint64_t *skipped);

#endif
