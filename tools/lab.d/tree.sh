# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Builds this source tree with the guest's own compiler and headers, natively,
# and makes a disk of the outcome, which the guest has at /pfstat.

# Two clones do not mix: a copy a path. It is mounted at /pfstat for the build
# too, so that the paths in debug information and dependency files are the guest's.
tree_key()
{
	printf %s "${TREE:?}" | sha256sum | cut -c1-12
}

# build_tree LINK: builds, and makes LINK a hard link to the disk image; a later
# build replaces the image by rename, and does not disturb the guest that has it.
build_tree()
{
	local link=$1 home started=$SECONDS
	home=$root_home/trees/$(tree_key)

	if [ "$can_mount" = yes ]; then lock "$kernel-tree-$(tree_key)"; else lock "$kernel"; fi
	mkdir -p "$home"
	copy_tree "$home"
	run_make "$home"
	make_image "$home/tree" "$home/tree.img.new" 512
	mv "$home/tree.img.new" "$home/tree.img"
	ln "$home/tree.img" "$link"
	unlock
	[ $((SECONDS - started)) -lt 5 ] || say "built in $((SECONDS - started)) s"
}

# A fresh copy each time, so that what was removed from the tree is gone from
# the copy; the build directory moves over, and make does what is left to do.
copy_tree()
{
	local home=$1
	remove_tree "$home/new"
	mkdir "$home/new"
	tar -C "$TREE" --exclude=./.git --exclude=./build -cf - . |
		tar -C "$home/new" --no-same-owner -xf - ||
		die "cannot copy $TREE to $home: is the disk full?"
	if [ -d "$home/tree/build" ]; then
		mv "$home/tree/build" "$home/new/build"
	fi
	remove_tree "$home/tree"
	mv "$home/new" "$home/tree"
}

# make says nothing unless it fails: COMMAND's output is what the caller wants.
run_make()
{
	local home=$1 log=$1/make.log release enter=make_with_mounts
	release=$(<"$root_home/release")
	[ "$can_mount" = yes ] || enter=make_without_mounts

	say "building the tree for Linux $release"
	$enter "$home/tree" make -C /pfstat --no-print-directory -j"$(nproc)" guest \
		BUILD="build/$kernel" KDIR="/lib/modules/$release/build" \
		</dev/null >"$log" 2>&1 && return
	cat "$log" >&2
	die "cannot build the tree for Linux $kernel: make failed, its output is above"
}

IN_ROOT_ENV='env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8'

# The tree is mounted in the root; other trees are built there at the same time.
make_with_mounts()
{
	local tree=$1
	shift
	# shellcheck disable=SC2016  # the script is for another shell
	as_root sh -euc '
		root=$1; tree=$2; environment=$3; shift 3
		mount --bind "$tree" "$root/pfstat"
		mount --rbind /dev "$root/dev"
		mount --rbind /proc "$root/proc"
		exec chroot "$root" $environment "$@"
	' sh "$root_home/root" "$tree" "$IN_ROOT_ENV" "$@"
}

# Where nothing can be mounted the tree moves into the root and back again; the
# lock is on the whole root then.
make_without_mounts()
{
	local tree=$1 place=$root_home/root/pfstat code=0
	shift
	rm -rf "$place"
	mv "$tree" "$place"
	# shellcheck disable=SC2086  # words of a command
	chroot "$root_home/root" $IN_ROOT_ENV "$@" || code=$?
	mv "$place" "$tree"
	mkdir "$place"
	return $code
}
