#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (5s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-5s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Go's fuzzer sometimes takes its own deadline for a failure: then there is no
# failing input, and the only complaint is the deadline.
deadline_only() {
	grep -q 'context deadline exceeded' "$log" && ! grep -qE 'Failing input|panic:|fuzzing process' "$log"
}

git grep -lE '^func Fuzz[A-Za-z0-9_]*\(' -- '*_test.go' | sort | while read -r file; do
	dir=$(dirname "$file")
	grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
		echo "-- $dir $target"
		if go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$dir" </dev/null >"$log" 2>&1; then
			grep -E '^(ok|PASS)' "$log"
		elif deadline_only; then
			echo "ok  	$dir	(ended at its deadline)"
		else
			cat "$log"
			exit 1
		fi
	done
done
