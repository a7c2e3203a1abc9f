package prelude

import (
	"testing"

	"github.com/dop251/goja"
)

// The engine ends with the extension, so here the script runs without one, over natives
// that answer everything with nothing.
const stub = `
const handlers = {}, out = [];
const __host = {
	call: async () => ({}), models: async () => ({}), notify() {}, define() {}, state: {}, session: { cwd: "/work" }, config: {}, entries: () => [],
	handle(method, fn) { handlers[method] = fn; }, onLoad(fn) { handlers.load = fn; },
};`

const useWhatWasKept = `
let kept;
(async () => {
	await handlers.load({ default: (pi) => { pi.on("turn_start", (_e, ctx) => { kept = { pi, ctx, ui: ctx.ui, sm: ctx.sessionManager }; }); } });
	await handlers.event({ type: "turn_start", event: {} });
	const use = async () => {
		for (const f of [() => kept.ctx.cwd, () => kept.ctx.entries, () => kept.ctx.saveEntry({ type: "x_y" }), () => kept.sm.getEntries(),
			() => kept.pi.sendUserMessage("x"), () => kept.pi.on("input", () => {}), () => kept.ctx.rebuildContext(), () => kept.ui.confirm("a", "b")]) {
			try { await f(); out.push("fine"); } catch (err) { out.push(/was unloaded \(reload\)/.test(err.message) ? "stale" : err.message); }
		}
	};
	await use();
	await handlers["extension/unload"]({ reason: "reload" });
	await use();
})();`

func TestWhatAnExtensionKeptOfItsSessionThrowsOnceItIsUnloaded(t *testing.T) {
	vm := goja.New()
	for _, text := range []string{stub, string(Source()), useWhatWasKept} {
		if _, err := vm.RunString(text); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vm.RunString("out.join()")
	if err != nil {
		t.Fatal(err)
	}
	const fine, stale = "fine,fine,fine,fine,fine,fine,fine,fine", "stale,stale,stale,stale,stale,stale,stale,stale"
	if v.String() != fine+","+stale {
		t.Errorf("it gives %s", v)
	}
}

func TestTheScriptLeavesNoGlobal(t *testing.T) {
	vm := goja.New()
	for _, text := range []string{stub, "var before = Object.getOwnPropertyNames(globalThis).length", string(Source()), "var after = Object.getOwnPropertyNames(globalThis).length"} {
		if _, err := vm.RunString(text); err != nil {
			t.Fatal(err)
		}
	}
	if more := vm.Get("after").ToInteger() - vm.Get("before").ToInteger(); more != 1 { // after itself
		t.Errorf("there are %d more globals", more-1)
	}
}
