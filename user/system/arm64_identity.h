/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of an arm64 machine and the hypervisor. */
#ifndef PFSTAT_USER_ARM64_IDENTITY_H
#define PFSTAT_USER_ARM64_IDENTITY_H

#include <stddef.h>

/*
 * "Neoverse-N1 (linux,dummy-virt)": the names of the cores and the machine, unchanged if neither is
 * known.
 * @root: in front of the paths, "" except in tests
 */
void arm64_identity_model(const char *root, char *model, size_t size);

/* "kvm", "qemu", …, unchanged if firmware describes no hypervisor, which does not mean none. */
void arm64_identity_virtualization(const char *root, char *name, size_t size);

#endif
