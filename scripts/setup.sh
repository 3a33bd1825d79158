#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Install the Debian 12 packages that callmark needs, and nothing when all are there.
#
#   scripts/setup.sh [--build | --demo | --test | --bench]
#
# --build: what compiles callmark. --demo: and what quickstart.sh profiles. --test (the default):
# and what test.sh runs. --bench: and what the benchmarks compare with. Needs root or sudo only
# when a package is missing; no network otherwise. Exit status 1 and one line when it cannot.
set -eu

build='gcc libc6-dev meson ninja-build pkg-config libhdf5-dev libelf-dev libdw-dev libjansson-dev
	libiberty-dev liblzma-dev libssl-dev libzydis-dev uuid-dev'
demo='python3 python3-numpy libopenblas0-pthread sqlite3 likwid'
tests='g++ gfortran lld mold libcriterion-dev python3-h5py binutils clang-format gdb ltrace git
	openssl valgrind mandoc python3-jsonschema openmpi-bin libopenmpi-dev mpich libmpich-dev procps
	python3-greenlet clang libclang-rt-14-dev rustc xz-utils'
# What scripts/torture.sh runs beside them; a case whose program is not there is skipped.
bench='uftrace time libunwind-dev libpython3.11-testsuite dash mawk gawk busybox bc dc jq ed vim file libxml2-utils
	gettext xz-utils zstd bzip2 zip unzip cpio lz4 rsync curl wget nodejs
	openjdk-17-jdk-headless lua5.3 tcl ruby cmake perl hdf5-tools fakeroot gnupg openssh-client m4
	patch python3.11-dbg libc6-dbg libperl5.36 python3-scipy python3-pytest'

fail()
{
	echo "setup: $*" >&2
	exit 1
}

case ${1:---test} in
--build) wanted=$build ;;
--demo) wanted="$build $demo" ;;
--test) wanted="$build $demo $tests" ;;
--bench) wanted="$build $demo $tests $bench" ;;
*) fail "unknown option $1; see the top of $0" ;;
esac

command -v dpkg-query >/dev/null || fail "this is no Debian system; install by hand:" $wanted

missing=
for package in $wanted; do
	# shellcheck disable=SC2016 # dpkg-query's own variable
	status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null || true)
	case $status in
	'ii '*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || fail "not root and no sudo; as root: apt-get install$missing"
	sudo=sudo
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt()
{
	# shellcheck disable=SC2086 # $sudo may be empty
	$sudo env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -y \
		-o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null
}

install()
{
	# shellcheck disable=SC2086 # a list of packages
	apt install --no-install-recommends $missing
}

echo "setup: installing$missing"
# Package lists that are there are tried first: updating them takes longer than most installs.
if ! install && ! { apt update && install; }; then
	grep -E '^(E|W|Err):' "$log" | tail -n 5 >&2 || :
	fail "apt-get could not install:$missing"
fi
