/* SPDX-License-Identifier: GPL-2.0-only */
/* A short session on the process loading the module. */
#ifndef PFSTAT_SELF_TEST_H
#define PFSTAT_SELF_TEST_H

#include <linux/init.h>

/*
 * 0, or after a line in the log -EOPNOTSUPP, or -ENOMEM if memory was short. Nothing else uses the
 * recorder, which is idle at the end.
 */
int __init pfstat_self_test(void);

#endif
