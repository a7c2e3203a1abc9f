package prelude

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/extension/rpc"
)

// opened has the double keep a component open until closed is closed, and returns a channel
// that gets its id.
func opened(d *double) (ids chan string, closed chan struct{}) {
	ids, closed = make(chan string, 4), make(chan struct{})
	d.answer[rpc.CallDialog] = func(params json.RawMessage) (any, error) {
		var p rpc.Dialog
		mustUnmarshal(d.t, params, &p)
		if p.Kind != "custom" {
			d.t.Errorf("the dialog is %s", params)
		}
		ids <- p.ID
		<-closed
		return nil, nil
	}
	return ids, closed
}

// frame waits until the newest frame fits, and returns it.
func (d *double) frame(what string, fits func(rpc.Frame) bool) rpc.Frame {
	d.t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		var f rpc.Frame
		d.mu.Lock()
		more := d.more
		d.mu.Unlock()
		if all := d.notified(rpc.NoteFrame); len(all) > 0 {
			mustUnmarshal(d.t, []byte(all[len(all)-1]), &f)
			if fits(f) {
				return f
			}
		}
		select {
		case <-more:
		case <-limit:
			d.t.Fatalf("no frame %s; the last is %+v", what, f)
		}
	}
}

func TestAComponentIsDrawnAfterEachKeyAndWhenItAsks(t *testing.T) {
	d := newDouble(t)
	ids, closed := opened(d)
	ext := d.loadSource(`export default (pi) => pi.registerCommand("c", { handler: async (_a, ctx) => {
		const log = [];
		const got = await ctx.ui.custom(async (tui, theme, keys, done) => {
			await null;
			log.push(tui.terminal.columns, typeof theme.fg, keys.matches("\x1b[B", "tui.select.down"), keys.getKeys("tui.select.confirm")[0]);
			let later = 0;
			const inner = { handleInput(data) { log.push("inner " + data); } };
			return {
				focused: false,
				render(width) { return [log.join(), "a\x1b[1mb\x1b_pi:c\x07c", String(this.focused), "w" + width, "later " + later]; },
				handleInput(data) {
					log.push(data);
					if (data === "t") setTimeout(() => { later++; tui.requestRender(); tui.requestRender(); }, 5);
					if (data === "f") tui.setFocus(inner);
					if (data === "d") done({ picked: 7 });
				},
				invalidate() { log.push("invalidated"); },
				dispose() { ctx.ui.notify("disposed"); },
			};
		}, { title: "T", overlay: true, onHandle: (h) => log.push(h.isFocused()) });
		return { status: JSON.stringify(got) };
	} })`)
	result := make(chan string, 1)
	go func() { // ends with the command
		s, err := ext.command("c")
		if err != nil {
			s = err.Error()
		}
		result <- s
	}()
	id := <-ids
	input := func(in rpc.Input) { in.ID = id; ext.tell(rpc.NoteInput, in) }
	input(rpc.Input{Width: 40, Height: 9})
	f := d.frame("at first", func(rpc.Frame) bool { return true })
	if want := []string{"80,function,true,enter,true,invalidated", "a\x1b[1mbc", "true", "w40", "later 0"}; !slices.Equal(f.Lines, want) || f.Width != 40 || f.Cursor == nil || f.Cursor.Row != 1 || f.Cursor.Column != 2 {
		t.Errorf("%q, cursor %+v", f.Lines, f.Cursor)
	}
	input(rpc.Input{Rev: 1, Width: 40, Height: 9, Data: []string{"x", "t"}})
	d.frame("after keys", func(f rpc.Frame) bool { return f.Rev == 1 && strings.HasSuffix(f.Lines[0], "x,t") })
	d.frame("that it asks for", func(f rpc.Frame) bool { return f.Lines[4] == "later 1" })
	input(rpc.Input{Rev: 2, Width: 40, Height: 9, Data: []string{"f", "y"}})
	d.frame("after the focus moved", func(f rpc.Frame) bool { return strings.HasSuffix(f.Lines[0], "f,inner y") && f.Lines[2] == "false" })
	close(closed) // a person closes it
	if got := <-result; got != "undefined" && got != "" {
		t.Errorf("closed by a person it gives %q", got)
	}
	d.await(rpc.CallNotify, 1)
	equal(t, "notices", d.called(rpc.CallNotify), []string{`{"level":"info","message":"disposed"}`})
}

func TestAComponentEndsWithWhatItSaysOrWithWhyItCannotBe(t *testing.T) {
	d := newDouble(t)
	ids, closed := opened(d)
	defer close(closed)
	ext := d.loadSource(`export default (pi) => pi.registerCommand("c", { handler: async (what, ctx) => ({ status: JSON.stringify(await ctx.ui.custom({
		early: (_t, _h, _k, done) => { done("at once"); return { render: () => [] }; },
		throws: () => { throw new Error("no factory"); },
		rejects: async () => { throw new Error("rejected"); },
		nothing: () => undefined,
		writes: (tui) => tui.terminal.write("x"),
		keys: (_t, _h, _k, done) => ({ render: () => ["r"], handleInput: (d) => done(d) }),
		breaks: (_t, _h, _k, done) => ({ render: () => { throw new Error("cannot draw"); }, handleInput: (d) => { if (d === "q") done("still here"); throw new Error("cannot take keys"); } }),
	}[what])) }) })`)
	for what, want := range map[string]string{"throws": "no factory", "rejects": "rejected", "nothing": "render(width)", "writes": "has no terminal of its own", "unknown": "What ui.custom gets must be a function"} {
		if _, err := ext.command("c " + what); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; it should say %q", what, err, want)
		}
	}
	if got, err := ext.command("c early"); err != nil || got != `"at once"` {
		t.Errorf("done at once: %q, %v", got, err)
	}
	run := func(what string, keys ...string) (string, error) {
		go func() { // ends when the component is open
			ext.tell(rpc.NoteInput, rpc.Input{ID: <-ids, Rev: 1, Width: 20, Height: 5, Data: keys})
		}()
		return ext.command("c " + what)
	}
	if got, err := run("keys", "é"); err != nil || got != `"é"` {
		t.Errorf("done by a key: %q, %v", got, err)
	}
	if got, err := run("breaks", "x", "q", "never"); err != nil || got != `"still here"` {
		t.Errorf("a component that fails: %q, %v", got, err)
	}
	failed := strings.Join(d.notified(rpc.NoteHandlerFailed), "\n")
	if !strings.Contains(failed, "cannot take keys") {
		t.Errorf("told of failures: %s", failed)
	}
	d.state.HasUI = false
	if got, err := ext.command("c keys"); err != nil || got != "" && got != "undefined" {
		t.Errorf("with nobody there: %q, %v", got, err)
	}
}
