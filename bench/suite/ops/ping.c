// SPDX-License-Identifier: GPL-2.0-only
/*
 * ICMP echoes over an unprivileged ping socket if net.ipv4.ping_group_range permits it, else over
 * a raw socket, for IPv4 and IPv6.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench/suite/ops/ping.h"

/* ICMP and ICMPv6 echoes have the same header: type, code, checksum, id, sequence. */
struct ping_packet {
	struct icmphdr head;
	char data[PING_BYTES];
};

static int ping_open_socket(struct ping *ping)
{
	const int family = ping->v6 ? AF_INET6 : AF_INET;
	const int protocol = ping->v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;

	ping->fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
	if (ping->fd >= 0)
		return 0;
	ping->raw = true;
	ping->fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, protocol);
	return ping->fd < 0 ? -errno : 0;
}

int ping_open(struct ping *ping, const struct sockaddr *address, socklen_t size,
	      unsigned int patience_s)
{
	const struct timeval patience = { .tv_sec = patience_s };
	int err;

	*ping = (struct ping){
		.fd = -1,
		.v6 = address->sa_family == AF_INET6,
		.id = htons(getpid() & 0xffff),
	};
	err = ping_open_socket(ping);
	if (err)
		return err;
	if (setsockopt(ping->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    connect(ping->fd, address, size))
		return -errno;
	return 0;
}

/* RFC 1071. The kernel fills in the ICMPv6 checksum, which covers the addresses. */
static uint16_t ping_checksum(const void *data, size_t bytes)
{
	const uint16_t *words = data;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < bytes / 2; i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/*
 * A raw socket receives every ICMP packet, including replies for other programs and, on loopback,
 * our own request. Over IPv4 the packets include the IP header. On a ping socket the kernel chooses
 * the id.
 */
static bool ping_is_reply(const struct ping *ping, const char *packet, ssize_t bytes)
{
	const struct iphdr *ip = (const struct iphdr *)packet;
	const ssize_t skipped = ping->raw && !ping->v6 ? 4 * ip->ihl : 0;
	const struct icmphdr *head = (const struct icmphdr *)(packet + skipped);

	return bytes - skipped >= (ssize_t)sizeof(struct ping_packet) &&
	       head->type == (ping->v6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) &&
	       head->un.echo.sequence == ping->sequence &&
	       (!ping->raw || head->un.echo.id == ping->id);
}

int ping_once(struct ping *ping)
{
	struct ping_packet echo = { .head.type = ping->v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO };
	char packet[512] __attribute__((aligned(8)));
	ssize_t got;

	echo.head.un.echo.id = ping->id;
	echo.head.un.echo.sequence = ++ping->sequence;
	if (!ping->v6)
		echo.head.checksum = ping_checksum(&echo, sizeof(echo));
	if (send(ping->fd, &echo, sizeof(echo), 0) != sizeof(echo))
		return -errno;
	do {
		got = recv(ping->fd, packet, sizeof(packet), 0);
		if (got < 0)
			return -errno;
	} while (!ping_is_reply(ping, packet, got));
	return 0;
}
