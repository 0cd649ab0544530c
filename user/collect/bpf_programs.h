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
 * The object is opened and not yet loaded. Leaves out the programs of the hooks in `without` (1 <<
 * enum bpf_hook), of hooks that the kernel does not have, and of hooks that are useless without a
 * missing one. Sets *hooks to the rest; 0 or a negative errno.
 */
int bpf_programs_choose(struct bpf_object *object, const struct bpf_targets *targets,
			uint32_t without, uint32_t *hooks);

/*
 * Loads the programs that record calls, too. -EOPNOTSUPP: the kernel does not have the function of
 * one. 0 or a negative errno.
 */
int bpf_programs_choose_records(struct bpf_object *object, const struct bpf_targets *targets);

/* Attaches the loaded programs of kprobe.multi. 0 or a negative errno. */
int bpf_programs_attach(const struct bpf_object_skeleton *skeleton);

/* Events that were lost because the kernel left out a program so far. 0 or a negative errno. */
int bpf_programs_read_skipped(const struct bpf_object *object, uint64_t *skipped);

#endif
