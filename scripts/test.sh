#!/usr/bin/env bash
# Everything that must hold before a change lands. Prints what each step took.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
	local name=$1 start=$SECONDS
	shift
	echo "== $name"
	"$@"
	echo "== $name: $((SECONDS - start)) s"
}

formatted() {
	local bad
	bad=$(git ls-files '*.go' | xargs -r gofmt -l)
	[ -z "$bad" ] || {
		echo "Not formatted; run gofmt -w on:" >&2
		echo "$bad" >&2
		return 1
	}
}

tidy() {
	go mod tidy -diff
}

# benchmarks runs each once, to see that it runs. Only packages that have some are
# built for it, and not with the race detector: some have seconds for what they do.
benchmarks() {
	git grep -lE '^func Benchmark' -- '*_test.go' | xargs -n 1 dirname | sort -u | sed 's#^#./#' |
		xargs go test -vet=off -run '^$' -bench . -benchtime 1x
}

# What the race detector makes six times as long its tests cut short, as race_test.go
# of each package says: here it is whole. computed needs only processor time, and
# started starts processes that have a time for what they do.
computed() {
	go test -vet=off -timeout 25m -run 'Schedule|ThatDoesNotRead|CutAtEveryByte|FlippedBits' ./internal/synctrial ./internal/session
}

started() {
	go test -vet=off -timeout 25m -run 'IsHeld|NoOthersTrouble' ./internal/sandbox ./internal/extension
}

# besides is what needs processor time and no more.
besides() {
	step tidy tidy
	step generated go run ./internal/tsgen -check
	step vet go vet ./...
	step staticcheck go tool staticcheck ./...
	step darwin go run ./internal/typecheck darwin/arm64
	step benchmarks benchmarks
	step "computed without the race detector" computed
}

# aside runs a function with what the tests leave of the processors: they wait for
# much. What it prints is shown by join, which fails when the function did.
aside() {
	aside_out=$(mktemp)
	set -m # a process group, so that all of it can be ended
	(
		renice -n 10 -p "$BASHPID" >/dev/null || true
		"$@"
	) >"$aside_out" 2>&1 </dev/null &
	aside_pid=$!
	set +m
	trap 'kill -- "-$aside_pid" 2>/dev/null || true; rm -f "$aside_out"' EXIT
}

join() {
	local failed=0
	wait "$aside_pid" || failed=$?
	cat "$aside_out"
	return "$failed"
}

clean_scripts() {
	local f
	for f in scripts/*.sh .ci/run; do bash -n "$f"; done
}

command -v rg >/dev/null || echo "ripgrep is not installed, so the tests that compare with it are left out"
command -v chromium chromium-browser google-chrome >/dev/null || echo "there is no Chromium, so exported pages are not opened in a browser"
command -v tmux >/dev/null || echo "tmux is not installed, so the tests that look at the terminal UI are left out"
command -v curl >/dev/null || echo "curl is not installed, so the script of docs/host.md is not run"
command -v jq >/dev/null || echo "jq is not installed, so the script of docs/headless.md is not run"
command -v tsc >/dev/null || echo "there is no TypeScript compiler (npm install -g typescript), so the generated types are checked by their structure only and not compiled"
race=-race
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	race=
	echo "there is no C compiler, so the tests run without the race detector"
fi

# A process with the race detector waits a second at its end; the tests start thousands.
export GORACE="${GORACE:-atexit_sleep_ms=0}"
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
# Staticcheck's cache is where the other caches are.
STATICCHECK_CACHE="${STATICCHECK_CACHE:-$(go env GOCACHE)/staticcheck}"
export STATICCHECK_CACHE
step format formatted
step scripts clean_scripts
aside besides
step tests go test $race -vet=off -timeout 25m ./...
join
step "started without the race detector" started
step fuzz env FUZZTIME="${FUZZTIME:-500x}" bash scripts/fuzz.sh
echo "all steps passed in $SECONDS s"
