/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the eBPF programs are loaded: what this kernel has, and what was asked for. */
#ifndef PFSTAT_USER_BPF_PROGRAMS_H
#define PFSTAT_USER_BPF_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/counters.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;

/*
 * Of an opened, not yet loaded object: leaves out the programs of the hooks in
 * `without` (1 << enum bpf_hook), of those that the kernel does not have, and of
 * those that say nothing without a hook that is missing. Sets what is left; 0 or a
 * negative errno.
 */
int hooks_choose(struct bpf_object *object, uint32_t without, uint32_t *hooks);

/* Attaches a program of kprobe.multi, if it is loaded. 0 or a negative errno. */
int hooks_attach(const struct bpf_program *program, struct bpf_link **link);

/* The program that does what this one missed; NULL: there is none, or it is not loaded. */
const struct bpf_program *hooks_second_copy(const struct bpf_object *object,
					    const struct bpf_program *program);
bool hooks_is_second_copy(const struct bpf_program *program);

#endif
