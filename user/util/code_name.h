/* SPDX-License-Identifier: GPL-2.0-only */
/* How a place in a function is written. */
#ifndef PFSTAT_USER_CODE_NAME_H
#define PFSTAT_USER_CODE_NAME_H

#include <stdint.h>

/* "name+0x1f", 255 bytes at most: the end of a longer name is cut off. NULL: no memory. */
char *code_name_print(const char *name, uint64_t offset);

#endif
