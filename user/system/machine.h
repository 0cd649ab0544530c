/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this machine is: the CPU, the hypervisor, and the settings on which a measurement depends.
 */
#ifndef PFSTAT_USER_MACHINE_H
#define PFSTAT_USER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/environment.h"

/* The names of an arm64 machine and the hypervisor. */

/*
 * "Neoverse-N1 (linux,dummy-virt)": the names of the cores and the machine, unchanged if neither is
 * known.
 * @root: in front of the paths, "" except in tests
 */
void arm64_identity_model(const char *root, char *model, size_t size);

/* "kvm", "qemu", …, unchanged if firmware describes no hypervisor, which does not mean none. */
void arm64_identity_virtualization(const char *root, char *name, size_t size);

/* Identifies the CPU and the hypervisor, as far as a program can ask for them. */

/* The process may read the CPU's counter (util/counter.h). */
bool cpu_identity_counter_is_readable(void);

/* True if the counter's pace does not depend on the CPU frequency. */
bool cpu_identity_counter_is_constant(void);

/* Reads the state of the machine and of a file's file system, for reports. */

/* Reads the machine's fields and fault_around_bytes, but none for a file or a CPU. */
void machine_state_read(struct environment *environment);

/*
 * Reads the file's name, file system, device and read-ahead. A value that cannot be read
 * stays "" or n/a.
 * @fd: the open file
 * @dev: the file's device number
 */
void machine_state_read_file(struct environment *environment, const char *path, int fd, dev_t dev);

/* Reads the transparent huge page setting for anonymous memory. */
void machine_state_read_huge_pages(struct environment *environment);

#endif
