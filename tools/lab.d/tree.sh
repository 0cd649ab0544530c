# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Builds this source tree with the guest's own compiler and headers, natively, or for arm64 with a
# cross compiler, and creates a disk of the result, which the guest mounts at /pfstat.

# One copy for each path, so two clones do not mix. The build also mounts it at /pfstat, so paths in
# debug information and dependency files are the guest's.
tree_key()
{
	printf %s "${TREE:?}" | sha256sum | cut -c1-12
}

# build_tree LINK: builds, and makes LINK a hard link to the disk image. A later build replaces the
# image by rename, without disturbing the guest using it.
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

# Makes a fresh copy each time, so files removed from the tree are also removed from the copy. The
# build directory moves over, and make does the rest.
copy_tree()
{
	local home=$1
	remove_tree "$home/new"
	mkdir "$home/new"
	tar -C "$TREE" --exclude=./.git --exclude=./build -cf - . |
		tar -C "$home/new" --no-same-owner -xf - ||
		die "cannot copy $TREE to $home: is the disk full?"
	if [ -d "$home/tree/build" ]; then
		touch_changed "$home/tree" "$home/new"
		mv "$home/tree/build" "$home/new/build"
	fi
	remove_tree "$home/tree"
	mv "$home/new" "$home/tree"
}

# A file edited during a build is older than the objects made from the previous content, and so
# would not be compiled again.
touch_changed()
{
	{ LC_ALL=C diff -rq --exclude=build "$1" "$2" || [ $? = 1 ]; } |
		sed -n "s|^Files .* and \\($2/.*\\) differ\$|\\1|p" | xargs -r -d '\n' touch
}

# make prints nothing unless it fails, since the caller wants COMMAND's output.
run_make()
{
	local home=$1 log=$1/make.log release enter=make_with_mounts
	release=$(<"$root_home/release")
	[ "$can_mount" = yes ] || enter=make_without_mounts

	say "building the tree for Linux $release"
	choose_compiler "$release"
	$enter "$home/tree" make -C /pfstat --no-print-directory -j"$(nproc)" guest \
		BUILD="build/$kernel" "${make_variables[@]}" \
		</dev/null >"$log" 2>&1 && return
	cat "$log" >&2
	die "cannot build the tree for Linux $kernel: make failed, its output is above"
}

# choose_compiler RELEASE: sets make_variables.
choose_compiler()
{
	make_variables=(KDIR="/lib/modules/$1/build")
	# The build refuses the module there, and kernels without headers have none. The root that
	# compiles for arm64 has no such file.
	! grep -qsx CONFIG_PREEMPT_RT=y "$root_home/root/boot/config-$1" || make_variables+=(MODULE=no)
	[ "$headers" != - ] || make_variables+=(MODULE=no)
	[ "$arch" != amd64 ] || return 0
	make_variables=(KDIR="/usr/src/linux-headers-$1" ARCH=arm64
		CROSS_COMPILE=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar
		PKG_CONFIG="env PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig pkg-config")
}

IN_ROOT_ENV='env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8'

# The tree is mounted in the root. Other trees may be built there at the same time.
make_with_mounts()
{
	local tree=$1
	shift
	# shellcheck disable=SC2016  # another shell runs the script
	as_root sh -euc '
		root=$1; tree=$2; environment=$3; shift 3
		mount --bind "$tree" "$root/pfstat"
		mount --rbind /dev "$root/dev"
		mount --rbind /proc "$root/proc"
		exec chroot "$root" $environment "$@"
	' sh "$root_home/root" "$tree" "$IN_ROOT_ENV" "$@"
}

# If mounts are impossible, the tree moves into the root and back again. The lock then covers the
# whole root.
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
