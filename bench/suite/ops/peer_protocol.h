/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The TCP protocol between pfdrive bench --peer and pfdrive bench --serve. The client sends a
 * hello, the server an answer, and then the service runs until the client closes:
 *
 *	PEER_ECHO	the server returns each byte
 *	PEER_SINK	the server returns one byte for every PEER_CHUNK bytes
 *	PEER_CLOSE	nothing; when the client closes, the server resets the connection, so
 *			that neither side keeps its state
 *
 * Numbers are in network byte order.
 */
#ifndef PFSTAT_USER_PEER_PROTOCOL_H
#define PFSTAT_USER_PEER_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "bench/suite/core/operation.h"

#define PEER_PORT    "7373"    /* default */
#define PEER_MAGIC   "pfbench" /* 8 bytes with the NUL */
#define PEER_VERSION 1
#define PEER_CHUNK   (1U << 20)

/* Server limits. */
#define PEER_MOST      32  /* connections at once */
#define PEER_IDLE_S    30  /* silence on a connection */
#define PEER_LONGEST_S 180 /* lifetime of a connection */

enum peer_service { PEER_ECHO, PEER_SINK, PEER_CLOSE, PEER_NR_SERVICES };

enum peer_status {
	PEER_OK,
	PEER_OTHER_VERSION,
	PEER_NO_SERVICE, /* unknown number */
	PEER_BUSY,
};

struct peer_hello {
	char magic[8];
	uint32_t version;
	uint32_t service; /* enum peer_service */
};

struct peer_answer {
	char magic[8];
	uint32_t version; /* the server's */
	uint32_t status;  /* enum peer_status */
};

_Static_assert(sizeof(struct peer_hello) == 16 && sizeof(struct peer_answer) == 16, "protocol");

/* The client's side, for the --peer host. Negative errno, with bench_refuse(). */
struct peer_address {
	struct sockaddr_storage storage;
	socklen_t size;
};

/* @probe: use the first address that accepts a connection, else the first address */
int peer_find(struct bench *bench, struct peer_address *address, bool probe);
/* Returns a socket with the time limits set, not yet connected. */
int peer_socket(struct bench *bench, const struct peer_address *address);
int peer_connect(struct bench *bench, const struct peer_address *address, int fd);
int peer_greet(struct bench *bench, int fd, enum peer_service service);
/* All three steps. Returns the descriptor. */
int peer_open(struct bench *bench, const struct peer_address *address, enum peer_service service);
/* Records why an established connection failed. */
int peer_refuse(struct bench *bench, int err);

#endif
