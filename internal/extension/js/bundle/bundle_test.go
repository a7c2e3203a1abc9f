package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestABundleIsTakenFromTheCacheUntilAnInputChanges(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	entry := write(t, dir, "x.ts", `import "p"; import { a } from "./a"; export default a`)
	write(t, dir, "a.ts", `export const a = 1`)
	write(t, dir, "node_modules/p/package.json", `{"main":"one.js"}`)
	write(t, dir, "node_modules/p/one.js", `globalThis.p = "one"`)
	write(t, dir, "node_modules/p/two.js", `globalThis.p = "two"`)
	make := func(version string) *Bundle {
		t.Helper()
		b, err := Make(Options{Entry: entry, Root: dir, Cache: cache, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := make("1")
	if first.Cached {
		t.Error("the first one is from the cache")
	}
	for _, name := range []string{"x.ts", "a.ts", "node_modules/p/one.js", "node_modules/p/package.json"} {
		if len(first.Inputs[name]) != 64 {
			t.Errorf("the inputs do not have %s: %v", name, first.Inputs)
		}
	}
	again := make("1")
	if !again.Cached || !bytes.Equal(again.Code, first.Code) {
		t.Error("the second one is not from the cache")
	}
	if make("2").Cached {
		t.Error("another version is from the cache")
	}
	for what, change := range map[string]func(){
		"a file":                        func() { write(t, dir, "a.ts", `export const a = 2`) },
		"the choice of a file":          func() { write(t, dir, "node_modules/p/package.json", `{"main":"two.js"}`) },
		"a package.json that was not":   func() { write(t, dir, "package.json", `{"type":"module"}`) },
		"a bundle with other bytes":     func() { spoil(t, cache, func(b []byte) []byte { return append(b, '\n') }) },
		"a bundle that is cut":          func() { spoil(t, cache, func(b []byte) []byte { return b[:len(b)/2] }) },
		"a bundle without its head":     func() { spoil(t, cache, func(b []byte) []byte { return []byte("x") }) },
		"a bundle with a head of lists": func() { spoil(t, cache, func(b []byte) []byte { return append([]byte("{}\n"), b...) }) },
	} {
		change()
		if b := make("1"); b.Cached {
			t.Errorf("after a change of %s the bundle is from the cache", what)
		}
		if !make("1").Cached {
			t.Errorf("after a change of %s nothing is cached", what)
		}
	}
	files, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("the cache holds %v, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
}

// spoil changes all files of a cache.
func spoil(t *testing.T, cache string, change func([]byte) []byte) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(cache, "*.bundle"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheCacheKeepsToItsBounds(t *testing.T) {
	cache := t.TempDir()
	old := time.Now().Add(-3 * time.Hour)
	for i := range 10 * MaxCached {
		path := write(t, cache, fmt.Sprintf("%04d.bundle", i), "x")
		if err := os.Chtimes(path, old.Add(time.Duration(i)*time.Second), old.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	left := write(t, cache, ".new-1", "x")
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	fresh := write(t, cache, ".new-2", "x")
	dir := t.TempDir()
	if _, err := Make(Options{Entry: write(t, dir, "x.ts", "export default 1"), Cache: cache}); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(cache, "*.bundle"))
	if err != nil || len(all) != MaxCached {
		t.Errorf("%d bundles, %v", len(all), err)
	}
	if _, err := os.Stat(filepath.Join(cache, "1999.bundle")); err != nil {
		t.Error("the newest is gone")
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a dead writer left is there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("what a writer writes is gone")
	}
}

func TestOneSentenceSaysWhatCannotBeBundledAndWhere(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"syntax":       {"let x = 1\nlet x = 2\nexport default x", `x.ts:2:5: The symbol "x" has already been declared`},
		"missing file": {`import "./none"`, `x.ts:1:8: Could not resolve "./none"`},
		"a folder":     {`import "./dir"`, `Could not resolve "./dir"`},
		"a picture":    {`import x from "./p.png"; export default x`, `p.png cannot be imported; an extension imports .ts, .js`},
		"node":         {`import "node:vm"`, `there is no module "node:vm" in Scorel; it has assert, `},
		"http2":        {`import { connect } from "node:http2"; connect()`, `x.ts:1:25: there is no module "node:http2" in Scorel; use https or the global fetch`},
		"net":          {`import net from "net"; net.connect()`, `x.ts:1:17: there is no module "net" in Scorel; there are no sockets: use http, https or the global fetch`},
		"bad json":     {`import x from "./bad.json"; export default x`, "bad.json:1:"},
		"style":        {`import "./s.css"`, "s.css cannot be imported"},
	} {
		dir := t.TempDir()
		write(t, dir, "dir/a.txt", "")
		write(t, dir, "p.png", "\x89PNG")
		write(t, dir, "bad.json", "{")
		write(t, dir, "s.css", "a{}")
		_, err := Make(Options{Entry: write(t, dir, "x.ts", c.source)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Make(Options{Entry: filepath.Join(t.TempDir(), "none.ts")}); err == nil {
		t.Error("a file that is not there is bundled")
	}
	dir := t.TempDir()
	big := write(t, dir, "x.ts", "//"+strings.Repeat("x", MaxSource))
	if _, err := Make(Options{Entry: big}); err == nil || !strings.Contains(err.Error(), "x.ts is larger than 8 MiB") {
		t.Errorf("a big file: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.ts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(Options{Entry: filepath.Join(dir, "d.ts")}); err == nil {
		t.Error("a folder is bundled")
	}
}

func TestVendorsModulesResolveUnderAllTheirNames(t *testing.T) {
	dir := t.TempDir()
	b, err := Make(Options{Entry: write(t, dir, "x.ts", `
import { complete } from "@mariozechner/pi-ai"; import { a } from "@earendil-works/pi-ai"; import { b } from "@earendil-works/pi-ai/compat"; import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox"; import * as fs from "node:fs"; import p from "path";
export default [complete, a, b, Type, fs, p] as HookAPI;`)})
	if err != nil {
		t.Fatal(err)
	}
	for module, n := range map[string]int{`__scorel.module("@mariozechner/pi-ai")`: 1, `__scorel.module("@sinclair/typebox")`: 1, `__scorel.module("fs")`: 1, `__scorel.module("path")`: 1, "hooks": 0} {
		if got := strings.Count(string(b.Code), module); got != n {
			t.Errorf("%s is in it %d times, not %d", module, got, n)
		}
	}
}

func TestTheSeedsHookBundlesUnmodified(t *testing.T) {
	b, err := Make(Options{Entry: "../../prelude/testdata/stack-seed.ts"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(b); err != nil {
		t.Fatal(err)
	}
}

func TestNestingIsCountedOutsideOfStringsAndComments(t *testing.T) {
	deep := strings.Repeat("(", maxDepth+1)
	for source, refused := range map[string]bool{
		deep: true, "// " + deep: false, "/* " + deep + " */": false, `"` + deep + `"`: false, `'\'` + deep + `'`: false,
		"`" + deep + "`": false, "`${" + deep: true, "/'/\n" + deep: true, "// x\n" + deep: true, `"x` + "\n" + deep: true,
		strings.Repeat("f(1);", 100_000): false, strings.Repeat("a.b + c;", 100_000): false, "x = [" + strings.Repeat("-1,", 100_000) + "]": false,
		strings.Repeat("{}\n", 100_000): false,
	} {
		if err := checkNesting([]byte(source)); (err != nil) != refused {
			t.Errorf("%.20q…: %v", source, err)
		}
	}
}

func FuzzSourcesAreBundledOrRefused(f *testing.F) {
	f.Add("export default 1")
	f.Add("import x from './y'; `${`${1}`}`")
	f.Add("enum A { B } @dec class C { #p = /[\\p{L}]/u }")
	f.Add("for await (const x of y) using z = 1")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 10_000 {
			return
		}
		dir := t.TempDir()
		b, err := Make(Options{Entry: write(t, dir, "x.ts", source)})
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("the error says nothing")
			}
			return
		}
		if len(b.Inputs) != 1 {
			t.Errorf("the inputs are %v", b.Inputs)
		}
		_, _ = Compile(b) // an error or a program
	})
}
