#!/usr/bin/env bash
# Everything that must hold before a change lands. Prints what each step took. A step
# that fails does not keep the others from running; what failed stands last, with the
# commands that repeat it. It does the same each time: what looks by chance for what
# nobody has thought of (`make fuzz`, `make soak`) stops no change of somebody else, and
# what it finds becomes a case of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
aside_pid=
trap '[ -z "$aside_pid" ] || kill -- "-$aside_pid" 2>/dev/null || true; rm -rf "$work"' EXIT

# step runs a function or command, shows what it prints, and keeps the names of what
# failed in it for the end.
step() {
	local name=$1 start=$SECONDS failed=0 out
	shift
	out=$(mktemp "$work/step.XXXXXX")
	echo "== $name"
	# Not as a condition: there -e would not count inside of what is run.
	set +e
	(
		set -e
		"$@"
	) 2>&1 | tee "$out"
	failed=${PIPESTATUS[0]}
	set -e
	echo "== $name: $((SECONDS - start)) s"
	[ "$failed" = 0 ] || named "$name" "$out" >>"$work/failed"
	rm -f "$out"
}

# named prints what failed in a step, by what the step printed.
named() {
	local found
	found=$(awk -v race="${race:-}" -f scripts/failed.awk "$2")
	if [ -n "$found" ]; then
		echo "$found"
	else
		echo "failed: the step \"$1\"; what it printed is above"
	fi
}

formatted() {
	local bad
	bad=$(git ls-files '*.go' | xargs -r gofmt -l)
	[ -z "$bad" ] || {
		echo "Not formatted; run gofmt -w on:"
		echo "$bad"
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
		xargs go test -vet=off -ldflags='-s -w' -run '^$' -bench . -benchtime 1x
}

# plain builds a program without the race detector and prints its path, which says what is in it:
# go test keeps results for a variable that names it.
plain() {
	local dir
	"${@:1:$#-1}" -ldflags='-s -w' -o "$work/scorel" "${@: -1}"
	dir=$(go env GOCACHE)/scorel/$(git hash-object "$work/scorel")
	mkdir -p "$dir"
	mv "$work/scorel" "$dir/scorel"
	echo "$dir/scorel"
}

# tests runs all, with the race detector where there is one. What they start often is built
# without it (see Plain of internal/dev/harness, and internal/dev/child).
tests() {
	if [ -n "$race" ]; then
		find "$(go env GOCACHE)/scorel" -mindepth 1 -mmin +1440 -delete 2>/dev/null || true
		SCOREL_TEST_CHILD=$(plain go build ./internal/dev/child)
		SCOREL_TEST_CLI=$(plain go test -c -vet=off ./internal/ui/cli)
		SCOREL_TEST_TUI=$(plain go test -c -vet=off ./internal/ui/tui)
		export SCOREL_TEST_CHILD SCOREL_TEST_CLI SCOREL_TEST_TUI
	fi
	CGO_ENABLED=$cgo go test $race -vet=off -ldflags='-s -w' -timeout 25m ./...
}

# What the race detector makes six times as long: tests that it leaves out (see Computed of
# internal/dev/harness), and those that it cuts short, as race_test.go of each package
# (hosttest/race.go of the host) says; here they are whole. computed needs only processor
# time, and started starts processes that have a time for what they do.
computed() {
	local whole found
	found=$(git grep -A1 -E '^func Test' -- '*_test.go' | awk '/harness\.Computed\(t\)/ {print test} {test = $0}')
	whole=$(sed -E 's/.*func (Test[A-Za-z0-9_]+).*/^\1$/' <<<"$found" | paste -sd '|')
	go test -vet=off -ldflags='-s -w' -timeout 25m -run "$whole|"'Schedule|ThatDoesNotRead|ALongAnswerIsKept|SendsAtOnce|AFloodOfDifferent|BombsStay|ALargeExport|AListStaysShort|ManyCallsOf|NoRequestHowever|HoweverOftenTheHostIsKilled' \
		$(sed -E 's#^(.*)/[^/]*_test\.go:.*#./\1#' <<<"$found" | sort -u) \
		./internal/dev/simtest ./internal/host/hosttest/tasks ./internal/host/hosttest/turns ./internal/host/serve ./internal/host/transfer ./internal/host/turnconfig ./internal/engine/runtime ./internal/engine/progress ./internal/engine/fetch ./internal/engine/schedule ./internal/host/automation
}

started() {
	go test -vet=off -ldflags='-s -w' -timeout 25m -run 'IsHeld|NoOthersTrouble' ./internal/platform/sandbox ./internal/extension
}

# besides is what needs processor time and no more.
besides() {
	step tidy tidy
	step generated go run ./internal/dev/tsgen -check
	step vet go vet ./...
	GOGC=$collect step staticcheck go tool staticcheck ./...
	step darwin go run ./internal/dev/typecheck darwin/arm64
	step benchmarks benchmarks
	step "a request, an event and a tool are added" bash scripts/extend.sh
	race='' step "computed without the race detector" computed
}

# aside runs a function with what the tests leave of the processors: they wait for
# much. What it prints is shown by join.
aside() {
	set -m # a process group, so that all of it can be ended
	(
		renice -n 10 -p "$BASHPID" >/dev/null || true
		"$@"
	) >"$work/aside" 2>&1 </dev/null &
	aside_pid=$!
	set +m
}

join() {
	wait "$aside_pid" || echo "failed: what runs beside the tests was ended" >>"$work/failed"
	aside_pid=
	cat "$work/aside"
}

# web checks the client library in TypeScript, and tries it with the host of this tree.
web() {
	local binary
	cd web
	npm run --silent check
	cp -R dist "$work/dist-committed"
	npm run --silent build
	cp -R dist "$work/dist-built"
	# Packed by another version of Node the same file has other bytes.
	find "$work/dist-committed" "$work/dist-built" -name '*.gz' -exec gunzip {} +
	diff -rq "$work/dist-committed" "$work/dist-built" || {
		echo "web/dist is not what web/src makes; run: npm run build --prefix web"
		return 1
	}
	cd ..
	binary=$(mktemp -d "$work/web.XXXXXX")/scorel
	go build -ldflags '-s -w' -o "$binary" ./cmd/scorel
	cd web
	SCOREL_BINARY="$binary" npm test --silent
	node --input-type=module -e 'await import("./src/client/dist/client/index.js")'
}

clean_scripts() {
	local f
	for f in scripts/*.sh .ci/run; do bash -n "$f"; done
}

command -v rg >/dev/null || echo "ripgrep is not installed, so the tests that compare with it are left out"
command -v chromium chromium-browser google-chrome >/dev/null || echo "there is no Chromium, so exported pages are not opened in a browser"
command -v chromium-headless-shell >/dev/null || echo "there is no chromium-headless-shell, so pages are tried in the whole Chromium, which takes twice as long"
command -v tmux >/dev/null || echo "tmux is not installed, so the tests that look at the terminal UI are left out"
command -v curl >/dev/null || echo "curl is not installed, so the script of docs/host.md is not run"
command -v jq >/dev/null || echo "jq is not installed, so the script of docs/headless.md is not run"
command -v python3 >/dev/null || echo "there is no Python, so its client in examples/clients is not run"
command -v node >/dev/null || echo "Node is not installed, so its client in examples/clients is not run, and the client library in web/src/client is neither checked nor tried"
[ -d internal/host/mcpservers/testdata/servers/node_modules ] || echo "the MCP servers of npm are not installed (npm ci --prefix internal/host/mcpservers/testdata/servers), so they are not connected with"
command -v node >/dev/null && [ ! -d web/node_modules ] && echo "the packages of npm are not installed (npm ci --prefix web), so the client library in web/src/client is neither checked nor tried"
command -v tsc >/dev/null || echo "there is no TypeScript compiler (npm install -g typescript), so the generated types are checked by their structure only and not compiled"
race=-race cgo=1
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	race='' cgo=0
	echo "there is no C compiler, so the tests run without the race detector"
fi

# A process with the race detector waits a second at its end; the tests start thousands.
export GORACE="${GORACE:-atexit_sleep_ms=0}"
# What is compiled is compiled once: without paths, so that another folder finds it in the
# cache, and without C but for the race detector, which needs it. Linking without what
# debuggers read takes a third of the time; more than a hundred programs are linked.
export GOFLAGS="${GOFLAGS:-} -trimpath -buildvcs=false" CGO_ENABLED=0
# Compilers, vet and staticcheck spend a quarter less when they collect less often. What is
# tested runs as it does for everybody: not by -exec, with which go test keeps no results.
collect=400
GOFLAGS+=" '-toolexec=env GOGC=$collect'"
# Staticcheck's cache is where the other caches are.
STATICCHECK_CACHE="${STATICCHECK_CACHE:-$(go env GOCACHE)/staticcheck}"
export STATICCHECK_CACHE
step format formatted
step scripts clean_scripts
aside besides
step tests tests
join
# Pages in a browser and starting processes have times for what they do, so nothing runs beside them.
if command -v node >/dev/null && [ -d web/node_modules ]; then
	step web web
fi
race='' step "started without the race detector" started
if [ -s "$work/failed" ]; then
	echo "== failed after $SECONDS s"
	cat "$work/failed"
	exit 1
fi
echo "all steps passed in $SECONDS s"
