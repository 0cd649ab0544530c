// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens ELF files with code, passes them to a sandboxed child that reads them, and returns the
 * names to code_names.c.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/code_files.h"
#include "privilege/privilege.h"
#include "symbols/symbols.h"
#include "util/array.h"
#include "util/input_file.h"
#include "util/signals.h"

/*
 * The process that looks names up in ELF files, in a sandbox (privilege/privilege.h). It receives
 * file descriptors and returns names. It holds up to SYMBOL_CHILD_FILES files. The recorder and the
 * child exchange packets over a socket pair. The recorder sends a file for a slot, or a query for
 * the name or the source line at an offset into the slot's file. The child answers. Before this
 * answer it may request the debug information for a build ID, and then for a debug link, because it
 * cannot open files. The
 * recorder trusts no answer.
 */

#define SYMBOL_CHILD_FILES 32

struct symbol_child {
	pid_t pid;
	int socket; /* -1: not running */
};

#define SYMBOL_CHILD_NONE ((struct symbol_child){ .pid = -1, .socket = -1 })

#define DEBUG_FOLDER "/usr/lib/debug/.build-id"
#define BUILD_ID_MAX 64
#define PATIENCE_MS  20000 /* for one answer; the largest files take seconds */

enum packet_kind {
	PACKET_READY, /* the sandbox is closed */
	PACKET_LOAD,  /* with a descriptor */
	PACKET_NAME,  /* query: the offset; answer: the name, if any */
	PACKET_LINE,  /* query: the offset; answer: the source file and the line, if any */
	PACKET_DEBUG, /* query: the build ID; answer: with a descriptor, if any */
	PACKET_LINK,  /* query: the debug link's file name; answer: likewise */
};

struct packet {
	uint32_t kind, slot;
	uint64_t offset;
	uint32_t line;
	uint32_t text_bytes;
	uint8_t text[512];
};

/* @fd: descriptor to pass, or -1 */
static int packet_send(int socket, struct packet *packet, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec vector = { packet, sizeof(*packet) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* @fd: set to the received descriptor, or -1. NULL: accept none, for packets of the child. */
static int packet_receive(int socket, struct packet *packet, int *fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec vector = { packet, sizeof(*packet) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };
	ssize_t got;

	if (fd) {
		*fd = -1;
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (got != sizeof(*packet) || packet->text_bytes > sizeof(packet->text))
		return got ? -EPROTO : -EPIPE;
	if (fd && message.msg_controllen && control.header.cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(&control.header), sizeof(*fd));
	return 0;
}

/* The child's side. */

static int child_debug(void *context, enum elf_debug_key kind, const void *key, size_t bytes)
{
	struct packet packet = { .kind = kind == ELF_DEBUG_LINK ? PACKET_LINK : PACKET_DEBUG,
				 .text_bytes = bytes };
	int fd;

	(void)context;
	if (bytes > sizeof(packet.text))
		return -1;
	memcpy(packet.text, key, bytes);
	if (packet_send(0, &packet, -1) || packet_receive(0, &packet, &fd))
		_exit(1);
	return fd;
}

static void child_answer_name(struct elf_names *names, struct packet *packet)
{
	char *name = elf_names_at(names, packet->offset);

	if (!name)
		return;
	packet->text_bytes = strnlen(name, sizeof(packet->text));
	memcpy(packet->text, name, packet->text_bytes);
	free(name);
}

/* A path that is too long is left out: a part of it would be another path. */
static void child_answer_line(struct elf_names *names, struct packet *packet)
{
	const char *source = elf_names_line_at(names, packet->offset, &packet->line);
	const size_t bytes = source ? strlen(source) : 0;

	if (!bytes || bytes > sizeof(packet->text))
		return;
	packet->text_bytes = bytes;
	memcpy(packet->text, source, bytes);
}

static void child_answer(struct elf_names *names, struct packet *packet)
{
	packet->text_bytes = 0;
	if (names && packet->kind == PACKET_NAME)
		child_answer_name(names, packet);
	if (names && packet->kind == PACKET_LINE)
		child_answer_line(names, packet);
	if (packet_send(0, packet, -1))
		_exit(1);
}

static _Noreturn void child_run(int socket)
{
	struct elf_names *files[SYMBOL_CHILD_FILES] = { 0 };
	struct packet packet = { .kind = PACKET_READY };
	int fd;

	signals_default();
	if (sandbox_enter(socket) || packet_send(0, &packet, -1))
		_exit(1);
	while (!packet_receive(0, &packet, &fd) && packet.slot < SYMBOL_CHILD_FILES) {
		if (packet.kind == PACKET_LOAD) {
			elf_names_close(files[packet.slot]);
			files[packet.slot] = fd < 0 ? NULL : elf_names_open(fd, child_debug, NULL);
		} else {
			child_answer(files[packet.slot], &packet);
		}
	}
	_exit(0);
}

/* The recorder's side. */

static int receive_in_time(const struct symbol_child *child, struct packet *packet)
{
	struct pollfd polled = { .fd = child->socket, .events = POLLIN };
	int ready;

	do
		ready = poll(&polled, 1, PATIENCE_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return ready ? -errno : -ETIMEDOUT;
	return packet_receive(child->socket, packet, NULL);
}

static void symbol_child_stop(struct symbol_child *child);

/* Returns 0 or a negative errno. */
static int symbol_child_start(struct symbol_child *child)
{
	struct packet packet;
	int pair[2], err;

	*child = SYMBOL_CHILD_NONE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	child->pid = fork();
	if (!child->pid)
		child_run(pair[1]);
	err = child->pid < 0 ? -errno : 0;
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	child->socket = pair[0];
	err = receive_in_time(child, &packet);
	if (!err && packet.kind != PACKET_READY)
		err = -EPROTO;
	if (err)
		symbol_child_stop(child);
	return err;
}

static void symbol_child_stop(struct symbol_child *child)
{
	if (child->socket < 0)
		return;
	close(child->socket);
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*child = SYMBOL_CHILD_NONE;
}

/* Replaces a slot's file. The caller keeps the descriptor. */
static int symbol_child_load(struct symbol_child *child, unsigned int slot, int fd)
{
	struct packet packet = { .kind = PACKET_LOAD, .slot = slot };

	return packet_send(child->socket, &packet, fd);
}

/* The folder belongs to root. A build ID names one file in it, and its bytes are printed as hex. */
static int open_debug(const struct packet *packet)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * BUILD_ID_MAX + sizeof("//.debug")];
	size_t i, used;

	if (packet->text_bytes < 2 || packet->text_bytes > BUILD_ID_MAX)
		return -1;
	used = sprintf(path, "%s/%02x/", DEBUG_FOLDER, packet->text[0]);
	for (i = 1; i < packet->text_bytes; i++)
		used += sprintf(path + used, "%02x", packet->text[i]);
	strcpy(path + used, ".debug");
	return open_regular(path, O_RDONLY);
}

static bool may_open_link(int fd)
{
	struct stat stat;

	return !fstat(fd, &stat) && (stat.st_mode & S_IROTH || stat.st_uid == getuid());
}

/*
 * Opens a file that the program names: next to the program, or where a package installs it. The
 * child compares the checksum.
 */
static int open_link(const char *program, const struct packet *packet)
{
	static const char *const formats[] = { "%.*s%.*s", "%.*s.debug/%.*s",
					       "/usr/lib/debug%.*s%.*s" };
	const char *name = (const char *)packet->text, *slash = strrchr(program, '/');
	const int folder = slash ? slash + 1 - program : 0, length = packet->text_bytes;
	char path[PATH_MAX];
	int fd;
	size_t i;

	if (!folder || !length || memchr(name, '/', length) || memchr(name, '\0', length))
		return -1;
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		snprintf(path, sizeof(path), formats[i], folder, program, length, name);
		fd = open_regular(path, O_RDONLY);
		if (fd >= 0 && may_open_link(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int answer_debug(const struct symbol_child *child, const char *program,
			struct packet *packet)
{
	const int fd = packet->kind == PACKET_DEBUG ? open_debug(packet) :
						      open_link(program, packet);
	int err = packet_send(child->socket, packet, fd);

	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Returns in *text the name or the source file for the query, or NULL. The caller frees it. After a
 * negative errno (the child died, timed out or sent an invalid answer) the child can only be
 * stopped.
 */
static int symbol_child_ask(struct symbol_child *child, const char *program, struct packet *packet,
			    char **text)
{
	const uint32_t kind = packet->kind;
	int err, requests;

	*text = NULL;
	err = packet_send(child->socket, packet, -1) ?: receive_in_time(child, packet);
	/* The child requests debug information at most once for each query, in two ways. */
	for (requests = 0; !err && packet->kind >= PACKET_DEBUG && requests < 2; requests++)
		err = answer_debug(child, program, packet) ?: receive_in_time(child, packet);
	if (!err && packet->kind != kind)
		err = -EPROTO;
	if (err || !packet->text_bytes)
		return err;
	*text = strndup((const char *)packet->text, packet->text_bytes);
	return *text ? 0 : -ENOMEM;
}

/*
 * The object table mirrors the child's slots: if a child is dropped, every other object is
 * forgotten. The number of children is bounded.
 */

_Static_assert(SYMBOLS_MAX_FILES == SYMBOL_CHILD_FILES, "a slot of the child for each file");

/* If the child dies on a file, the other open files are lost and a new child starts. */
#define CHILDREN_MAX 5

struct object {
	char *path; /* NULL: free slot */
	uint64_t inode;
	bool loaded;   /* by the child */
	uint64_t used; /* value of symbols->now at the last look-up */
};

struct symbols {
	const struct code_files *files;
	struct object objects[SYMBOLS_MAX_FILES];
	uint64_t now; /* number of look-ups */
	struct symbol_child child;
	unsigned int nr_children;
	int trouble;
};

int symbols_open(struct symbols **symbols, const struct code_files *files)
{
	*symbols = calloc(1, sizeof(**symbols));
	if (!*symbols)
		return -ENOMEM;
	(*symbols)->files = files;
	(*symbols)->child = SYMBOL_CHILD_NONE;
	return 0;
}

void symbols_close(struct symbols *symbols)
{
	size_t i;

	if (!symbols)
		return;
	symbol_child_stop(&symbols->child);
	for (i = 0; i < SYMBOLS_MAX_FILES; i++)
		free(symbols->objects[i].path);
	free(symbols);
}

int symbols_trouble(const struct symbols *symbols)
{
	return symbols->trouble;
}

/* Rejects compressed files: libdwfl would unpack them regardless of their size. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

static int open_object(const struct symbols *symbols, const struct object *object)
{
	int fd = code_files_open(symbols->files, object->path, object->inode);

	if (fd < 0 || is_elf(fd))
		return fd;
	close(fd);
	return -ENODATA;
}

/* Stops the failed child and forgets the child's files. A later file may start a new child. */
static void drop_child(struct symbols *symbols, struct object *at_fault, int err)
{
	size_t i;

	symbols->trouble = err;
	symbol_child_stop(&symbols->child);
	at_fault->loaded = false;
	for (i = 0; i < SYMBOLS_MAX_FILES; i++) {
		if (&symbols->objects[i] == at_fault)
			continue;
		free(symbols->objects[i].path);
		symbols->objects[i] = (struct object){ 0 };
	}
}

static int need_child(struct symbols *symbols)
{
	if (symbols->child.socket >= 0)
		return 0;
	if (symbols->nr_children == CHILDREN_MAX)
		return symbols->trouble;
	symbols->nr_children++;
	return symbol_child_start(&symbols->child);
}

static void object_load(struct symbols *symbols, struct object *object)
{
	const int fd = open_object(symbols, object);
	int err;

	if (fd < 0)
		return;
	err = need_child(symbols);
	if (!err)
		err = symbol_child_load(&symbols->child, object - symbols->objects, fd);
	close(fd);
	object->loaded = !err;
	if (err)
		drop_child(symbols, object, err);
}

/* Returns the object of a file. A new one replaces the least recently used. NULL: no memory. */
static struct object *object_of(struct symbols *symbols, const char *path, uint64_t inode)
{
	struct object *object, *oldest = &symbols->objects[0];
	size_t i;

	for (i = 0; i < SYMBOLS_MAX_FILES; i++) {
		object = &symbols->objects[i];
		if (object->path && object->inode == inode && !strcmp(object->path, path))
			return object;
		if (object->used < oldest->used)
			oldest = object;
	}
	free(oldest->path);
	*oldest = (struct object){ .path = strdup(path), .inode = inode };
	if (!oldest->path)
		return NULL;
	object_load(symbols, oldest);
	return oldest;
}

static char *symbols_ask(struct symbols *symbols, const char *path, uint64_t inode,
			 struct packet *packet)
{
	struct object *object = object_of(symbols, path, inode);
	char *text;
	int err;

	if (!object)
		return NULL;
	object->used = ++symbols->now;
	if (!object->loaded)
		return NULL;
	packet->slot = object - symbols->objects;
	err = symbol_child_ask(&symbols->child, path, packet, &text);
	if (err)
		drop_child(symbols, object, err);
	return text;
}

char *symbols_name(struct symbols *symbols, const char *path, uint64_t inode, uint64_t file_offset)
{
	struct packet packet = { .kind = PACKET_NAME, .offset = file_offset };

	return symbols_ask(symbols, path, inode, &packet);
}

char *symbols_line(struct symbols *symbols, const char *path, uint64_t inode, uint64_t file_offset,
		   uint32_t *line)
{
	struct packet packet = { .kind = PACKET_LINE, .offset = file_offset };
	char *source = symbols_ask(symbols, path, inode, &packet);

	*line = packet.line;
	return source;
}
