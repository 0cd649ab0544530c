/* SPDX-License-Identifier: GPL-2.0-only */
/* ICMP echoes, as ping(8) sends them. */
#ifndef PFSTAT_USER_PING_H
#define PFSTAT_USER_PING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PING_BYTES 56 /* after the header */

struct ping {
	int fd;
	bool raw, v6;
	uint16_t id, sequence;
};

/*
 * Prepares echoes to an IPv4 or IPv6 address.
 * @patience_s: time limit for each reply
 * -EACCES, -EPERM: not permitted to send pings; or another negative errno.
 */
int ping_open(struct ping *ping, const struct sockaddr *address, socklen_t size,
	      unsigned int patience_s);

/* One echo and the reply. -EAGAIN: no reply came. Otherwise the negative errno from the network. */
int ping_once(struct ping *ping);

#endif
