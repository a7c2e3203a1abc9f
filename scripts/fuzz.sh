#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (5s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-5s}
git grep -lE '^func Fuzz[A-Za-z0-9_]*\(' -- '*_test.go' | sort | while read -r file; do
	dir=$(dirname "$file")
	grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
		echo "-- $dir $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$dir" </dev/null
	done
done
