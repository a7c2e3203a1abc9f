package js_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"scorel/internal/extension/js/jstest"
)

// TestMain makes the test binary the child, too.
func TestMain(m *testing.M) {
	jstest.RunChild()
	os.Exit(m.Run())
}

// write writes a file and returns its path.
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

// loaded starts a child with one extension, "x".
func loaded(t testing.TB, source string, env ...string) *jstest.Host {
	t.Helper()
	dir := t.TempDir()
	h := jstest.Start(t, env...)
	h.Begin(dir)
	if _, err := h.Load("x", write(t, dir, "x.ts", source)); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestATypeScriptExtensionLoadsAndAnswersAHook(t *testing.T) {
	h := loaded(t, `
import { join } from "node:path";
interface Call { toolName: string }
export default async (host: any) => ({
  registration: { version: "1.2", tools: [{ name: "t", description: "d" }] },
  hooks: { tool_call(data: Call) { return { block: data.toolName === "Bash", reason: join("a", "b") }; } },
});`)
	got, err := h.Hook("x", "tool_call", map[string]string{"toolName": "Bash"})
	if err != nil || string(got) != `{"block":true,"reason":"a/b"}` {
		t.Errorf("the hook gave %s, %v", got, err)
	}
}

func TestAnErrorOfAHandlerNamesTheLineOfItsTypeScriptFile(t *testing.T) {
	h := loaded(t, `type A = {
  a: string
}
export default () => ({
  hooks: { tool_call(data: A) {
    const f = (): never => { throw new Error("no"); };
    return f();
  } },
});`)
	_, err := h.Hook("x", "tool_call", nil)
	e, ok := err.(*jstest.Error)
	if !ok || e.Message != "no" {
		t.Fatalf("the hook gave %v", err)
	}
	if !strings.Contains(e.Data.Stack, "x.ts:6:") || !strings.Contains(e.Data.Stack, "x.ts:7:") || strings.Contains(e.Data.Stack, "scorel:") {
		t.Errorf("the stack is:\n%s", e.Data.Stack)
	}
}

func sum(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// gone waits until a process has ended.
func gone(t testing.TB, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the process %d runs on", n)
		}
	}
}
