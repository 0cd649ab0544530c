/* SPDX-License-Identifier: GPL-2.0-only */
/* pfdrive bench --serve, the server for pfdrive bench --peer. */
#ifndef PFSTAT_USER_PEER_SERVER_H
#define PFSTAT_USER_PEER_SERVER_H

/*
 * Prints the address on standard output, drops all privileges, and serves until a signal comes.
 * @chosen: the address to listen on, or NULL for the IPv4 loopback address
 * Returns the exit status, after reporting errors.
 */
int peer_server_run(const char *chosen, const char *port);

#endif
