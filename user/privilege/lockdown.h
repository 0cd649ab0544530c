/* SPDX-License-Identifier: GPL-2.0-only */
/* Is the kernel locked down, see kernel_lockdown(7)? */
#ifndef PFSTAT_USER_LOCKDOWN_H
#define PFSTAT_USER_LOCKDOWN_H

#include <stddef.h>

/* The chosen word of "none [integrity] confidentiality"; NULL: there is none in brackets. */
const char *lockdown_parse(const char *text, char *word, size_t size);
/* "integrity" or "confidentiality"; NULL: it is not, or nothing says so. In a static buffer. */
const char *lockdown_level(void);

#endif
