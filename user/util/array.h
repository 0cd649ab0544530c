/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_ARRAY_H
#define PFSTAT_USER_ARRAY_H

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
