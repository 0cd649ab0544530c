# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154  # variables cross the files of the lab
# Python packages, which Debian may not have, on a disk the guest mounts at /opt/python.

# python_disk: sets python_image to the disk with $python_packages for the guest's Python, in the
# python/requirements.txt versions. It has only these packages, not those they require.
python_disk()
{
	local version key new
	version=$(basename "$root_home"/root/usr/lib/python3.[0-9]*)
	key=$({ cat "$TREE/python/requirements.txt" && echo "$version $python_packages"; } |
		sha256sum | cut -c1-12)
	python_image=$LAB_CACHE/python-$key.img
	lock python
	if [ ! -e "$python_image" ]; then
		say "installing packages of Python for the guest, once: ${python_packages//,/ }"
		new=$(mktemp -d "$LAB_CACHE/python.tmp.XXXXXX")
		on_exit remove_tree "$new"
		find_python_packages "${version#python}" "$new/packages" >"$new.log" 2>&1 ||
			die "cannot install ${python_packages//,/ }: $(tail -n1 "$new.log"); see $new.log"
		make_image "$new/packages" "$new/image" 16
		mv "$new/image" "$python_image"
		rm -f "$new.log"
	fi
	unlock
}

# find_python_packages VERSION FOLDER
find_python_packages()
{
	local environment
	environment=$("$TREE/tools/python-env" build) || return
	# shellcheck disable=SC2086  # several names
	"$environment/bin/pip" --disable-pip-version-check install --quiet --no-deps --no-compile \
		--only-binary=:all: --python-version "$1" --constraint "$TREE/python/requirements.txt" \
		--target "$2" ${python_packages//,/ }
}
