#!/usr/bin/env bash
# Builds the host of a version for each platform, and writes down what came of it: checksums beside the programs, and
# lua/acp/release.lua, by which the plugin knows the host that it may download. The same text and the same Go give the
# same programs, wherever they are built: the file is committed before the tag is set, and the workflow that publishes the release builds
# again and compares.
#
#   scripts/release.sh VERSION [OUT [RELEASE.LUA]]
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:?which version?}
out=${2:-dist}
lua=${3:-lua/acp/release.lua}
targets=${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}

sum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$@"
  else
    shasum -a 256 "$@"
  fi
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/acp-nvim-* "$out/SHA256SUMS"
revision=$(sed -n "s/^  revision = '\(.*\)',$/\1/p" lua/acp/rpc/contract.lua)
{
  echo "---The released host of this version of the plugin; written by \`make release\`, do not edit."
  echo "return {"
  echo "  version = '$version',"
  echo "  revision = '$revision',"
  echo "  go = '$(go env GOVERSION)',"
  echo "  files = {"
  for target in $targets; do
    os=${target%/*} arch=${target#*/}
    file=acp-nvim-$os-$arch
    env -u GOAMD64 -u GOARM64 -u GOEXPERIMENT CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" GOFLAGS= \
      go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$out/$file" ./cmd/acp-nvim
    size=$(wc -c <"$out/$file" | tr -d ' ')
    checksum=$(sum "$out/$file" | cut -d ' ' -f 1)
    echo "    ['$os-$arch'] = {"
    echo "      size = $size,"
    echo "      sha256 = '$checksum',"
    echo "    },"
  done
  echo "  },"
  echo "}"
} >"$lua"
cd "$out"
sum acp-nvim-* >SHA256SUMS
