/* SPDX-License-Identifier: GPL-2.0-only */
/* Identifies the CPU and the hypervisor, as far as a program can ask for them. */
#ifndef PFSTAT_USER_CPU_IDENTITY_H
#define PFSTAT_USER_CPU_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

/* The name of the CPU, and on arm64 also of the machine. Unchanged if it is not known. */
void cpu_identity_model(char *model, size_t size);

/* "none", "kvm", "qemu", …, unchanged if it is not known. On arm64 it is never "none". */
void cpu_identity_virtualization(char *name, size_t size);

/* The process may read the CPU's counter (util/counter.h). */
bool cpu_identity_counter_is_readable(void);

/* True if the counter's pace does not depend on the CPU frequency. */
bool cpu_identity_counter_is_constant(void);

#endif
