// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client side of the peer protocol: finds the --peer host, connects and requests a service.
 * Each error becomes a sentence with the host and the port.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "bench/suite/ops/peer_protocol.h"
#include "bench/suite/ops/stream.h"

#define PATIENCE_S 3 /* time limit for the peer to answer */

int peer_refuse(struct bench *bench, int err)
{
	const char *host = bench->options->peer, *port = bench->options->port;

	switch (-err) {
	case ECONNREFUSED:
		return bench_refuse(bench, err,
				    "cannot connect to port %s of %s: nothing listens "
				    "there; run pfdrive bench --serve on it",
				    port, host);
	case EAGAIN:
	case EINPROGRESS:
	case ETIMEDOUT:
		return bench_refuse(bench, err, "%s, port %s, does not answer within %d s", host,
				    port, PATIENCE_S);
	case EPIPE:
	case ECONNRESET:
		return bench_refuse(bench, err, "%s, port %s, closed the connection", host, port);
	default:
		return bench_refuse(bench, err, "cannot communicate with %s, port %s: %s", host,
				    port, strerror(-err));
	}
}

int peer_socket(struct bench *bench, const struct peer_address *address)
{
	int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return peer_refuse(bench, -errno);
	stream_limit(fd, PATIENCE_S);
	stream_hurry(fd);
	return fd;
}

int peer_connect(struct bench *bench, const struct peer_address *address, int fd)
{
	if (connect(fd, (const struct sockaddr *)&address->storage, address->size))
		return peer_refuse(bench, -errno);
	return 0;
}

static int peer_check_answer(struct bench *bench, const struct peer_answer *answer)
{
	const char *host = bench->options->peer, *port = bench->options->port;

	if (memcmp(answer->magic, PEER_MAGIC, sizeof(answer->magic)))
		return bench_refuse(bench, -EPROTO,
				    "the server on port %s of %s is not pfdrive "
				    "bench --serve",
				    port, host);
	if (ntohl(answer->version) != PEER_VERSION)
		return bench_refuse(bench, -EPROTO,
				    "%s serves protocol version %u, but "
				    "this pfdrive uses version %d",
				    host, ntohl(answer->version), PEER_VERSION);
	if (ntohl(answer->status) == PEER_BUSY)
		return bench_refuse(bench, -EBUSY, "%s already serves its limit of %d connections",
				    host, PEER_MOST);
	if (ntohl(answer->status) != PEER_OK)
		return bench_refuse(bench, -EPROTO, "%s does not provide this service", host);
	return 0;
}

int peer_greet(struct bench *bench, int fd, enum peer_service service)
{
	const struct peer_hello hello = {
		.magic = PEER_MAGIC,
		.version = htonl(PEER_VERSION),
		.service = htonl(service),
	};
	struct peer_answer answer = { 0 };
	int err = stream_write(fd, &hello, sizeof(hello));

	if (!err)
		err = stream_read(fd, &answer, sizeof(answer));
	/* Another kind of server may send fewer bytes and close. */
	if (err && (err != -EPIPE || !answer.magic[0]))
		return peer_refuse(bench, err);
	return peer_check_answer(bench, &answer);
}

int peer_open(struct bench *bench, const struct peer_address *address, enum peer_service service)
{
	int fd = peer_socket(bench, address), err;

	if (fd < 0)
		return fd;
	err = peer_connect(bench, address, fd);
	if (!err)
		err = peer_greet(bench, fd, service);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int peer_try_address(struct bench *bench, const struct peer_address *address)
{
	int fd = peer_socket(bench, address), err;

	if (fd < 0)
		return fd;
	err = peer_connect(bench, address, fd);
	close(fd);
	return err;
}

int peer_find(struct bench *bench, struct peer_address *address, bool probe)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	const char *host = bench->options->peer;
	struct addrinfo *found, *each;
	int err;

	if (!host)
		return bench_refuse(bench, -EDESTADDRREQ,
				    "needs another machine: --peer HOST, "
				    "which runs pfdrive bench --serve");
	err = getaddrinfo(host, bench->options->port, &hints, &found);
	if (err)
		return bench_refuse(bench, -EHOSTUNREACH, "cannot find the host %s: %s", host,
				    gai_strerror(err));
	err = -EHOSTUNREACH;
	for (each = found; each && err; each = each->ai_next) {
		address->size = each->ai_addrlen;
		memcpy(&address->storage, each->ai_addr, each->ai_addrlen);
		err = probe ? peer_try_address(bench, address) : 0;
	}
	freeaddrinfo(found);
	return err;
}
