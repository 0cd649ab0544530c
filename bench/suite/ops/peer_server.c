// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server side of the peer protocol: one thread per connection. Clients are not trusted: their
 * bytes are discarded, replies have a fixed form, and the number, the silence and the lifetime of
 * connections are limited (peer_protocol.h).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "bench/suite/ops/peer_protocol.h"
#include "bench/suite/ops/peer_server.h"
#include "bench/suite/ops/stream.h"
#include "privilege/privilege.h"
#include "util/message.h"
#include "util/signals.h"
#include "util/time_ns.h"
#include "util/why.h"

#define BUFFER		      (256U << 10) /* bytes per read(2) */
#define SERVE_DEFAULT_ADDRESS "127.0.0.1"
#define HELLO_S		      5
#define BACKLOG		      128
#define STACK_BYTES	      (64U << 10)
#define SPARE		      8 /* connections beyond PEER_MOST, which get PEER_BUSY */

struct peer_server_client {
	int fd;
	bool busy;
	uint64_t end_ns;
	char buffer[BUFFER];
};

static atomic_uint nr_clients;

static bool peer_server_is_over(const struct peer_server_client *client)
{
	return clock_monotonic_ns() > client->end_ns;
}

static void peer_server_echo(struct peer_server_client *client)
{
	while (!peer_server_is_over(client) && !stream_read(client->fd, client->buffer, 1) &&
	       !stream_write(client->fd, client->buffer, 1))
		;
}

static int peer_server_read(struct peer_server_client *client, size_t bytes)
{
	ssize_t got;

	for (; bytes; bytes -= got) {
		got = read(client->fd, client->buffer, bytes < BUFFER ? bytes : BUFFER);
		if (got <= 0 || peer_server_is_over(client))
			return -EPIPE;
	}
	return 0;
}

static void peer_server_sink(struct peer_server_client *client)
{
	while (!peer_server_read(client, PEER_CHUNK) &&
	       !stream_write(client->fd, client->buffer, 1))
		;
}

/* Resets the connection if the client closed it. */
static void peer_server_await_close(struct peer_server_client *client)
{
	static const struct linger at_once = { .l_onoff = 1 };

	if (!read(client->fd, client->buffer, 1))
		setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

static enum peer_status peer_server_status(const struct peer_server_client *client,
					   const struct peer_hello *hello)
{
	if (ntohl(hello->version) != PEER_VERSION)
		return PEER_OTHER_VERSION;
	if (ntohl(hello->service) >= PEER_NR_SERVICES)
		return PEER_NO_SERVICE;
	return client->busy ? PEER_BUSY : PEER_OK;
}

static void peer_server_serve(struct peer_server_client *client)
{
	static void (*const services[])(struct peer_server_client *) = {
		[PEER_ECHO] = peer_server_echo,
		[PEER_SINK] = peer_server_sink,
		[PEER_CLOSE] = peer_server_await_close,
	};
	struct peer_answer answer = { .magic = PEER_MAGIC, .version = htonl(PEER_VERSION) };
	struct peer_hello hello;
	enum peer_status status;

	stream_hurry(client->fd);
	stream_limit(client->fd, HELLO_S);
	if (stream_read(client->fd, &hello, sizeof(hello)) ||
	    memcmp(hello.magic, PEER_MAGIC, sizeof(hello.magic)))
		return;
	status = peer_server_status(client, &hello);
	answer.status = htonl(status);
	if (stream_write(client->fd, &answer, sizeof(answer)) || status != PEER_OK)
		return;
	stream_limit(client->fd, PEER_IDLE_S);
	services[ntohl(hello.service)](client);
}

static void peer_server_drop(struct peer_server_client *client)
{
	close(client->fd);
	free(client);
	atomic_fetch_sub(&nr_clients, 1);
}

static void *peer_server_thread(void *argument)
{
	peer_server_serve(argument);
	peer_server_drop(argument);
	return NULL;
}

static int peer_server_start_thread(struct peer_server_client *client)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int err;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	err = -pthread_create(&thread, &attributes, peer_server_thread, client);
	pthread_attr_destroy(&attributes);
	return err;
}

/* Beyond all limits a connection is closed without an answer. */
static void peer_server_accept(int fd)
{
	const unsigned int before = atomic_fetch_add(&nr_clients, 1);
	struct peer_server_client *client = before < PEER_MOST + SPARE ? malloc(sizeof(*client)) :
									 NULL;

	if (!client) {
		close(fd);
		atomic_fetch_sub(&nr_clients, 1);
		return;
	}
	client->fd = fd;
	client->busy = before >= PEER_MOST;
	client->end_ns = clock_monotonic_ns() + PEER_LONGEST_S * 1000000000ULL;
	if (peer_server_start_thread(client))
		peer_server_drop(client);
}

/* Signals are unblocked only during the wait, so none is missed. */
static int peer_server_wait(int listener, const sigset_t *waiting)
{
	fd_set readable;

	FD_ZERO(&readable);
	FD_SET(listener, &readable);
	if (pselect(listener + 1, &readable, NULL, NULL, NULL, waiting) >= 0 || errno == EINTR)
		return 0;
	return -errno;
}

static int peer_server_accept_all(int listener)
{
	const struct timespec rest = { .tv_nsec = 100000000 };
	sigset_t ends, waiting;
	int err = 0, fd;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, &waiting);
	while (!err && !signals_caught) {
		err = peer_server_wait(listener, &waiting);
		if (err || signals_caught)
			break;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			peer_server_accept(fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			nanosleep(&rest, NULL); /* until other connections close */
	}
	pthread_sigmask(SIG_SETMASK, &waiting, NULL);
	return err;
}

static int peer_server_listen(const struct addrinfo *info)
{
	const int one = 1, zero = 0;
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (info->ai_family == AF_INET6) /* accept IPv4 clients too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, info->ai_addr, info->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* IPv6 addresses go first, since such a socket also accepts IPv4. */
static int peer_server_open(const char *address, const char *port, struct why *why)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	static const int families[] = { AF_INET6, AF_INET };
	struct addrinfo *found, *each;
	int err, fd = -1;
	size_t i;

	err = getaddrinfo(address, port, &hints, &found);
	if (err)
		return why_fail(why, -1, "%s", gai_strerror(err));
	for (i = 0; i < 2 && fd < 0; i++)
		for (each = found; each && fd < 0; each = each->ai_next)
			if (each->ai_family == families[i])
				fd = peer_server_listen(each);
	freeaddrinfo(found);
	return fd < 0 ? why_fail(why, fd, "%s", strerror(-fd)) : fd;
}

int peer_server_run(const char *chosen, const char *port)
{
	const char *address = chosen ?: SERVE_DEFAULT_ADDRESS;
	struct why why;
	int listener = peer_server_open(address, port, &why), err;

	if (listener < 0)
		return message(STATUS_FAILED, "cannot listen on port %s of %s: %s", port, address,
			       why.text);
	/* Clients are not trusted: drop all privileges before the first one. */
	err = privilege_drop();
	if (err) {
		close(listener);
		return message(STATUS_FAILED, "cannot drop privileges before serving: %s",
			       strerror(-err));
	}
	signal(SIGPIPE, SIG_IGN);
	printf("Serving pfdrive bench --peer on port %s of %s%s, at most %d connections, until a "
	       "signal\n",
	       port, address, chosen ? "" : " (for other machines: --serve=ADDRESS)", PEER_MOST);
	if (fflush(stdout)) {
		close(listener);
		return message(STATUS_FAILED, "cannot print the address: %s", strerror(errno));
	}
	err = peer_server_accept_all(listener);
	close(listener);
	return err ? message(STATUS_FAILED, "cannot continue to serve: %s", strerror(-err)) :
		     STATUS_OK;
}
