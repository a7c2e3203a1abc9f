#!/bin/sh
# Regenerates catalog.json from the npm package. Needs npm and the network.
set -eu
version=${PI_AI_VERSION:-1.5.2}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tarball=$(cd "$dir" && npm pack --silent "@earendil-works/pi-ai@$version")
go run ./gen -from "$dir/$tarball" -to catalog.json
