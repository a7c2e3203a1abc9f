# Everything a person or CI runs. Each target works on a fresh clone.
GO ?= go
BENCHTIME ?= 1x
FUZZTIME ?= 5s

.PHONY: build demo test bench fuzz soak generate catalog screenshots clean

build: ## the binary, in bin/scorel
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/scorel ./cmd/scorel

demo: build ## an agent repairs a small project: no key, no network
	bin/scorel demo

test: ## everything CI runs
	bash scripts/test.sh

bench: build ## our figures beside the goals and the peers'
	$(GO) run ./internal/dev/bench

fuzz: ## every fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) bash scripts/fuzz.sh

soak: build ## kill and resume the real binary for long, then play schedules: N of them, or until stopped
	SCOREL_SOAK=1 $(GO) test -count=1 -timeout 120m -run 'Soak|Kill' ./internal/...
	SCOREL_SOAK=1 N=$(N) $(GO) test -count=1 -timeout 0 -v -run Schedule ./internal/dev/simtest

generate: ## what is made of the protocol: TypeScript types, JSON Schema, OpenAPI, the reference in docs/protocol
	$(GO) run ./internal/dev/tsgen

catalog: ## the model catalogue from its public package
	$(GO) generate ./internal/engine/model/catalog

screenshots: build ## the pictures of the terminal UI and, with Node and Chromium, of the page, in docs/screens
	$(GO) run ./internal/dev/screenshots
	cd web && SCREENS=../docs/screens SCOREL_BINARY=../bin/scorel npx vitest run src/app/testing/screens

clean:
	rm -rf bin bench.json
