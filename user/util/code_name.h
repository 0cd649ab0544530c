/* SPDX-License-Identifier: GPL-2.0-only */
/* Text form for an address within a function. */
#ifndef PFSTAT_USER_CODE_NAME_H
#define PFSTAT_USER_CODE_NAME_H

#include <stdint.h>

/* "name+0x1f", at most 255 bytes: a longer name is truncated. NULL: no memory. */
char *code_name_print(const char *name, uint64_t offset);

#endif
