/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares Linux releases. */
#ifndef PFSTAT_USER_KERNEL_RELEASE_H
#define PFSTAT_USER_KERNEL_RELEASE_H

#include <stdbool.h>

/* "6.12.1-amd64" is 6012, 0 if not a release. */
unsigned int kernel_release_number(const char *release);
/* Whether the running kernel is older than this release. */
bool kernel_release_is_before(const char *release);

#endif
