package turns_test

import (
	"bytes"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// TestSwitchingModelsInMidSession changes from a model behind one API to one after
// another and back, in all pairs, with and without compactions, over a restart, and
// in the middle of a turn. What the log holds by then is thinking, parallel calls, an
// image of the user, one in a result, and a result that is an error; each vendor's
// judge reports whether it takes that.
func TestSwitchingModelsInMidSession(t *testing.T) {
	for _, a := range hosttest.APIs() {
		for _, b := range hosttest.APIs() {
			for _, name := range []string{"whole", "compacted"} {
				t.Run(a+" and "+b+"/"+name, func(t *testing.T) {
					t.Parallel()
					switches(t, a, b, name == "compacted")
				})
			}
		}
	}
}

func switches(t *testing.T, a, b string, compacted bool) {
	look := `{"if":{"user":"^look$"},"again":true,"do":[{"thinking":"Both at once."},{"text":"Looking."},` +
		`{"call":"Read","id":"c1","input":{"path":"pic.png"}},{"call":"Read","id":"c2","input":{"path":"none.txt"}}]}`
	common := []string{`{"if":{"kind":"compact"},"again":true,"do":[{"text":"They looked at pictures."}]}`, look,
		`{"if":{"user":"^fall$"},"do":[{"thinking":"One more."},{"call":"Read","id":"c3","input":{"path":"a.txt"}}]}`,
		`{"if":{"user":"^end$"},"do":[{"text":"The end."}]}`}
	rest := `{"again":true,"do":[{"thinking":"So that is it."},{"text":"Seen."}]}`
	over := `{"if":{"result":"hello"},"again":true,"do":[{"error":{"status":529}}]}`
	w := hosttest.New(t, hosttest.Setting{API: a, Tables: "images = true\nreasoning = true", Other: b, Lines: append(slices.Clone(common), rest)},
		append(common, over, rest)...)
	w.File("a.txt", "hello\n")
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	w.File("pic.png", pic.String())
	e := w.Begin(false)
	use := func(model, level string) {
		t.Helper()
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Model: &model, ThinkingLevel: &level}})
	}
	turn := func(text string, blocks ...protocol.Block) {
		t.Helper()
		e.Events = nil
		hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: append([]protocol.Block{protocol.Text(text)}, blocks...)})
		if end := e.End(); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("%q ended %+v %+v\n%s", text, end, end.Error, e.Trace())
		}
		hosttest.Paired(t, e.Messages())
	}
	picture := func() protocol.Block {
		ref := hosttest.Call[*protocol.BlobRef](t, e.C, "", &protocol.PutBlob{UploadID: "u", Data: pic.Bytes(), Last: true})
		return protocol.Block{Type: protocol.BlockImage, MediaType: "image/png", Blob: ref.SHA256}
	}
	shorten := func() {
		t.Helper()
		if compacted && e.Compact().EventID == "" {
			t.Fatal("nothing was compacted")
		}
	}

	use("mock", "high")
	turn("look", picture())
	shorten()
	use("other", "high")
	turn("look", picture())
	turn("look")
	shorten()
	w.Restart() // and the same from the log alone
	e = w.Open(w.Connect(false), e.ID)
	use("mock", "medium")
	turn("look", picture())
	turn("fall") // begins with one and ends with the other
	turn("end")

	var by, texts []string
	images, failed, thoughts := 0, 0, 0
	for _, ev := range w.Log(e.ID) {
		m, _ := ev.Message()
		for _, block := range m.Content {
			switch {
			case block.Type == protocol.BlockImage && m.Role == protocol.RoleToolResult:
				images++
			case block.Type == protocol.BlockThinking:
				thoughts++
			}
		}
		if m.Role == protocol.RoleToolResult && m.IsError {
			failed++
		}
		if m.Role == protocol.RoleAssistant {
			by = append(by, strings.TrimSuffix(m.Model, "-1"))
			texts = append(texts, m.PlainText())
		}
	}
	if want := "mock mock other other other other mock mock mock other mock"; strings.Join(by, " ") != want {
		t.Errorf("answered: %s, want %s", by, want)
	}
	if want := strings.Repeat("Looking. Seen. ", 4) + " Seen. The end."; strings.Join(texts, " ") != want {
		t.Errorf("said: %q, want %q", texts, want)
	}
	if images != 4 || failed != 4 || thoughts != 10 {
		t.Errorf("%d images in results, %d failed calls, %d thoughts", images, failed, thoughts)
	}
	w.Judged()
	if n := w.Second.Count(); n < 5 {
		t.Errorf("the second server got %d requests", n)
	}
}
