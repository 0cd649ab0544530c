/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PFSTAT_USER_CMD_BENCH_H
#define PFSTAT_USER_CMD_BENCH_H

/* pfdrive bench [NAME...]: measures what operations of the system cost. */
int cmd_bench(int argc, char **argv);

#endif
