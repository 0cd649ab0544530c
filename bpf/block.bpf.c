// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block device requests, from the queue to the completion. A request inserted or issued by a target
 * is kept in `requests`, and sent as one event on completion.
 */
#include "common.bpf.h"
#include "page.bpf.h"
#include "submit.bpf.h"

#define MINOR_BITS   20
#define SECTOR_BYTES 512
#define MAX_BIOS     8	 /* looked at in a request, behind the first */
#define OP_WRITES    0x1 /* in request.cmd_flags: write operations are odd */

struct gendisk {
	int major;
	int first_minor;
} __attribute__((preserve_access_index));

struct request_queue {
	struct gendisk *disk;
} __attribute__((preserve_access_index));

struct bio_vec {
	struct page *bv_page;
	unsigned int bv_offset;
} __attribute__((preserve_access_index));

struct bvec_iter {
	unsigned int bi_size;
	unsigned int bi_idx;
	unsigned int bi_bvec_done;
	unsigned int bi_offset; /* 7.3 calls it so */
} __attribute__((preserve_access_index));

struct bio {
	struct bio *bi_next;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
} __attribute__((preserve_access_index));

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	unsigned long long __sector;
	struct bio *bio;
} __attribute__((preserve_access_index));

enum req_flag_bits { __REQ_RAHEAD };

/* Page removals are sent. Only then must the files that were read be known. */
const volatile bool have_page_delete;

static const __u8 known = 1;

/* Dead before it is deleted: deleting may fail with -EBUSY, and the kernel reuses requests. */
static __always_inline void forget_request(__u64 key, struct pfstat_block *block)
{
	block->event.tid = 0;
	block->insert_ns = 0;
	bpf_map_delete_elem(&requests, &key);
}

/* The current thread inserts or issues the request. */
static __always_inline void hand_over(const struct request *rq)
{
	__u64 key = (__u64)rq, id = bpf_get_current_pid_tgid();
	struct pfstat_block block = {};
	bool target = is_target(id >> 32, id);

	if (target) {
		block.event.pid = id >> 32;
		block.event.tid = id;
	}
	block.insert_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&requests, &key, &block, BPF_ANY)) {
		if (target)
			count(PFSTAT_COUNT_EVENTS_LOST);
	} else if (target && !(rq->cmd_flags & OP_WRITES)) {
		submit_note(key);
	}
}

/* The kind of the first page in the bio at `address`. */
enum bio_page { BIO_PAGE_OTHER, BIO_PAGE_FILE, BIO_PAGE_SWAP };

/* Finished bytes in the bio's first segment. */
static __always_inline __u32 bytes_done(const struct bio *bio)
{
	if (bpf_core_field_exists(bio->bi_iter.bi_offset))
		return BPF_CORE_READ(bio, bi_iter.bi_offset);
	return BPF_CORE_READ(bio, bi_iter.bi_bvec_done);
}

/*
 * `file` is set for BIO_PAGE_FILE. The function is not static, so the verifier checks it once
 * instead of on each path to each call. For this reason the arguments are numbers and memory.
 */
int bio_begins(__u64 address, struct file_page *file);

__noinline int bio_begins(__u64 address, struct file_page *file)
{
	const struct bio *bio = (const void *)address;
	const struct bio_vec *vec = BPF_CORE_READ(bio, bi_io_vec);
	__u64 index = BPF_CORE_READ(bio, bi_iter.bi_idx), offset, pages_in;
	const struct folio *folio;
	const struct page *page;

	if (!file)
		return BIO_PAGE_OTHER;
	vec = (const void *)vec + index * bpf_core_type_size(struct bio_vec);
	page = BPF_CORE_READ(vec, bv_page);
	if (!page)
		return BIO_PAGE_OTHER;
	folio = page_folio(page, &pages_in);
	if (folio_is_swapped(folio))
		return BIO_PAGE_SWAP;
	folio_file(folio, file);
	offset = BPF_CORE_READ(vec, bv_offset) + bytes_done(bio);
	file->pgoff += pages_in + (offset >> page_shift);
	file->in_page = offset & ((1U << page_shift) - 1);
	return file->inode ? BIO_PAGE_FILE : BIO_PAGE_OTHER;
}

/* Bytes from the start of the request that are contiguous in the file. */
static __always_inline __u32 file_bytes(const struct bio *bio, const struct file_page *begin)
{
	__u32 bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	struct file_page file = {};
	__u64 distance;
	int i;

	for (i = 0; i < MAX_BIOS; i++) {
		bio = BPF_CORE_READ(bio, bi_next);
		if (!bio || bio_begins((__u64)bio, &file) != BIO_PAGE_FILE ||
		    file.inode != begin->inode || file.dev != begin->dev)
			break;
		distance = ((file.pgoff - begin->pgoff) << page_shift) + file.in_page;
		if (distance != begin->in_page + (__u64)bytes)
			break;
		bytes += BPF_CORE_READ(bio, bi_iter.bi_size);
	}
	return bytes;
}

static __always_inline void know_file(const struct file_page *file)
{
	const struct file_key key = { .inode = file->inode, .dev = file->dev };

	if (!bpf_map_lookup_elem(&files, &key) &&
	    bpf_map_update_elem(&files, &key, &known, BPF_ANY))
		count(PFSTAT_COUNT_UNTRACKED);
}

static __always_inline void block_fill_page(struct pfstat_block *block, const struct bio *bio)
{
	struct file_page file = {};
	int begins = bio_begins((__u64)bio, &file);

	if (begins == BIO_PAGE_SWAP)
		block->event.flags |= PFSTAT_BLOCK_SWAP;
	if (begins != BIO_PAGE_FILE)
		return;
	block->event.flags |= PFSTAT_BLOCK_FILE;
	block->inode = file.inode;
	block->fs_dev = file.dev;
	block->pgoff = file.pgoff;
	block->event.flags |= file.in_page / SECTOR_BYTES << PFSTAT_BLOCK_IN_PAGE_SHIFT;
	block->file_bytes = file_bytes(bio, &file);
	if (have_page_delete && !(block->event.flags & PFSTAT_BLOCK_WRITE))
		know_file(&file);
}

/* Called when the request is issued: until then other requests may be merged into it. */
static __always_inline void block_fill(struct pfstat_block *block, const struct request *rq)
{
	/* For each pointer that is read directly, the verifier searches the kernel's types. */
	const struct gendisk *disk = BPF_CORE_READ(rq, q, disk);
	const struct bio *bio = BPF_CORE_READ(rq, bio);

	block->event.flags = 0;
	if (rq->cmd_flags & OP_WRITES)
		block->event.flags |= PFSTAT_BLOCK_WRITE;
	if (rq->cmd_flags >> bpf_core_enum_value(enum req_flag_bits, __REQ_RAHEAD) & 1)
		block->event.flags |= PFSTAT_BLOCK_READAHEAD;
	block->sector = rq->__sector;
	block->bytes = rq->__data_len;
	if (disk)
		block->dev = BPF_CORE_READ(disk, major) << MINOR_BITS |
			     BPF_CORE_READ(disk, first_minor);
	if (bio)
		block_fill_page(block, bio);
}

static __always_inline void block_send(struct pfstat_block *block)
{
	block->event.type = PFSTAT_EVENT_BLOCK;
	block->event.size = sizeof(*block);
	block->event.ns = bpf_ktime_get_ns();
	event_send(block, sizeof(*block));
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_rq_insert, struct request *rq)
{
	hand_over(rq);
	return 0;
}

static __always_inline int insert_again(const struct request *rq)
{
	__u64 key = (__u64)rq;
	const struct pfstat_block *block = bpf_map_lookup_elem(&requests, &key);

	if (!block || !block->insert_ns)
		hand_over(rq);
	return 0;
}

/*
 * The programs whose names end in _again repeat the work of the first one if the kernel skipped it:
 * it skips a program on a CPU while another thread is preempted in it. See bpf_programs.c.
 */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_rq_insert_again, struct request *rq)
{
	return insert_again(rq);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_rq_insert_once_again, struct request *rq)
{
	return insert_again(rq);
}

/* A request not inserted is issued to the driver directly. */
static __always_inline int issue(const struct request *rq, bool again)
{
	__u64 key = (__u64)rq;
	struct pfstat_block *block;
	bool direct;

	block = bpf_map_lookup_elem(&requests, &key);
	if (again && block && block->issue_ns)
		return 0;
	direct = !block || !block->insert_ns;
	if (direct) {
		if (!current_is_target())
			return 0;
		hand_over(rq);
		block = bpf_map_lookup_elem(&requests, &key);
	}
	if (!block || !block->event.tid)
		return 0;
	block->issue_ns = direct ? block->insert_ns : bpf_ktime_get_ns();
	block_fill(block, rq);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_rq_issue, struct request *rq)
{
	return issue(rq, false);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_rq_issue_again, struct request *rq)
{
	return issue(rq, true);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_rq_issue_once_again, struct request *rq)
{
	return issue(rq, true);
}

/* From now on the bytes belong to another request. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_rq_merge, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct pfstat_block *block = bpf_map_lookup_elem(&requests, &key);

	if (block)
		forget_request(key, block);
	return 0;
}

/* A request may be completed in parts. `bytes` is one part. */
static __always_inline int complete(const struct request *rq, unsigned char error,
				    unsigned int bytes)
{
	__u64 key = (__u64)rq;
	struct pfstat_block *block;

	block = bpf_map_lookup_elem(&requests, &key);
	if (!block)
		return 0;
	if (block->event.tid) {
		if (!block->issue_ns) { /* the driver never saw it */
			block->issue_ns = bpf_ktime_get_ns();
			block_fill(block, rq);
		}
		if (error)
			block->event.flags |= PFSTAT_BLOCK_ERROR;
	}
	if (bytes < rq->__data_len)
		return 0;
	if (block->event.tid)
		block_send(block);
	forget_request(key, block);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_rq_complete, struct request *rq, unsigned char error, unsigned int bytes)
{
	return complete(rq, error, bytes);
}

/*
 * For a loop device, dm-crypt and the like, a thread completes the request. The completion of the
 * request below may interrupt this thread: then the kernel skips the first program. The first of
 * the three programs to run takes the entry.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_rq_complete_second, struct request *rq, unsigned char error, unsigned int bytes)
{
	return complete(rq, error, bytes);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_rq_complete_third, struct request *rq, unsigned char error, unsigned int bytes)
{
	return complete(rq, error, bytes);
}

char LICENSE[] SEC("license") = "GPL";
