/* SPDX-License-Identifier: GPL-2.0-only */
/* The peer of pfdrive bench --peer: pfdrive bench --serve. */
#ifndef PFSTAT_USER_PEER_SERVER_H
#define PFSTAT_USER_PEER_SERVER_H

/*
 * Serves until a signal ends it; prints on standard output where. chosen: NULL: the IPv4
 * loopback address. Drops all privileges before the first client. Returns the exit status;
 * errors have been reported.
 */
int peer_server_run(const char *chosen, const char *port);

#endif
