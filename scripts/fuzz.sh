#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (5s; or 500x) in one worker, on each processor the
# targets of another package. A package's binary is built once. Only our packages
# are instrumented: `go test -fuzz` would compile all that they import once more,
# which takes longer than the fuzzing, and lead the fuzzer into code that is not ours.
# What is interesting is hardly made smaller: that would take all of the time.
set -euo pipefail
cd "$(dirname "$0")/.."
export FUZZTIME=${FUZZTIME:-5s}
FUZZWORK=$(mktemp -d)
FUZZCACHE=$(go env GOCACHE)/fuzz
export FUZZWORK FUZZCACHE
trap 'rm -rf "$FUZZWORK"' EXIT

# Go's fuzzer sometimes takes its own deadline for a failure: then there is no
# failing input, and the only complaint is the deadline.
deadline_only() {
	grep -q 'context deadline exceeded' "$1" && ! grep -qE 'Failing input|panic:|fuzzing process' "$1"
}

# targets runs the targets of the package in a folder.
targets() {
	local dir=$1 name=$FUZZWORK/${1//\//-} target out
	go test -c -gcflags='scorel/...=-d=libfuzzer' -ldflags='-s -w' -o "$name" "./$dir" || return
	cd "$dir"
	for target in $(cat ./*_test.go | grep -oE '^func Fuzz[A-Za-z0-9_]*' | sed 's/^func //' | sort); do
		if out=$("$name" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 10x -test.parallel 1 \
			-test.fuzzcachedir "$FUZZCACHE/scorel/$dir" </dev/null 2>&1) && [[ $out == *"gathering baseline coverage"* ]]; then
			echo "ok  	$dir $target"
		elif printf '%s\n' "$out" >"$name.log" && deadline_only "$name.log"; then
			echo "ok  	$dir $target (ended at its deadline)"
		else
			printf -- '-- %s %s\n%s\n' "$dir" "$target" "$out"
			return 1
		fi
	done
	rm -f "$name"
}
export -f targets deadline_only

git grep -lE '^func Fuzz[A-Za-z0-9_]*\(' -- '*_test.go' | xargs -n 1 dirname | sort -u |
	xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} bash -euo pipefail -c 'targets {}'
