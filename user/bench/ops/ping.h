/* SPDX-License-Identifier: GPL-2.0-only */
/* ICMP echoes, as ping(8) sends them. */
#ifndef PFSTAT_USER_PING_H
#define PFSTAT_USER_PING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PING_BYTES 56	/* behind the head */

struct ping {
	int fd;
	bool raw, v6;
	uint16_t id, sequence;
};

/*
 * To that address, of IPv4 or IPv6. A reply is waited for so long. -EACCES, -EPERM: no
 * right to send any; or what else is in the way.
 */
int ping_open(struct ping *ping, const struct sockaddr *address, socklen_t size,
	      unsigned int patience_s);

/* There and back. -EAGAIN: no reply came; or what the network says against it. */
int ping_once(struct ping *ping);

#endif
