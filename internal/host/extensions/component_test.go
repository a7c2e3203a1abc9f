package extensions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// lister draws a list from which Enter picks, with an object of pi's interface.
const lister = `export default function (pi: any) {
  const fruits = ["apple", "banana", "cherry"];
  pi.registerCommand("pick", { description: "x", handler: async (_args: string, ctx: any) => {
    let disposed = 0;
    const got = await ctx.ui.custom((tui: any, theme: any, keys: any, done: any) => {
      let on = 0, pasted = "";
      return {
        render: (width: number) => ["fruits in " + width + "x" + tui.terminal.rows, ...fruits.map((f, i) => (i === on ? "\x1b[36m> " + f + "\x1b[39m" : "  " + f)), pasted + "\x1b_pi:c\x07"],
        handleInput(data: string) {
          if (data === "\x1b[A") on--;
          else if (data === "\x1b[B") on++;
          else if (data === "\r") done(fruits[on]);
          else if (data === "!") throw new Error("no such key");
          else pasted += data.replace(/\x1b\[20[01]~/g, "|");
        },
        dispose() { disposed++; },
      };
    }, { overlay: true });
    ctx.ui.notify("got " + got + ", disposed " + disposed);
  } });
}`

// person is somebody at a screen of 60 columns.
type person struct {
	*hosttest.Entry
	rev  int64
	last *protocol.UIFrame
}

func personAt(w *hosttest.World, id protocol.SessionID) *person {
	return &person{Entry: w.Open(w.Connect(true), id)}
}

// frame waits for a frame.
func (p *person) frame(what string, fits func(*protocol.UIFrame) bool) *protocol.UIFrame {
	p.W.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
	defer cancel()
	for {
		d, err := p.C.NextDevice(ctx)
		if err != nil {
			p.W.T.Fatalf("no frame %s: %v; the last was %+v", what, err, p.last)
		}
		for _, f := range d.Frames {
			p.last = f
			if fits(f) {
				return f
			}
		}
	}
}

func (p *person) given() *protocol.UIFrame {
	p.W.T.Helper()
	return p.frame("that gives the component", func(f *protocol.UIFrame) bool { return f.State == protocol.FrameGiven })
}

// shows waits for a frame with a line.
func (p *person) shows(line string) *protocol.UIFrame {
	p.W.T.Helper()
	return p.frame("with "+line, func(f *protocol.UIFrame) bool { return strings.Contains(strings.Join(f.Lines, "\n"), line) })
}

func (p *person) take(id string) {
	p.W.T.Helper()
	p.rev = hosttest.Call[*protocol.UITaken](p.W.T, p.C, p.ID, &protocol.TakeUI{UIID: id, Width: 60, Height: 20}).Rev
}

func (p *person) press(id string, keys ...string) {
	p.W.T.Helper()
	p.rev++
	hosttest.Call[*protocol.Done](p.W.T, p.C, p.ID, &protocol.UIInput{UIID: id, Rev: p.rev, Data: keys})
}

// begin runs a command; done is closed when that has ended.
func (p *person) begin(name string) (done chan struct{}) {
	done = make(chan struct{})
	go func() { // ends with the command, or the client
		defer close(done)
		_, _ = client.Call[*protocol.CommandResult](context.Background(), p.C, p.ID, &protocol.RunCommand{Name: name})
	}()
	return done
}

// told waits for a notice.
func (p *person) told(text string) {
	p.W.T.Helper()
	p.Until(func(e protocol.Event) bool {
		n, ok := e.Body.(*protocol.Notice)
		return ok && strings.Contains(n.Text, text)
	})
}

// closed waits until no dialog is open: what a component gives and that it goes are two
// calls of the extension, and either may be the first.
func (p *person) closed() {
	p.W.T.Helper()
	for len(p.S.Live.UI) != 0 {
		p.Next()
	}
}

// owner waits until the dialog is another client's, nil for nobody's.
func (p *person) owner(want *person) {
	p.W.T.Helper()
	p.Until(func(e protocol.Event) bool {
		u, ok := e.Body.(*protocol.UIRequest)
		return ok && (want == nil) == (u.Data.Owner == nil)
	})
	if ui := p.S.Live.UI; len(ui) != 1 || ui[0].Data.Kind != protocol.DialogCustom {
		p.W.T.Errorf("open dialogs: %+v", ui)
	}
}

func listing(t *testing.T) (w *hosttest.World, first, second *person) {
	t.Helper()
	w = hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
	w.Ts("lister", lister)
	first = &person{Entry: w.Begin(true)}
	return w, first, personAt(w, first.ID)
}

func TestAComponentIsDrawnForWhoAskedForItAndTakesTheirKeys(t *testing.T) {
	_, other, p := listing(t)
	done := p.begin("pick")
	id := p.given().UIID
	p.take(id)
	if f := p.shows("> apple"); f.Lines[0] != "fruits in 60x20" || f.Width != 60 || f.Lines[1] != "\x1b[36m> apple\x1b[39m" ||
		f.Cursor == nil || f.Cursor.Row != 4 || f.Cursor.Column != 0 || f.Lines[4] != "" {
		t.Errorf("drawn: %+v, cursor %+v", f, f.Cursor)
	}
	p.press(id, "\x1b[B", "\x1b[B", "\x1b[A")
	if f := p.shows("> banana"); f.Rev != 1 {
		t.Errorf("the frame after the first keys is of rev %d", f.Rev)
	}
	p.press(id, "\x1b[200~two\nlines\x1b[201~")
	p.shows("|two lines|")
	p.rev++
	hosttest.Call[*protocol.Done](t, p.C, p.ID, &protocol.UIInput{UIID: id, Rev: p.rev, Width: 33, Height: 9})
	p.shows("fruits in 33x9")
	hosttest.Call[*protocol.Done](t, p.C, p.ID, &protocol.UIInput{UIID: id, Rev: p.rev, Data: []string{"\x1b[B"}}) // a repeat
	p.press(id, "!")                                                                                               // fails in the component
	if f := p.frame("after a key that failed", func(f *protocol.UIFrame) bool { return f.Rev == p.rev }); !strings.Contains(strings.Join(f.Lines, "\n"), "> banana") {
		t.Errorf("after a key that failed: %q", f.Lines)
	}
	p.press(id, "\r")
	<-done
	p.told("got banana, disposed 1")
	p.closed()
	hosttest.Refused(t, p.C, p.ID, &protocol.UIInput{UIID: id, Rev: 99, Data: []string{"x"}}, protocol.CodeConflict)

	asked := other.Until(hosttest.OfType(protocol.TypeUIRequest)).Body.(*protocol.UIRequest)
	if asked.UIID != id || asked.Data.Source != "lister" || asked.Data.Title != "lister" || asked.Data.Owner == nil || asked.Data.Owner.ClientName != "test" {
		t.Errorf("others see %+v", asked.Data)
	}
	other.told("got banana")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	for d, err := other.C.NextDevice(ctx); err == nil; d, err = other.C.NextDevice(ctx) {
		if len(d.Frames) > 0 {
			t.Fatalf("another client is sent %+v", d.Frames[0])
		}
	}
}

func TestAComponentCanBeTakenOverAndIsFreeWhenItsOwnerLeaves(t *testing.T) {
	_, other, p := listing(t)
	done := p.begin("pick")
	id := p.given().UIID
	p.take(id)
	p.press(id, "\x1b[B")
	p.shows("> banana")
	hosttest.Refused(t, other.C, other.ID, &protocol.UIInput{UIID: id, Rev: 9, Data: []string{"\r"}}, protocol.CodeConflict)
	other.take(id)
	if other.rev != 1 {
		t.Errorf("who takes it counts from %d", other.rev)
	}
	other.shows("> banana")
	p.frame("that takes the component away", func(f *protocol.UIFrame) bool { return f.State == protocol.FrameTaken })
	hosttest.Refused(t, p.C, p.ID, &protocol.UIInput{UIID: id, Rev: 9, Data: []string{"\r"}}, protocol.CodeConflict)
	p.take(id)
	p.shows("> banana")
	if err := p.S.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	other.owner(nil)
	other.take(id)
	other.press(id, "\x1b[B", "\r")
	other.told("got cherry, disposed 1")
	<-done
}

func TestAComponentIsClosedByAnybodyAndRefusedWhereNobodyIs(t *testing.T) {
	w, other, p := listing(t)
	done := p.begin("pick")
	id := p.given().UIID
	err := hosttest.Refused(t, other.C, other.ID, &protocol.AnswerUI{UIID: id, Value: json.RawMessage(`"apple"`)}, protocol.CodeInvalidRequest)
	if !strings.Contains(err.Message, "null closes it") {
		t.Error(err.Message)
	}
	hosttest.Call[*protocol.Done](t, other.C, other.ID, &protocol.AnswerUI{UIID: id, Value: json.RawMessage("null")})
	<-done
	p.told("got undefined, disposed 1")
	hosttest.Refused(t, p.C, p.ID, &protocol.TakeUI{UIID: id, Width: 1, Height: 1}, protocol.CodeConflict)

	script := w.Begin(false)
	hosttest.Refused(t, script.C, script.ID, &protocol.TakeUI{UIID: id, Width: 1, Height: 1}, protocol.CodeInvalidRequest)
	if _, err := script.Run("pick", ""); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, e := range script.Events {
		if n, ok := e.Body.(*protocol.Notice); ok {
			said += n.Text + "\n"
		}
	}
	if !strings.Contains(said, "got undefined, disposed 0") || !strings.Contains(said, "open the session in a terminal: scorel attach "+string(script.ID)) {
		t.Errorf("with nobody there people are told: %s", said)
	}
}

// raw is an extension that draws what it is told to, without a library: it could send
// anything.
func raw(w *hosttest.World, draws string) {
	dir := filepath.Join(w.Home, ".scorel", "extensions", "raw")
	w.Write(filepath.Join(dir, "scorel.extension.json"), `{"id":"raw","kind":"process","command":["python3","main.py"]}`)
	w.Write(filepath.Join(dir, "main.py"), `import json, sys

def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()

def frame(id, rev, lines, **more):
    send({"method": "ui/frame", "params": {"id": id, "rev": rev, "width": 60, "lines": lines, **more}})

command = None
for line in sys.stdin:
    m = json.loads(line)
    method, p = m.get("method"), m.get("params") or {}
    if method == "initialize":
        send({"id": m["id"], "result": {"protocol": 1}})
    elif method == "extension/load":
        send({"id": m["id"], "result": {"commands": [{"name": "draw", "description": "x"}]}})
    elif method == "command/run":
        command = m["id"]
        frame("mine", 0, ["before it is open"])
        send({"id": "d1", "method": "ui/dialog", "params": {"kind": "custom", "id": "mine", "title": "Raw"}})
    elif method == "ui/input":
`+draws+`
    elif m.get("id") == "d1":
        send({"id": command, "result": {"status": "closed"}})
    elif method in ("extension/unload", "shutdown"):
        send({"id": m["id"], "result": None})
`)
}

func drawing(t *testing.T, draws string) (*person, string) {
	needs(t, "python3")
	w := hosttest.New(t, hosttest.Setting{Attended: true}, `{"again":true,"do":[{"text":"fine"}]}`)
	raw(w, draws)
	p := &person{Entry: w.Begin(true)}
	p.begin("draw")
	id := p.given().UIID
	p.take(id)
	return p, id
}

func TestOfFramesThatComeTooFastTheNewestAreShown(t *testing.T) {
	began := time.Now() // the first ones may come before they are read
	p, _ := drawing(t, `
        for n in range(10000):
            frame("mine", 0, ["frame %d" % n] + ["x" * 60] * 3)`)
	seen := 0
	p.frame("the newest", func(f *protocol.UIFrame) bool {
		seen++
		return f.Lines[0] == "frame 9999"
	})
	if most := 6 + int(time.Since(began)/(time.Second/30)); seen > most {
		t.Errorf("%d frames came in %v", seen, time.Since(began))
	}
}

func TestFramesOfAnExtensionHaveNothingThatATerminalObeysButColours(t *testing.T) {
	const evil = "a\x1b]0;PWNED\x07b\x1b]52;c;UFdORUQ=\x1b\\c\x1b[2J\x1b[5;5H\x1b[8md\u009b8me\u202efgh\x1b_Gf=PWNED\x1b\\i\x1bP+qPWNED\x1b\\j\x08\x08k\x1b[?1049hl\x0e\x05\x1b[6n\x1bcm\x1b[5;31mred"
	line, _ := json.Marshal(evil)
	p, id := drawing(t, fmt.Sprintf(`
        frame("mine", 99, [%s, "with\nbreaks\r\nand\ttabs", "x" * 70000], cursor={"row": -1, "column": 9})
        if "data" in p:
            frame("mine", 99, ["line %%d" %% n for n in range(5000)], cursor={"row": 4999, "column": 0})`, line))
	f := p.shows("abcde")
	if f.Rev != 0 || f.Cursor != nil {
		t.Errorf("it claims what cannot be: rev %d, cursor %+v", f.Rev, f.Cursor)
	}
	if want := "abcde[U+202E]fghijklm\x1b[31mred"; f.Lines[0] != want {
		t.Errorf("%q, want %q", f.Lines[0], want)
	}
	if f.Lines[1] != "with breaks and tabs" || len(f.Lines) != 3 || !strings.Contains(f.Lines[2], "1 more lines are not shown") {
		t.Errorf("%q", f.Lines[1:])
	}
	p.press(id, "x")
	f = p.shows("line 0")
	if len(f.Lines) != protocol.MaxFrameLines || !strings.Contains(f.Lines[len(f.Lines)-1], "4801 more lines are not shown") || f.Cursor != nil {
		t.Errorf("%d lines, the last is %q", len(f.Lines), f.Lines[len(f.Lines)-1])
	}
}

func TestAComponentIsClosedWhenItsExtensionDies(t *testing.T) {
	p, id := drawing(t, `
        frame("mine", 0, ["alive"])
        if "data" in p:
            sys.exit(7)`)
	p.shows("alive")
	p.press(id, "x")
	p.Until(func(e protocol.Event) bool {
		r, ok := e.Body.(*protocol.UIResolved)
		return ok && r.UIID == id && r.Decision == protocol.DecisionCancelled
	})
	p.told("The extension raw was ended: its process ended with status 7.")
}
