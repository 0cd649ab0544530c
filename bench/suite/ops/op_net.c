// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loopback network: TCP and ICMP round trips, bandwidth, and connection setup and teardown. The
 * partner, if any, is a helper process of the worker.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/suite/ops/op_registry.h"
#include "bench/suite/ops/ping.h"
#include "bench/suite/ops/stream.h"

#define CHUNK	   (1U << 20) /* one bandwidth operation */
#define PATIENCE_S 5	      /* for the reply to an echo */
#define SOURCES	   200	      /* source addresses, each with a separate port range */

struct op_net_state {
	int listener, fd;
	struct sockaddr_in address;
	char *buffer;
	unsigned int connections;
};

static int op_net_refuse(struct bench *bench, int err)
{
	return bench_refuse(bench, err, "cannot use the loopback network: %s", strerror(-err));
}

/* Listens on a port chosen by the kernel. */
static int op_net_open(struct bench *bench)
{
	struct op_net_state *net = calloc(1, sizeof(*net));
	socklen_t size = sizeof(net->address);

	bench->state = net;
	if (!net)
		return -ENOMEM;
	net->fd = -1;
	net->address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	net->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (net->listener < 0 ||
	    bind(net->listener, (struct sockaddr *)&net->address, sizeof(net->address)) ||
	    listen(net->listener, 16) ||
	    getsockname(net->listener, (struct sockaddr *)&net->address, &size))
		return op_net_refuse(bench, -errno);
	return 0;
}

/* The partner: replies with one byte to each @bytes bytes, until the worker exits. */
static void op_net_answer(struct op_net_state *net, size_t bytes)
{
	const int fd = accept4(net->listener, NULL, NULL, SOCK_CLOEXEC);

	stream_hurry(fd);
	while (!stream_read(fd, net->buffer, bytes) && !stream_write(fd, net->buffer, 1))
		;
	_exit(EXIT_SUCCESS);
}

static int op_net_start_partner(struct bench *bench, size_t bytes)
{
	int err = op_net_open(bench);
	struct op_net_state *net = bench->state;
	pid_t pid;

	if (err)
		return err;
	net->buffer = calloc(1, CHUNK);
	if (!net->buffer)
		return -ENOMEM;
	memset(net->buffer, 1, CHUNK);
	pid = bench_fork();
	if (!pid)
		op_net_answer(net, bytes);
	if (pid < 0)
		return -errno;
	net->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (net->fd < 0 || connect(net->fd, (struct sockaddr *)&net->address, sizeof(net->address)))
		return op_net_refuse(bench, -errno);
	stream_hurry(net->fd);
	return 0;
}

static int op_net_prepare_rtt(struct bench *bench)
{
	return op_net_start_partner(bench, 1);
}

static int op_net_run_rtt(struct bench *bench, uint64_t n)
{
	const struct op_net_state *net = bench->state;
	int err = 0;
	char byte = 0;

	bench_start(bench);
	for (; n && !err; n--) {
		err = stream_write(net->fd, &byte, 1);
		if (!err)
			err = stream_read(net->fd, &byte, 1);
	}
	bench_stop(bench);
	return err;
}

static int op_net_prepare_bandwidth(struct bench *bench)
{
	bench->bytes = CHUNK;
	return op_net_start_partner(bench, CHUNK);
}

/* Ends when the partner has acknowledged every chunk. */
static int op_net_run_bandwidth(struct bench *bench, uint64_t n)
{
	const struct op_net_state *net = bench->state;
	int err = 0;
	uint64_t i;
	char byte;

	bench_start(bench);
	for (i = 0; i < n && !err; i++)
		err = stream_write(net->fd, net->buffer, CHUNK);
	for (i = 0; i < n && !err; i++)
		err = stream_read(net->fd, &byte, 1);
	bench_stop(bench);
	return err;
}

/* A new source address each time, since ports of closed connections are not free at once. */
static int op_net_open_source(struct op_net_state *net)
{
	struct sockaddr_in source = { .sin_family = AF_INET };
	const int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (net->connections++ % SOURCES << 8));
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&source, sizeof(source))) {
		close(fd);
		return -errno;
	}
	return fd;
}

/*
 * Both ends are in one process: the kernel completes connections without accept(2).
 * @reset: time connect(2) and close with a reset, else time close(2), which sends a FIN
 */
static int op_net_connect_once(struct bench *bench, bool reset)
{
	static const struct linger at_once = { .l_onoff = 1 };
	struct op_net_state *net = bench->state;
	int fd = op_net_open_source(net), other, err = 0;
	char byte;

	if (fd < 0)
		return fd;
	if (reset)
		bench_start(bench);
	if (connect(fd, (struct sockaddr *)&net->address, sizeof(net->address)))
		err = -errno;
	if (reset)
		bench_stop(bench);
	other = err ? -1 : accept4(net->listener, NULL, NULL, SOCK_CLOEXEC);
	if (reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	if (!reset)
		bench_start(bench);
	close(fd);
	if (!reset)
		bench_stop(bench);
	if (other < 0)
		return err ? op_net_refuse(bench, err) : -errno;
	if (!reset && read(other, &byte, 1))
		err = -EPROTO;
	close(other);
	return err;
}

static int op_net_run_setup(struct bench *bench, uint64_t n)
{
	int err = 0;

	for (; n && !err; n--)
		err = op_net_connect_once(bench, true);
	return err;
}

static int op_net_run_teardown(struct bench *bench, uint64_t n)
{
	int err = 0;

	for (; n && !err; n--)
		err = op_net_connect_once(bench, false);
	return err;
}

static int op_net_prepare_icmp(struct bench *bench)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct ping *ping = calloc(1, sizeof(*ping));
	int err;

	bench->state = ping;
	if (!ping)
		return -ENOMEM;
	err = ping_open(ping, (const struct sockaddr *)&address, sizeof(address), PATIENCE_S);
	if (err == -EACCES || err == -EPERM)
		return bench_refuse(bench, err,
				    "not permitted to send pings; run as root, or set "
				    "net.ipv4.ping_group_range");
	return err ? op_net_refuse(bench, err) : 0;
}

static int op_net_run_icmp(struct bench *bench, uint64_t n)
{
	int err = 0;

	bench_start(bench);
	for (; n && !err; n--)
		err = ping_once(bench->state);
	bench_stop(bench);
	return err;
}

const struct bench_operation op_net_tcp_rtt = {
	.name = "net.tcp_rtt",
	.title = "a byte to another process and back, by TCP over loopback",
	.method = "both processes on one CPU, with TCP_NODELAY",
	.prediction = "2 * pipe.self + 2 * switch.process",
	.claim = { .made = true, .range = { { 2, 6 }, { 4, 5 }, { 0, 0 }, { 0, 0 } } },
	.own_share = 0.5,
	.prepare = op_net_prepare_rtt,
	.run = op_net_run_rtt,
};

const struct bench_operation op_net_icmp_rtt = {
	.name = "net.icmp_rtt",
	.title = "a 56-byte ICMP echo and the reply, over loopback",
	.method = "the kernel replies; no other process takes part",
	.prediction = "3 * cpu.syscall",
	.claim = { .made = true, .range = { { 0, 2 }, { 2, 4 }, { 0, 0 }, { 0, 0 } } },
	.prepare = op_net_prepare_icmp,
	.run = op_net_run_icmp,
};

const struct bench_operation op_net_tcp_bandwidth = {
	.name = "net.tcp_bandwidth",
	.unit = BENCH_MBS,
	.title = "bytes to another process, by TCP over loopback",
	.method = "1 MiB at a time, on any CPUs, until all bytes are acknowledged",
	.prediction = "memory.copy / 2", /* into the kernel, and out */
	.anywhere = true,
	.prepare = op_net_prepare_bandwidth,
	.run = op_net_run_bandwidth,
};

const struct bench_operation op_net_tcp_setup = {
	.name = "net.tcp_setup",
	.title = "connect(2) of TCP over loopback",
	.method = "each connection is timed individually, to a socket in the same process",
	.prediction = "net.tcp_rtt",
	.claim = { .made = true, .range = { { 0, 2 }, BENCH_ANY, { 0, 0.1 }, { 0, 0 } } },
	.prepare = op_net_open,
	.run = op_net_run_setup,
};

const struct bench_operation op_net_tcp_teardown = {
	.name = "net.tcp_teardown",
	.title = "close(2) on a TCP connection over loopback",
	.method = "each is timed individually; it sends the FIN, the kernel does the rest",
	.prediction = "net.tcp_setup / 2", /* one packet out of two */
	.claim = { .made = true, .range = { { 0, 2 }, BENCH_ANY, { 0, 0.1 }, { 0, 0 } } },
	.prepare = op_net_open,
	.run = op_net_run_teardown,
};
