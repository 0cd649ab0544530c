/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions, tracepoints and variables of the kernel to which eBPF programs attach and which
 * they use, by their numbers among the kernel's types. libbpf would read all these types once
 * more, and search them for each program.
 */
#ifndef PFSTAT_USER_BPF_TARGETS_H
#define PFSTAT_USER_BPF_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include <pfstat/kernel_symbol.h>

struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;
struct bpf_targets;
struct kernel_types;

/*
 * Between open and close, an opened object gets the numbers from *targets when it is loaded. One
 * thread at a time. 0 or a negative errno.
 */
int bpf_targets_open(struct bpf_targets **targets);
void bpf_targets_close(struct bpf_targets *targets);

/* The object is opened and not yet loaded. 0 or a negative errno. */
int bpf_targets_find(struct bpf_targets *targets, const struct bpf_object *object,
		     const struct kernel_types *types);

/* The section's name holds the program's target: "tp_btf/NAME", "fentry/NAME", … */
const char *bpf_targets_name(const struct bpf_program *program);

/* After bpf_targets_find(): whether the kernel has the program's target. */
bool bpf_targets_has(const struct bpf_targets *targets, const struct bpf_program *program);

/* 0: the kernel does not have it. */
uint32_t bpf_targets_symbol(const struct bpf_targets *targets, enum pfstat_kernel_symbol index);
uint32_t bpf_targets_struct(const struct bpf_targets *targets, const char *name);
bool bpf_targets_has_function(const struct bpf_targets *targets, const char *name);
bool bpf_targets_has_variable(const struct bpf_targets *targets, const char *name);

/* For a tracepoint that a program has. 0: the kernel does not have it. */
unsigned int bpf_targets_arguments(const struct bpf_targets *targets, const char *tracepoint);

/* Attaches all loaded programs except kprobe.multi programs. 0 or a negative errno. */
int bpf_targets_attach(const struct bpf_object_skeleton *skeleton);

#endif
