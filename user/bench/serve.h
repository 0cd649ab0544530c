/* SPDX-License-Identifier: GPL-2.0-only */
/* The peer of pfdrive bench --peer: pfdrive bench --serve. */
#ifndef PFSTAT_USER_BENCH_SERVE_H
#define PFSTAT_USER_BENCH_SERVE_H

/*
 * Serves until a signal ends it; says on standard output where. address: NULL: all of
 * this machine's. The exit status; what went wrong is said.
 */
int serve(const char *address, const char *port);

#endif
