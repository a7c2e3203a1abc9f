package prelude

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"scorel/internal/extension/rpc"
)

// BenchmarkTenExtensions starts a child with ten small extensions, as people have many of,
// whose bundles are in the cache.
func BenchmarkTenExtensions(b *testing.B) {
	dir := b.TempDir()
	var paths []string
	for i := range 10 {
		path := filepath.Join(dir, fmt.Sprintf("small%d.ts", i))
		source := fmt.Sprintf(`export default function (pi: any) {
  pi.on("session_start", async () => {});
  pi.on("tool_call", async () => undefined);
  pi.registerTool({ name: "small%[1]d", label: "small", description: "Does a small thing.", parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "done" }] }) });
  pi.registerCommand("small%[1]d", { description: "small", handler: async () => {} });
}
`, i)
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
	}
	d := newDouble(b)
	b.ReportAllocs()
	for b.Loop() {
		c := d.start()
		for i, path := range paths {
			if _, err := c.call(rpc.MethodLoad, rpc.Load{Ext: fmt.Sprint("e", i), Path: path, Scope: "user", Root: dir, Cache: filepath.Join(dir, "cache"), Reason: "startup"}); err != nil {
				b.Fatal(err)
			}
		}
		c.in.Close()
	}
}
