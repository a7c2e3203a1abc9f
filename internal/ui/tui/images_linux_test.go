package tui_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scorel/internal/ui/tui/tuitest"
)

// raw is a UI on a bare terminal, with all that it has written.
type raw struct {
	t    *testing.T
	pty  *tuitest.PTY
	mu   sync.Mutex
	cond *sync.Cond
	text string
	end  bool
}

// raw starts the UI on a terminal with an environment besides the world's.
func (w *world) raw(env []string, args ...string) *raw {
	w.t.Helper()
	cmd := exec.Command(self(w.t), append([]string{"--model", "script:" + w.script}, args...)...)
	cmd.Dir, cmd.Env = w.project, append(append([]string{}, w.env...), env...)
	pty, err := tuitest.StartPTY(cmd, 100, 30)
	if err != nil {
		w.t.Fatal(err)
	}
	r := &raw{t: w.t, pty: pty}
	r.cond = sync.NewCond(&r.mu)
	go r.read() // ends with the program
	w.t.Cleanup(func() { _ = pty.Close() })
	return r
}

func (r *raw) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.pty.Read(buf)
		r.mu.Lock()
		r.text += string(buf[:n])
		r.end = err != nil
		r.cond.Broadcast()
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait waits until something was written; "" waits for the end, and gives all.
func (r *raw) wait(text string) string {
	r.t.Helper()
	late := false
	defer time.AfterFunc(patience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		late = true
		r.cond.Broadcast()
	}).Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for text == "" && !r.end || !strings.Contains(r.text, text) {
		if late || r.end {
			r.t.Fatalf("%q was not written; the end is %q", text, r.text[max(0, len(r.text)-2000):])
		}
		r.cond.Wait()
	}
	return r.text
}

func (r *raw) write(text string) {
	r.t.Helper()
	if _, err := r.pty.WriteString(text); err != nil {
		r.t.Fatal(err)
	}
}

// drop sends an image's file that is dropped onto the terminal, and then a text.
func (r *raw) drop(path string) {
	r.t.Helper()
	r.wait("\x1b[c")
	r.write("\x1b[200~" + path + "\x1b[201~")
	r.wait(filepath.Base(path))
	r.write("\r")
	r.wait("Understood.")
	r.write("again\r")
	r.wait("Finished twice.")
}

// leave ends the UI and gives all that it has written.
func (r *raw) leave() string {
	r.t.Helper()
	r.write("\x04")
	return r.wait("")
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
			w := newWorld(t, twice)
			w.write(filepath.Join(w.home, ".scorel", "tui.toml"), c.settings)
			path := filepath.Join(w.project, "dot.png")
			w.write(path, imageFile(t))
			r := w.raw([]string{"TERM=xterm-256color", c.env})
			r.wait("\x1b[c")
			r.write(c.answer)
			r.drop(path)
			if c.want != "" {
				r.wait(c.want)
			} else {
				r.wait("[image png]")
			}
			text := r.leave()
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
	w := newWorld(t, twice)
	path := filepath.Join(w.project, "dot.png")
	w.write(path, imageFile(t))
	kitty := []string{"TERM=xterm-kitty"}
	r := w.raw(kitty)
	r.drop(path)
	r.wait(kittyBegins)
	r.leave()

	r = w.raw(kitty, "-c")
	r.wait(kittyBegins)
	r.wait("Finished twice.")
	if text := r.leave(); drawn(text) != 1 {
		t.Errorf("of the older session it was drawn %d times: %q", drawn(text), text)
	}

	if err := os.RemoveAll(filepath.Join(w.home, ".scorel", "blobs")); err != nil {
		t.Fatal(err)
	}
	r = w.raw(kitty, "-c")
	r.wait("[image png]")
	r.wait("Finished twice.")
	if text := r.leave(); drawn(text) != 0 {
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
			w := newWorld(t, twice)
			path := filepath.Join(w.project, "dot.png")
			w.write(path, c.data)
			r := w.raw([]string{"TERM=xterm-kitty"})
			r.drop(path)
			r.wait(c.line)
			if text := r.leave(); drawn(text) != 0 {
				t.Errorf("it was drawn: %q", text)
			}
		})
	}
}
