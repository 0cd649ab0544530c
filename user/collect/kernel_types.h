/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel's types (BTF), read once. libbpf searches all types for each type named by the
 * eBPF programs. Here one pass finds them all, and libbpf gets only these.
 */
#ifndef PFSTAT_USER_KERNEL_TYPES_H
#define PFSTAT_USER_KERNEL_TYPES_H

#include <stddef.h>
#include <stdint.h>

struct btf;
struct kernel_types;

/* Takes a copy of BTF as found in /sys/kernel/btf/vmlinux. 0 or a negative errno. */
int kernel_types_open(struct kernel_types **types, const void *btf, size_t bytes);
/* The running kernel's types. */
int kernel_types_read(struct kernel_types **types);
void kernel_types_close(struct kernel_types *types);

struct kernel_symbol {
	const char *name;
	unsigned int kind;     /* BTF_KIND_* */
	uint32_t number;       /* first type with this name and kind, 0 if there is none */
	uint32_t next;	       /* used by kernel_types_look_up() */
	uint32_t nr_arguments; /* if it is a typedef for a pointer to a function, else 0 */
};

/* Sets each symbol's number, in one pass over the types. */
void kernel_types_look_up(const struct kernel_types *types, struct kernel_symbol *symbols,
			  uint32_t nr);

/*
 * Writes BTF with all types whose names `programs` has, without a name's flavour (___x), and all
 * types they contain. A pointer points to void. The type numbers are not the kernel's. 0 or a
 * negative errno.
 */
int kernel_types_write(const struct kernel_types *types, const struct btf *programs, int fd);

#endif
