package extension

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

// TestExtensionsRunInLoadOrderAlsoWhenTheirBundlesAreAtHand loads extensions that take their
// time, first without a bundle in the cache and then with one.
func TestExtensionsRunInLoadOrderAlsoWhenTheirBundlesAreAtHand(t *testing.T) {
	w := newRealWorld(t)
	seen := filepath.Join(t.TempDir(), "seen")
	var want strings.Builder
	for i := range 5 {
		id := fmt.Sprint("e", i)
		w.ts(id, fmt.Sprintf(`import { appendFileSync } from "node:fs";
export default async function (pi: any) {
  appendFileSync(%[2]q, "%[1]s begins ");
  await new Promise((done) => setTimeout(done, %[3]d));
  appendFileSync(%[2]q, "%[1]s ends ");
}`, id, seen, 10-2*i))
		fmt.Fprintf(&want, "%[1]s begins %[1]s ends ", id)
	}
	w.load()
	w.set.Reload(t.Context())
	got, err := os.ReadFile(seen)
	if err != nil || string(got) != want.String()+want.String() {
		t.Errorf("%q, %v", got, err)
	}
}

// TestExtensionThatEndsTheProcessWhileOthersAreLoadedIsBlamedAlone has one of many end the
// process when it is loaded, which it shares with them.
func TestExtensionThatEndsTheProcessWhileOthersAreLoadedIsBlamedAlone(t *testing.T) {
	w := newRealWorld(t)
	for i := range 5 {
		w.ts(fmt.Sprint("e", i), good)
	}
	w.load()
	w.ts("e2", `export default function (pi: any) { require("node:child_process").execSync("kill -9 $PPID"); }`)
	w.set.Reload(t.Context())
	for _, text := range w.told() {
		if !strings.HasPrefix(text, "The extension e2 ") {
			t.Errorf("people were told %q", text)
		}
	}
	for i := range 5 {
		info := w.info(fmt.Sprint("e", i))
		if (info.State == protocol.ExtensionLoaded) == (i == 2) {
			t.Errorf("%+v", info)
		}
	}
}
