/* SPDX-License-Identifier: GPL-2.0-only */
/* A short session on the process that loads the module. */
#ifndef PFSTAT_SELF_TEST_H
#define PFSTAT_SELF_TEST_H

#include <linux/init.h>

/* 0, or -EOPNOTSUPP after a line in the log. Nothing else uses the recorder; ends with it idle. */
int __init pfstat_self_test(void);

#endif
