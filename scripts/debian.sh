#!/usr/bin/env bash
# Gets a program out of a Debian suite without installing it and without root.
#
#   debian.sh SUITE PACKAGE PROGRAM
#
# Unpacks PACKAGE and everything it needs, down to the C library, into a folder of the user's cache,
# makes /usr/bin/PROGRAM run from there and prints that folder. A folder that is already there is
# used as it is, without network; delete it to get it anew.
# Exit codes: 0 printed, 2 wrong usage, 3 it cannot be had (the reason is on stderr).
set -euo pipefail

if [ $# -ne 3 ]; then
  echo 'usage: debian.sh SUITE PACKAGE PROGRAM' >&2
  exit 2
fi
suite=$1 package=$2 program=$3

fail() {
  echo "debian.sh: cannot get $package of Debian $suite: $*" >&2
  exit 3
}

case ${XDG_CACHE_HOME:-} in
  /*) cache=$XDG_CACHE_HOME/acp-nvim ;;
  *) cache=${HOME:?HOME is not set}/.cache/acp-nvim ;;
esac
root=$cache/$program-$suite

exit_if_there() {
  if [ -d "$root" ]; then
    echo "$root"
    exit 0
  fi
}
exit_if_there

for tool in apt-get dpkg dpkg-deb flock; do
  command -v "$tool" >/dev/null || fail "there is no $tool; this works on Debian only"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || fail "there is no $keyring; this works on Debian only"

mkdir -p "$cache"
exec 9>"$root.lock"
flock 9
exit_if_there # another run may have put it there while this one waited for the lock

echo "debian.sh: getting $package of Debian $suite into $root" >&2
work=$root.tmp # ours alone, thanks to the lock; may be left from a run that was killed
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir -p "$work/root" "$work/state/lists/partial" "$work/cache/archives/partial"
: >"$work/state/status" # nothing is installed: so everything down to libc is fetched

# The machine's own apt configuration is read first (proxy, credentials), then this. It keeps apt
# away from the system's folders and from the hooks that would touch them.
cat >"$work/apt.conf" <<END
#clear APT::Update;
#clear APT::Default-Release;
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Retries "3";
Acquire::http::Timeout "60";
Acquire::https::Timeout "60";
Dir::State "$work/state";
Dir::State::lists "$work/state/lists";
Dir::State::status "$work/state/status";
Dir::Cache "$work/cache";
Dir::Cache::archives "$work/cache/archives";
Dir::Etc::sourcelist "$work/debian.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
END
private_apt() { LC_ALL=C apt-get -c "$work/apt.conf" -qq -y "$@" </dev/null >"$work/log" 2>&1; }

# The machine's own mirrors, whatever format its sources have. One that does not carry the suite, or
# does not have it signed by Debian, does not pass the update.
mirrors=$(apt-get --print-uris update 2>"$work/log" </dev/null |
  sed -n "/^'cdrom:/d; s|^'\([^']*\)/dists/[^']*'.*|\1|p" | awk '!seen[$0]++') || true
if [ -z "$mirrors" ]; then
  cat "$work/log" >&2
  fail 'the sources of apt name no mirror'
fi
mirror=
for uri in $mirrors; do
  cat >"$work/debian.sources" <<END
Types: deb
URIs: $uri
Suites: $suite
Components: main
Architectures: $(dpkg --print-architecture)
Targets: Packages
Languages: none
Signed-By: $keyring
END
  if private_apt -o APT::Update::Error-Mode=any update; then
    mirror=$uri
    break
  fi
  cat "$work/log" >&2
done
[ -n "$mirror" ] || fail "no mirror in the sources of apt has the suite $suite now"
private_apt --download-only install "$package" patchelf || {
  cat "$work/log" >&2
  fail 'the download failed'
}
for deb in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$deb" "$work/root" || fail "unpack $deb"
done

# The program was built for another C library than the machine's: it gets the fetched loader and
# library folders for good, by patchelf, which itself runs by that loader. An rpath, unlike
# LD_LIBRARY_PATH, is not inherited by the jobs that the program starts.
loader=$(find "$work/root" -name 'ld-linux*.so.*' -o -name 'ld64.so.*' | head -n 1)
libc=$(find "$work/root" -name libc.so.6 | head -n 1)
if [ -z "$loader" ] || [ -z "$libc" ]; then fail 'it came without a C library'; fi
triplet=$(basename "$(dirname "$libc")")
with_libs() { "$loader" --library-path "$work/root/usr/lib/$triplet:$work/root/lib/$triplet" "$@"; }
[ -e "$work/root/usr/bin/$program" ] || fail "it has no /usr/bin/$program"
binary=$(readlink -f "$work/root/usr/bin/$program")
with_libs --list "$binary" >/dev/null || fail 'its libraries do not fit together today'
with_libs "$work/root/usr/bin/patchelf" --set-interpreter "$root${loader#"$work/root"}" \
  --force-rpath --set-rpath "$root/usr/lib/$triplet:$root/lib/$triplet" "$binary" ||
  fail 'patchelf failed'
mv "$work/root" "$root"
echo "$root"
