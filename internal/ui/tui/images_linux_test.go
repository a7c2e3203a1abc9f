package tui_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// raw is a UI on a bare terminal, with all that it has written.
type raw struct{ *tuitest.Output }

// startRaw starts the UI on a terminal with an environment besides the harness's.
func startRaw(t testing.TB, h *tuitest.Harness, env []string, args ...string) *raw {
	t.Helper()
	cmd := exec.Command(h.Program(), append([]string{"--model", "script:" + h.Script}, args...)...)
	cmd.Dir, cmd.Env = h.Project, slices.Concat(h.Env, env)
	pty, err := tuitest.StartPTY(cmd, 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	return &raw{tuitest.ReadAll(t, pty)}
}

// drop sends an image's file that is dropped onto the terminal, and then a text.
func (r *raw) drop(path string) {
	r.WaitFor("\x1b[c")
	r.Type("\x1b[200~" + path + "\x1b[201~")
	r.WaitFor(filepath.Base(path))
	r.Type("\r")
	r.WaitFor("Understood.")
	r.Type("again\r")
	r.WaitFor("Finished twice.")
}

// close ends the UI and returns all that it has written.
func (r *raw) close() string {
	r.Type("\x04")
	return r.WaitFor("")
}

const (
	kittyBegins = "\x1b_Ga=T,f=100"
	itermBegins = "\x1b]1337;File=inline=1"
	sixelBegins = "\x1bP0;1;0q"
	twice       = `{"if":{"user":"^again"},"do":[{"text":"Finished twice."}],"again":true}`
)

// drawn counts the pictures in what was written, of all ways.
func drawn(text string) int {
	return strings.Count(text, kittyBegins) + strings.Count(text, itermBegins) + strings.Count(text, sixelBegins)
}

// imageFile is a PNG of 40 by 30 pixels.
func imageFile(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnImageIsDrawnOnceWhereTheTerminalDrawsAny(t *testing.T) {
	for name, c := range map[string]struct {
		env, settings, answer, want string
	}{
		"kitty":           {"TERM=xterm-kitty", "", "", kittyBegins},
		"iterm":           {"TERM_PROGRAM=iTerm.app", "", "", itermBegins},
		"sixel":           {"TERM=xterm-256color", "", "\x1b[?62;4;22c", sixelBegins},
		"set":             {"TERM=xterm-256color", "images = \"kitty\"\n", "", kittyBegins},
		"none":            {"TERM=xterm-256color", "", "\x1b[?62;22c", ""},
		"off":             {"TERM=xterm-kitty", "images = \"off\"\n", "", ""},
		"plain":           {"TERM=xterm-kitty", "plain = true\n", "", ""},
		"the full screen": {"TERM=xterm-kitty", "screen = \"full\"\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, twice)
			h.Write(filepath.Join(h.Home, ".scorel", "tui.toml"), c.settings)
			path := filepath.Join(h.Project, "dot.png")
			h.Write(path, imageFile(t))
			r := startRaw(t, h, []string{"TERM=xterm-256color", c.env})
			r.WaitFor("\x1b[c")
			r.Type(c.answer)
			r.drop(path)
			if c.want != "" {
				r.WaitFor(c.want)
			} else {
				r.WaitFor("[image png]")
			}
			text := r.close()
			want := 0
			if c.want != "" {
				want = 1
			}
			if n := drawn(text); n != want || strings.Count(text, c.want) < want {
				t.Errorf("it was drawn %d times, want %d: %q", n, want, text)
			}
		})
	}
}

func TestAnImageOfAnOlderSessionIsFetchedAndOneThatIsGoneIsALine(t *testing.T) {
	h := newHarness(t, twice)
	path := filepath.Join(h.Project, "dot.png")
	h.Write(path, imageFile(t))
	kitty := []string{"TERM=xterm-kitty"}
	r := startRaw(t, h, kitty)
	r.drop(path)
	r.WaitFor(kittyBegins)
	r.close()

	r = startRaw(t, h, kitty, "-c")
	r.WaitFor(kittyBegins)
	r.WaitFor("Finished twice.")
	if text := r.close(); drawn(text) != 1 {
		t.Errorf("of the older session it was drawn %d times: %q", drawn(text), text)
	}

	if err := os.RemoveAll(filepath.Join(h.Home, ".scorel", "blobs")); err != nil {
		t.Fatal(err)
	}
	r = startRaw(t, h, kitty, "-c")
	r.WaitFor("[image png]")
	r.WaitFor("Finished twice.")
	if text := r.close(); drawn(text) != 0 {
		t.Errorf("what is gone was drawn: %q", text)
	}
}

func TestABrokenOrHugeImageIsALine(t *testing.T) {
	whole := imageFile(t)
	for name, c := range map[string]struct{ data, line string }{
		"broken": {whole[:len(whole)/2], "[image png"},
		"none":   {"no picture at all", "[image png]"},
		"huge":   {whole[:16] + "\x00\x01\x00\x00\x00\x01\x00\x00" + whole[24:], "[image png]"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, twice)
			path := filepath.Join(h.Project, "dot.png")
			h.Write(path, c.data)
			r := startRaw(t, h, []string{"TERM=xterm-kitty"})
			r.drop(path)
			r.WaitFor(c.line)
			if text := r.close(); drawn(text) != 0 {
				t.Errorf("it was drawn: %q", text)
			}
		})
	}
}
