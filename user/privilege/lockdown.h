/* SPDX-License-Identifier: GPL-2.0-only */
/* Detects kernel lockdown, see kernel_lockdown(7). */
#ifndef PFSTAT_USER_LOCKDOWN_H
#define PFSTAT_USER_LOCKDOWN_H

#include <stddef.h>

/*
 * Extracts the active word from "none [integrity] confidentiality", or NULL if no word is in
 * brackets.
 */
const char *lockdown_parse(const char *text, char *word, size_t size);
/* "integrity" or "confidentiality", or NULL if not locked down or not known. Static buffer. */
const char *lockdown_level(void);

#endif
