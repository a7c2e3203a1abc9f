package tui

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/prefs"
	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/terminal"
	"scorel/internal/ui/tui/theme"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// pictured is a model on a terminal of kitty whose host is never reached, with what is
// sent to it.
func pictured(t *testing.T) (*Model, chan then) {
	t.Helper()
	scr, err := screen.New(io.Discard, screen.Options{Width: 80, Height: 24})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = scr.Close() })
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = none.Close() })
	sent := make(chan then, 10*maxWanted)
	cfg := &Config{Out: none, Environ: []string{"TERM=xterm-kitty"}}
	m := &Model{cfg: cfg, scr: scr, settings: prefs.Settings{Images: "auto"}, send: func(msg tea.Msg) { sent <- msg.(then) }}
	m.link = newLink(cfg, nil)
	m.images = newImages(m)
	m.transcript = transcript.New(transcript.Config{Images: m.images})
	m.theme, _ = theme.New(theme.Options{Name: theme.Colourless, Plain: true})
	t.Cleanup(m.images.forget)
	return m, sent
}

// shows adds a message with an image.
func (m *Model) shows(blob string) {
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockImage, MediaType: "image/png", Blob: blob}}}})
	e.ID = protocol.EventID("e" + blob)
	m.transcript.Append(e)
}

func (m *Model) committed() string {
	return strings.Join(m.transcript.Commit(m.theme, 80), "\n")
}

func TestALateImageHoldsUpTheLinesForTwoSecondsAndTheNextOnesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sent := pictured(t)
		began := time.Now()
		go m.images.run(t.Context()) // ends with the test
		m.shows("aa")
		if got := m.committed(); got != "" {
			t.Fatalf("before the image is there %q is given", got)
		}
		(<-sent)(m)
		if waited := time.Since(began); waited != imagePatience {
			t.Errorf("it waited %v", waited)
		}
		m.shows("bb")
		if got := m.committed(); strings.Count(got, "[image png]") != 2 {
			t.Errorf("of two images %q is given", got)
		}
		(<-sent)(m) // the fetch was given up
		if waited := time.Since(began); waited != fetchPatience {
			t.Errorf("it was fetched for %v", waited)
		}
		m.shows("cc")
		if got := m.committed(); got != "" {
			t.Errorf("the next image is not waited for: %q", got)
		}
		(<-sent)(m)
		if got := m.committed(); !strings.Contains(got, "[image png]") {
			t.Errorf("%q is given", got)
		}
	})
}

func TestTheImagesThatLinesWaitForAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := pictured(t)
		for i := range 2 * maxWanted {
			p := m.images.Image(fmt.Sprint(i), "image/png", 80, 20)
			if p.Coming != (i < maxWanted) {
				t.Errorf("image %d is waited for: %v", i, p.Coming)
			}
		}
		large := terminal.Picture{Sequence: strings.Repeat("x", maxSequence), Rows: 1, Columns: 1}
		for key := range m.images.asked {
			m.images.come(key, image.Pt(1, 1), large)
		}
		drawn := 0
		for _, a := range m.images.asked {
			drawn += len(a.picture.Sequence)
		}
		if drawn != maxSequences || m.images.bytes != drawn {
			t.Errorf("%d bytes are held, counted as %d", drawn, m.images.bytes)
		}
		m.images.settle() // none is in the conversation
		if len(m.images.asked) > 0 || m.images.bytes != 0 {
			t.Errorf("%d images of %d bytes are held when none is left", len(m.images.asked), m.images.bytes)
		}
	})
}

func TestAnImageThatCannotBeDrawnIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := pictured(t)
		if p := m.images.Image("aa", "image/webp", 80, 20); p.Coming || len(m.images.jobs) > 0 {
			t.Errorf("%+v", p)
		}
		m.scr.SetFull(true)
		if p := m.images.Image("aa", "image/png", 80, 20); p.Coming || len(m.images.jobs) > 0 {
			t.Errorf("in the full screen %+v", p)
		}
		m.scr.SetFull(false)
		if p := m.images.Image("aa", "image/png", 80, 20); !p.Coming {
			t.Errorf("inline %+v", p)
		}
	})
}

func TestWhatWasSentFromHereNeedsNoHostToBeDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, sent := pictured(t)
		var data bytes.Buffer
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
			t.Fatal(err)
		}
		m.images.sent.Put("aa", data.Bytes())
		go m.images.run(t.Context()) // ends with the test
		began := time.Now()
		m.shows("aa")
		if got := m.committed(); got != "" {
			t.Fatalf("%q is given at once", got)
		}
		(<-sent)(m)
		if got := m.committed(); !strings.Contains(got, "\x1b_Ga=T") || time.Since(began) != 0 {
			t.Errorf("after %v %q is given", time.Since(began), got)
		}
	})
}
