# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Builds the files from which a guest boots, once for each kernel, in $root_home:
#   root/      the directory, where the tree is built natively (see tree.sh)
#   root.img   the same as an ext4 image, shared by all guests, never written
#   vmlinux    the kernel, unpacked: an emulator takes seconds to unpack it
#   initrd     our own, with only the modules that reach a disk
#   release    the kernel's release

# Needed before the root is mounted, if the kernel has them as modules.
BOOT_MODULES=(virtio_pci virtio_blk ext4 virtio_console)
SPARE_MB=500

prepare_amd64()
{
	need mmdebstrap mke2fs unshare flock dpkg
	become_root
	lock "$kernel"
	if [ -e "$root_home/release" ]; then
		touch "$root_home"
	else
		check_space
		build_root_home
		drop_old_roots
	fi
	unlock
}

check_space()
{
	local free
	free=$(free_megabytes)
	[ "$free" -ge $((disk + SPARE_MB)) ] ||
		die "cannot prepare $kernel: $LAB_CACHE has $free MB free, $((disk + SPARE_MB)) MB are needed"
}

free_megabytes()
{
	df -Pm "$LAB_CACHE" | awk 'NR == 2 { print $4 }'
}

# Builds under a temporary name. The rename makes the complete result valid.
build_root_home()
{
	local started=$SECONDS temporary

	# Left by a killed lab. Holding the lock proves that no other lab builds there.
	remove_tree "$LAB_CACHE/$kernel".tmp.*
	temporary=$(mktemp -d "$LAB_CACHE/$kernel.tmp.XXXXXX")
	on_exit remove_tree "$temporary"
	chmod 755 "$temporary"
	say "building a Debian $suite root for Linux $kernel, once: about $download MB to download, $disk MB in $LAB_CACHE"
	bootstrap "$temporary"
	if from_source; then place_linux "$temporary"; else unpack_kernel "$temporary"; fi
	say "making the disk image and the initramfs"
	make_initrd "$temporary"
	make_image "$temporary/root" "$temporary/root.img" 4096
	release_of "$temporary/root" >"$temporary/release"
	remove_tree "$root_home"
	mv "$temporary" "$root_home"
	say "Linux $(<"$root_home/release") is ready after $((SECONDS - started)) s"
}

# Documentation is omitted and nothing is flushed: an interrupted root is discarded.
bootstrap()
{
	local home=$1 log=$LAB_CACHE/$kernel.log
	local include hooks=()
	include=$(packages | paste -sd,)
	if from_source; then source_version_hook; else include+=,$image,$headers; fi

	apt_settings >"$home/apt.conf"
	sources_for "$suite" >"$home/sources.list"
	# INITRD=No and no mktirfs: otherwise an unused initrd would be built.
	# valgrind needs the symbols of the C library. Without the rest of its debug information, a
	# recording takes a quarter less time.
	# shellcheck disable=SC2016  # the hooks are for another shell
	INITRD=No as_root mmdebstrap --mode=root --variant=minbase --format=directory \
		--aptopt="$home/apt.conf" --dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt=path-exclude=/usr/sbin/mktirfs \
		--essential-hook='ln -s /bin/true "$1"/usr/sbin/mktirfs' \
		--essential-hook='mkdir -p "$1"/usr/share/man/man1' \
		--include="$include" \
		--customize-hook='rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap' \
		--customize-hook='chroot "$1" find /usr/lib/debug -name "*.debug" -exec strip -g {} +' \
		--customize-hook='mkdir -p "$1"/pfstat "$1"/mnt/disk "$1"/out' "${hooks[@]}" \
		"$suite" "$home/root" - <"$home/sources.list" >"$log" 2>&1 ||
		die "cannot build the root of $kernel: $(first_error "$log"); see $log"
}

first_error()
{
	grep -m1 -E '^(E:|.*No space left)' "$1" || tail -n1 "$1"
}

release_of()
{
	basename "$1"/lib/modules/*
}

in_root()
{
	local root=$1
	shift
	as_root chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}

# The boot header states the compressed ELF file's offset (Documentation/arch/x86/boot.rst:
# setup_sects, payload_offset, payload_length). The file's last four bytes are the unpacked size,
# except in gzip and zstd frames, which contain it themselves.
unpack_kernel()
{
	local home=$1 image sectors offset length tool
	image=$home/root/boot/vmlinuz-$(release_of "$home/root")

	sectors=$(od -An -tu1 -j 0x1f1 -N 1 "$image")
	offset=$(od -An -tu4 -j 0x248 -N 4 "$image")
	length=$(od -An -tu4 -j 0x24c -N 4 "$image")
	dd if="$image" of="$home/payload" bs=1M iflag=skip_bytes,count_bytes status=none \
		skip=$(((sectors + 1) * 512 + offset)) count=$((length - 4))
	tool=$(unpacker "$home/payload")
	in_root "$home/root" "$tool" -dc <"$home/payload" >"$home/vmlinux" ||
		die "cannot unpack the kernel of $kernel: $image has a format that is not known"
	rm "$home/payload"
}

unpacker()
{
	case $(od -An -tx1 -N 4 "$1" | tr -d ' ') in
	28b52ffd) echo zstd ;;
	02214c18) echo lz4 ;;
	fd377a58) echo xz ;;
	1f8b*) echo gzip ;;
	*) echo false ;;
	esac
}

# Uncompressed, because decompression costs more under emulation than reading.
make_initrd()
{
	local home=$1
	install -m 755 "$LAB_DIR/initramfs-init" "$home/root/tmp/init"
	in_root "$home/root" sh -s "$(release_of "$home/root")" "${BOOT_MODULES[@]}" \
		<"$LAB_DIR/make-initrd" >"$home/initrd" ||
		die "cannot make the initramfs of $kernel"
	rm "$home/root/tmp/init"
}

# make_image DIR IMAGE SPARE_MB: an ext4 image with free space and without a journal, because every
# guest writes to a copy and discards it.
make_image()
{
	local dir=$1 image=$2 spare=$3 used
	used=$(as_root du -sm --apparent-size "$dir" | cut -f1)
	rm -f "$image"
	truncate -s $((used + used / 4 + spare))M "$image"
	as_root mke2fs -q -t ext4 -O '^has_journal' -m 0 -d "$dir" "$image" >/dev/null 2>&1 ||
		die "cannot make $image: is the disk full? $(free_megabytes) MB are free"
}

# Roots from an older lab, unused for days.
drop_old_roots()
{
	local old
	find "$LAB_CACHE" -maxdepth 1 -type d -name "$kernel-*" ! -path "$root_home" -mtime +3 |
		while read -r old; do
			say "removing $old, unused for days"
			remove_tree "$old"
		done
}
