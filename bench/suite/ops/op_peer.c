// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network to another machine running pfdrive bench --serve: the operations from op_net.c over
 * the protocol in peer_protocol.h. ICMP needs no server there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/suite/ops/op_registry.h"
#include "bench/suite/ops/peer_protocol.h"
#include "bench/suite/ops/ping.h"
#include "bench/suite/ops/stream.h"

#define ECHO_PATIENCE_S 1 /* for the reply to an echo */
#define MOST_LOST	3 /* echoes without a reply in one run */

struct op_peer_state {
	struct peer_address address;
	int fd;
	char *chunk;
	struct ping ping;
	unsigned int lost; /* in this run */
};

static int op_peer_open(struct bench *bench, bool probe)
{
	struct op_peer_state *remote = calloc(1, sizeof(*remote));

	bench->state = remote;
	if (!remote)
		return -ENOMEM;
	remote->fd = -1;
	return peer_find(bench, &remote->address, probe);
}

static int op_peer_open_service(struct bench *bench, enum peer_service service)
{
	int err = op_peer_open(bench, true);
	struct op_peer_state *remote = bench->state;

	if (err)
		return err;
	remote->fd = peer_open(bench, &remote->address, service);
	return remote->fd < 0 ? remote->fd : 0;
}

static int op_peer_prepare_rtt(struct bench *bench)
{
	return op_peer_open_service(bench, PEER_ECHO);
}

static int op_peer_run_rtt(struct bench *bench, uint64_t n)
{
	const struct op_peer_state *remote = bench->state;
	int err = 0;
	char byte = 0;

	bench_start(bench);
	for (; n && !err; n--) {
		err = stream_write(remote->fd, &byte, 1);
		if (!err)
			err = stream_read(remote->fd, &byte, 1);
	}
	bench_stop(bench);
	return err ? peer_refuse(bench, err) : 0;
}

static int op_peer_prepare_bandwidth(struct bench *bench)
{
	int err = op_peer_open_service(bench, PEER_SINK);
	struct op_peer_state *remote = bench->state;

	if (err)
		return err;
	bench->bytes = PEER_CHUNK;
	remote->chunk = malloc(PEER_CHUNK);
	if (!remote->chunk)
		return -ENOMEM;
	memset(remote->chunk, 1, PEER_CHUNK);
	return 0;
}

/* Ends when the server has acknowledged every chunk. */
static int op_peer_run_bandwidth(struct bench *bench, uint64_t n)
{
	const struct op_peer_state *remote = bench->state;
	int err = 0;
	uint64_t i;
	char byte;

	bench_start(bench);
	for (i = 0; i < n && !err; i++)
		err = stream_write(remote->fd, remote->chunk, PEER_CHUNK);
	for (i = 0; i < n && !err; i++)
		err = stream_read(remote->fd, &byte, 1);
	bench_stop(bench);
	return err ? peer_refuse(bench, err) : 0;
}

static int op_peer_prepare_connections(struct bench *bench)
{
	return op_peer_open(bench, true);
}

/*
 * The client sends a hello on each connection, so the server has accepted it before the next one
 * comes. The connection ends with a reset from either side, so no port stays in TIME_WAIT.
 */
static int op_peer_connect_once(struct bench *bench)
{
	static const struct linger at_once = { .l_onoff = 1 };
	const struct op_peer_state *remote = bench->state;
	int fd = peer_socket(bench, &remote->address), err;

	if (fd < 0)
		return fd;
	bench_start(bench);
	err = peer_connect(bench, &remote->address, fd);
	bench_stop(bench);
	if (!err)
		err = peer_greet(bench, fd, PEER_CLOSE);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	return err;
}

static int op_peer_run_setup(struct bench *bench, uint64_t n)
{
	int err = 0;

	for (; n && !err; n--)
		err = op_peer_connect_once(bench);
	return err;
}

static int op_peer_run_teardown(struct bench *bench, uint64_t n)
{
	const struct op_peer_state *remote = bench->state;
	int fd;

	for (; n; n--) {
		fd = peer_open(bench, &remote->address, PEER_CLOSE);
		if (fd < 0)
			return fd;
		bench_start(bench);
		close(fd);
		bench_stop(bench);
	}
	return 0;
}

static int op_peer_prepare_icmp(struct bench *bench)
{
	int err = op_peer_open(bench, false);
	struct op_peer_state *remote = bench->state;

	if (err)
		return err;
	err = ping_open(&remote->ping, (const struct sockaddr *)&remote->address.storage,
			remote->address.size, ECHO_PATIENCE_S);
	if (err == -EACCES || err == -EPERM)
		return bench_refuse(bench, err,
				    "not permitted to send pings; run as root, or set "
				    "net.ipv4.ping_group_range");
	return err ? bench_refuse(bench, err, "cannot reach %s: %s", bench->options->peer,
				  strerror(-err)) :
		     0;
}

/* A lost echo is sent again, and only the answered one is timed. */
static int op_peer_echo(struct bench *bench)
{
	struct op_peer_state *remote = bench->state;
	int err;

	for (;;) {
		bench_start(bench);
		err = ping_once(&remote->ping);
		if (!err) {
			bench_stop(bench);
			return 0;
		}
		if (err != -EAGAIN || ++remote->lost > MOST_LOST)
			break;
	}
	if (err == -EAGAIN)
		return bench_refuse(bench, err,
				    "%s does not answer pings: %d got no reply within "
				    "%d s",
				    bench->options->peer, remote->lost, ECHO_PATIENCE_S);
	return bench_refuse(bench, err, "cannot reach %s: %s", bench->options->peer,
			    strerror(-err));
}

static int op_peer_run_icmp(struct bench *bench, uint64_t n)
{
	struct op_peer_state *remote = bench->state;
	int err = 0;

	remote->lost = 0;
	for (; n && !err; n--)
		err = op_peer_echo(bench);
	return err;
}

const struct bench_operation op_peer_tcp_rtt = {
	.name = "peer.tcp_rtt",
	.title = "a byte to the peer and back, by TCP",
	.method = "a server thread returns each byte, with TCP_NODELAY",
	/* The network by an echo, and the extra cost of TCP and a process over ICMP. */
	.prediction = "peer.icmp_rtt + net.tcp_rtt - net.icmp_rtt",
	.claim = { .made = true, .range = { { 0, 3 }, { 2, 2 }, { 0, 0.1 }, { 0, 0 } } },
	.prepare = op_peer_prepare_rtt,
	.run = op_peer_run_rtt,
};

const struct bench_operation op_peer_icmp_rtt = {
	.name = "peer.icmp_rtt",
	.title = "a 56-byte ICMP echo to the peer and the reply",
	.method = "each is timed individually, the peer's kernel replies; lost ones are sent again",
	.prediction = "net.icmp_rtt", /* the difference is the network */
	.claim = { .made = true, .range = { { 0, 3 }, { 2, 4 }, { 0, 0.1 }, { 0, 0 } } },
	.prepare = op_peer_prepare_icmp,
	.run = op_peer_run_icmp,
};

const struct bench_operation op_peer_tcp_bandwidth = {
	.name = "peer.tcp_bandwidth",
	.unit = BENCH_MBS,
	.title = "bytes to the peer, by TCP",
	.method = "1 MiB at a time, until the server has acknowledged all bytes in a run",
	.prediction = "net.tcp_bandwidth", /* a network as fast as loopback */
	.anywhere = true,
	.prepare = op_peer_prepare_bandwidth,
	.run = op_peer_run_bandwidth,
};

const struct bench_operation op_peer_tcp_setup = {
	.name = "peer.tcp_setup",
	.title = "TCP connect(2) to the peer",
	.method = "each connection is timed individually",
	.prediction = "peer.icmp_rtt + net.tcp_setup - net.icmp_rtt",
	.claim = { .made = true, .range = { { 0, 3 }, BENCH_ANY, { 0, 0.1 }, { 0, 0 } } },
	.prepare = op_peer_prepare_connections,
	.run = op_peer_run_setup,
};

const struct bench_operation op_peer_tcp_teardown = {
	.name = "peer.tcp_teardown",
	.title = "close(2) on a TCP connection to the peer",
	.method = "each is timed individually; it sends the FIN, the kernel does the rest",
	.prediction = "net.tcp_teardown", /* close(2) does not wait for the peer */
	.claim = { .made = true, .range = { { 0, 2 }, BENCH_ANY, { 0, 0.1 }, { 0, 0 } } },
	.prepare = op_peer_prepare_connections,
	.run = op_peer_run_teardown,
};
