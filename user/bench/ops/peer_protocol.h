/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol between pfdrive bench --peer and pfdrive bench --serve, by TCP. The client
 * says hello, the server answers, and both do what the service is until the client closes:
 *
 *	PEER_ECHO	each byte comes back
 *	PEER_SINK	PEER_CHUNK bytes, and a byte comes back for them; again and again
 *	PEER_CLOSE	nothing; when the client closes, the server resets the connection, so
 *			that neither of them has to remember it
 *
 * Numbers are in network order.
 */
#ifndef PFSTAT_USER_PEER_PROTOCOL_H
#define PFSTAT_USER_PEER_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "bench/core/operation.h"

#define PEER_PORT "7373"		/* by default */
#define PEER_MAGIC "pfbench"	/* with its end 8 bytes */
#define PEER_VERSION 1
#define PEER_CHUNK (1U << 20)

/* What a server grants its clients. */
#define PEER_MOST 32		/* connections at once */
#define PEER_IDLE_S 30		/* in which nothing is said */
#define PEER_LONGEST_S 180	/* of one connection */

enum peer_service { PEER_ECHO, PEER_SINK, PEER_CLOSE, PEER_NR_SERVICES };

enum peer_status {
	PEER_OK,
	PEER_OTHER_VERSION,
	PEER_NO_SERVICE,	/* there is none of that number */
	PEER_BUSY,
};

struct peer_hello {
	char magic[8];
	uint32_t version;
	uint32_t service;	/* enum peer_service */
};

struct peer_answer {
	char magic[8];
	uint32_t version;	/* the server's */
	uint32_t status;	/* enum peer_status */
};

_Static_assert(sizeof(struct peer_hello) == 16 && sizeof(struct peer_answer) == 16, "protocol");

/*
 * The client's side, of the host that --peer names. Negative errno, and why is said with
 * bench_refuse().
 */
struct peer_address {
	struct sockaddr_storage storage;
	socklen_t size;
};

/* asked: the first of its addresses where somebody listens, else just the first. */
int peer_find(struct bench *bench, struct peer_address *address, bool asked);
/* A socket that is not connected yet, with its limits. */
int peer_socket(struct bench *bench, const struct peer_address *address);
int peer_connect(struct bench *bench, const struct peer_address *address, int fd);
int peer_greet(struct bench *bench, int fd, enum peer_service service);
/* All three. Its descriptor. */
int peer_open(struct bench *bench, const struct peer_address *address,
	      enum peer_service service);
/* For what goes wrong later on. */
int peer_refuse(struct bench *bench, int err);

#endif
