# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Ubuntu archive kernels, in a Debian root. In the kernel table their image is ubuntu/SUITE: the
# suite's newest generic kernel. If their headers are -, the module is not built for them. pfstat
# contains no host name: the mirror is PFSTAT_UBUNTU_MIRROR=URI, or an Ubuntu host's mirror.

UBUNTU_KEYRING=/usr/share/keyrings/ubuntu-archive-keyring.gpg
UBUNTU_KEYRING_SUITE=trixie	# the first Debian suite whose package ubuntu-keyring has the key

# Prints nothing if there is none.
ubuntu_mirror()
{
	local id own
	if [ -n "${PFSTAT_UBUNTU_MIRROR:-}" ]; then
		echo "$PFSTAT_UBUNTU_MIRROR"
		return
	fi
	id=$(. /etc/os-release && echo "${ID:-}")
	own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ "$id" != ubuntu ] ||
		apt_sources | awk -F'\t' -v own="$own" '$1 == own && !found++ { print $2 }'
}

need_ubuntu_mirror()
{
	[ -n "$(ubuntu_mirror)" ] ||
		die "cannot prepare $kernel: no mirror of Ubuntu is known; set PFSTAT_UBUNTU_MIRROR=URI"
}

# ubuntu_keyring HOME: the keys by which apt checks the archive: this machine's, or those in
# Debian's archive, which apt checks by Debian's keys.
ubuntu_keyring()
{
	local home=$1/keyring
	if [ -r "$UBUNTU_KEYRING" ]; then
		echo "$UBUNTU_KEYRING"
		return
	fi
	mkdir "$home"
	binary_sources_for "$UBUNTU_KEYRING_SUITE" | apt_open "$home"
	apt_download "$home" ubuntu-keyring
	dpkg-deb -x "$home"/ubuntu-keyring_*.deb "$home/unpacked"
	echo "$home/unpacked$UBUNTU_KEYRING"
}

# The release of the suite's newest generic kernel, from the package depending on it.
ubuntu_release()
{
	apt_of "$1" apt-cache show --no-all-versions linux-image-virtual |
		sed -n 's/^Depends: linux-image-\([0-9][^ ,]*\).*/\1/p'
}

# place_ubuntu HOME: unpacks the kernel into the root in HOME, and the file vmlinux. Packages are
# not installed, because they depend on others of Ubuntu.
place_ubuntu()
{
	local home=$1 apt=$1/apt release keyring suite_name package packages
	say "unpacking the kernel of Ubuntu's suite ${image#ubuntu/}"
	mkdir "$apt"
	keyring=$(ubuntu_keyring "$apt")
	for suite_name in "${image#ubuntu/}"{,-updates}; do
		echo "deb [signed-by=$keyring] $(ubuntu_mirror) $suite_name main"
	done | apt_open "$apt"
	release=$(ubuntu_release "$apt")
	[ -n "$release" ] || die "cannot find linux-image-virtual in Ubuntu's suite ${image#ubuntu/}"
	packages=(linux-image-"$release" linux-modules-"$release" linux-modules-extra-"$release")
	[ "$headers" = - ] || packages+=(linux-headers-"$release" linux-headers-"${release%-*}")
	apt_download "$apt" "${packages[@]}"
	for package in "$apt"/*.deb; do
		dpkg-deb --fsys-tarfile "$package" |
			as_root tar -C "$home/root" --keep-directory-symlink -xf - ||
			die "cannot unpack ${package##*/}: is the disk full?"
	done
	remove_tree "$apt"
	as_root chmod a+r "$home/root/boot/vmlinuz-$release"
	unpack_boot_modules "$home/root" "$release"
	unpack_kernel "$home"
}

# make-initrd knows no modules that zstd has compressed.
unpack_boot_modules()
{
	# shellcheck disable=SC2016  # another shell runs the script
	in_root "$1" sh -euc '
		release=$1; shift
		depmod "$release"
		for module; do
			modprobe -S "$release" --show-depends "$module"
		done | sed -n "s/^insmod \(.*\.zst\) *$/\1/p" | sort -u | xargs -r zstd -q -d --rm
		depmod "$release"' sh "$2" "${BOOT_MODULES[@]}"
}
