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

# holding gives the packages of the files that it is told.
holding() {
	xargs -n 1 dirname | sort -u | sed 's#^#./#'
}

# unraced runs what is run without the race detector: each benchmark once, to see that
# it runs, some of which have seconds for what they do; and all of the packages whose
# tests cut short what the detector makes six times as long.
unraced() {
	local whole
	whole=$(git ls-files '*/norace_test.go' | holding)
	go test -vet=off -timeout 25m -bench . -benchtime 1x $whole
	git grep -lE '^func Benchmark' -- '*_test.go' | holding | grep -vxF "$whole" |
		xargs go test -vet=off -run '^$' -bench . -benchtime 1x
}

# besides is what needs processor time and no more.
besides() {
	step tidy tidy
	step generated go run ./internal/tsgen -check
	step vet go vet ./...
	step staticcheck go tool staticcheck ./...
	step darwin go run ./internal/typecheck darwin/arm64
	step unraced unraced
}

# aside runs a function with what the tests leave of the processors: they wait for
# much. What it prints is shown by join, which fails when the function did.
aside() {
	aside_out=$(mktemp)
	set -m # a process group, so that all of it can be ended
	(
		renice -n 19 -p "$BASHPID" >/dev/null || true
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
step fuzz env FUZZTIME="${FUZZTIME:-500x}" bash scripts/fuzz.sh
echo "all steps passed in $SECONDS s"
