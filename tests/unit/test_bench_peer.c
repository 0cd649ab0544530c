// SPDX-License-Identifier: GPL-2.0-only
/* pfdrive bench --peer and --serve over loopback, with foreign clients and servers. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/suite/ops/peer_protocol.h"
#include "bench/suite/ops/peer_server.h"
#include "bench/suite/ops/stream.h"
#include "runner.h"
#include "user/util/signals.h"

static char port[8];
static pid_t server;

static int listener_at(uint16_t number)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(number),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

/* Listens on a free port and stores it in `port`. */
static int open_listener(void)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = listener_at(0);

	getsockname(fd, (struct sockaddr *)&address, &size);
	snprintf(port, sizeof(port), "%u", ntohs(address.sin_port));
	return fd;
}

/* The server's first output line shows it is listening. */
static void start_server(void)
{
	char line[256] = "";
	int ends[2];

	close(open_listener());
	ck_assert_int_eq(pipe(ends), 0);
	server = fork();
	if (!server) {
		dup2(ends[1], STDOUT_FILENO);
		signals_init();
		_exit(peer_server_run("127.0.0.1", port));
	}
	close(ends[1]); /* The end of the pipe then shows the server's exit. */
	ck_assert_int_gt(read(ends[0], line, sizeof(line) - 1), 0);
	ck_assert_ptr_nonnull(strstr(line, port));
	close(ends[0]);
}

/* The server exits with status 0 on a signal. */
static void stop_server(void)
{
	int status;

	kill(server, SIGTERM);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

static const struct bench_options options = { .peer = "127.0.0.1", .port = port };
static struct why why;

static struct bench some_bench(void)
{
	why.text[0] = '\0';
	return (struct bench){ .options = &options, .why = &why };
}

static int open_service(struct bench *bench, enum peer_service service)
{
	struct peer_address address;
	int err = peer_find(bench, &address, true);

	return err ? err : peer_open(bench, &address, service);
}

TEST(test_a_byte_is_echoed)
{
	struct bench bench = some_bench();
	char byte = 'x';
	int fd, i;

	start_server();
	fd = open_service(&bench, PEER_ECHO);
	ck_assert_msg(fd >= 0, "%s", why.text);
	for (i = 0; i < 100; i++) {
		byte = i;
		ck_assert_int_eq(stream_write(fd, &byte, 1), 0);
		byte = -1;
		ck_assert_int_eq(stream_read(fd, &byte, 1), 0);
		ck_assert_int_eq(byte, i);
	}
	close(fd);
	stop_server();
}

TEST(test_server_acknowledges_only_whole_chunks)
{
	static char chunk[PEER_CHUNK];
	struct bench bench = some_bench();
	char byte;
	int fd;

	start_server();
	fd = open_service(&bench, PEER_SINK);
	ck_assert_msg(fd >= 0, "%s", why.text);
	ck_assert_int_eq(stream_write(fd, chunk, PEER_CHUNK - 1), 0);
	stream_limit(fd, 1);
	ck_assert_int_eq(stream_read(fd, &byte, 1), -EAGAIN);
	ck_assert_int_eq(stream_write(fd, chunk, 1), 0);
	ck_assert_int_eq(stream_read(fd, &byte, 1), 0);
	close(fd);
	stop_server();
}

/* A half-closed socket shows that the server ends the connection with a reset. */
TEST(test_a_closed_connection_is_reset)
{
	struct bench bench = some_bench();
	char byte;
	int fd;

	start_server();
	fd = open_service(&bench, PEER_CLOSE);
	ck_assert_msg(fd >= 0, "%s", why.text);
	shutdown(fd, SHUT_WR);
	ck_assert_int_eq(stream_read(fd, &byte, 1), -ECONNRESET);
	close(fd);
	stop_server();
}

/* Sends raw bytes and returns the answer length, or 0 if the server closed the connection. */
static size_t answer_to(const void *hello, size_t bytes, struct peer_answer *answer)
{
	struct bench bench = some_bench();
	struct peer_address address;
	ssize_t got;
	int fd;

	ck_assert_int_eq(peer_find(&bench, &address, false), 0);
	fd = peer_socket(&bench, &address);
	ck_assert_int_eq(peer_connect(&bench, &address, fd), 0);
	ck_assert_int_eq(stream_write(fd, hello, bytes), 0);
	got = read(fd, answer, sizeof(*answer));
	close(fd);
	return got < 0 ? 0 : got;
}

TEST(test_server_refuses_other_versions_and_services)
{
	struct peer_hello hello = { PEER_MAGIC, htonl(PEER_VERSION + 1), htonl(PEER_ECHO) };
	struct peer_answer answer;

	start_server();
	ck_assert_uint_eq(answer_to(&hello, sizeof(hello), &answer), sizeof(answer));
	ck_assert_uint_eq(ntohl(answer.status), PEER_OTHER_VERSION);
	ck_assert_uint_eq(ntohl(answer.version), PEER_VERSION);
	hello = (struct peer_hello){ PEER_MAGIC, htonl(PEER_VERSION), htonl(PEER_NR_SERVICES) };
	ck_assert_uint_eq(answer_to(&hello, sizeof(hello), &answer), sizeof(answer));
	ck_assert_uint_eq(ntohl(answer.status), PEER_NO_SERVICE);
	ck_assert_uint_eq(answer_to("GET / HTTP/1.1\r\n\r\n", 18, &answer), 0);
	stop_server();
}

TEST(test_the_server_bounds_its_connections)
{
	struct bench bench = some_bench();
	int fds[PEER_MOST], i, fd;
	char byte = 1;

	start_server();
	for (i = 0; i < PEER_MOST; i++) {
		struct peer_address address;

		ck_assert_int_eq(peer_find(&bench, &address, false), 0);
		fds[i] = peer_open(&bench, &address, PEER_ECHO);
		ck_assert_msg(fds[i] >= 0, "%d: %s", i, why.text);
	}
	ck_assert_int_lt(open_service(&bench, PEER_ECHO), 0);
	ck_assert_ptr_nonnull(strstr(why.text, "its limit of 32 connections"));
	/* Existing connections are still served, and a closed one makes space for another. */
	ck_assert_int_eq(stream_write(fds[0], &byte, 1), 0);
	ck_assert_int_eq(stream_read(fds[0], &byte, 1), 0);
	for (i = 0; i < PEER_MOST; i++)
		close(fds[i]);
	for (i = 0, fd = -1; i < 100 && fd < 0; i++) {
		usleep(20000);
		fd = open_service(&bench, PEER_ECHO);
	}
	ck_assert_msg(fd >= 0, "%s", why.text);
	close(fd);
	stop_server();
}

/* A fake server, which sends these bytes to two clients and exits. */
static void pretend(const void *answer, size_t bytes)
{
	int listener = open_listener(), fd, i;
	char hello[sizeof(struct peer_hello)];

	server = fork();
	if (server) {
		close(listener);
		return;
	}
	for (i = 0; i < 2; i++) {
		fd = accept(listener, NULL, NULL);
		if (!stream_read(fd, hello, sizeof(hello)))
			stream_write(fd, answer, bytes);
		close(fd);
	}
	_exit(EXIT_SUCCESS);
}

static void check_refused(const void *answer, size_t bytes, const char *words)
{
	struct bench bench = some_bench();

	pretend(answer, bytes);
	ck_assert_int_lt(open_service(&bench, PEER_ECHO), 0);
	ck_assert_msg(strstr(why.text, words), "%s", why.text);
	ck_assert_int_eq(waitpid(server, NULL, 0), server);
}

TEST(test_client_refuses_other_servers)
{
	const struct peer_answer newer = { PEER_MAGIC, htonl(7), htonl(PEER_OTHER_VERSION) };

	check_refused("SSH-2.0-OpenSSH_9.2p1 Debian\r\n", 30, "is not pfdrive bench --serve");
	check_refused("no\n", 3, "is not pfdrive bench --serve");
	check_refused("", 0, "closed the connection");
	check_refused(&newer, sizeof(newer), "protocol version 7, but this pfdrive uses");
}

TEST(test_missing_peer_is_named_in_the_error)
{
	static const struct bench_options nowhere = { .peer = "nowhere.invalid", .port = port };
	static const struct bench_options none = { .port = port };
	struct bench bench = some_bench();

	close(open_listener());
	ck_assert_int_eq(open_service(&bench, PEER_ECHO), -ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(why.text, "nothing listens there; run pfdrive bench --serve"));
	bench.options = &nowhere;
	ck_assert_int_lt(open_service(&bench, PEER_ECHO), 0);
	ck_assert_ptr_nonnull(strstr(why.text, "nowhere.invalid"));
	bench.options = &none;
	ck_assert_int_lt(open_service(&bench, PEER_ECHO), 0);
	ck_assert_ptr_nonnull(strstr(why.text, "--peer HOST"));
}
