package prelude

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"scorel/internal/extension/rpc"
)

func TestExtensionsThatAreLoadedTogetherShareOneListOfModels(t *testing.T) {
	d := newDouble(t)
	c := d.start()
	dir := t.TempDir()
	load := func(id string) {
		t.Helper()
		path := filepath.Join(dir, id+".ts")
		if err := os.WriteFile(path, []byte(`export default (pi: any) => pi.on("input", (_e: any, ctx: any) => ({ action: "transform", text: ctx.modelRegistry.getAvailable().map((m: any) => m.id).join(" ") }));`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.call(rpc.MethodLoad, rpc.Load{Ext: id, Path: path, Scope: "user", Root: dir, Reason: "startup"}); err != nil {
			t.Fatal(err)
		}
	}
	models := func(id string) string {
		t.Helper()
		got, err := c.call(rpc.MethodHook, rpc.HookCall{Ext: id, Hook: "input", Data: marshal(map[string]string{"text": "x"})})
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Text string }
		mustUnmarshal(t, got, &answer)
		return answer.Text
	}
	for i := range 3 {
		load(fmt.Sprint("e", i))
	}
	for i := range 3 {
		if got := models(fmt.Sprint("e", i)); got != "demo-1 demo-2" {
			t.Errorf("extension %d knows the models %q", i, got)
		}
	}
	if n := len(d.called(rpc.CallModels)); n != 1 {
		t.Errorf("the host was asked %d times", n)
	}
	// One that is loaded later has what counts then.
	d.mu.Lock()
	d.models = append(d.models, rpc.Model{ID: "demo-3", Provider: "demo"})
	d.mu.Unlock()
	load("later")
	if got := models("later"); got != "demo-1 demo-2 demo-3" {
		t.Errorf("the later one knows the models %q", got)
	}
}
