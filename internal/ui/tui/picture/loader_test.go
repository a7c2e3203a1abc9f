package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/internal/ui/tui/loop"
	"scorel/internal/ui/tui/terminal"
	"scorel/internal/ui/tui/theme"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

// kitty is a terminal that draws pictures.
type kitty struct{ full bool }

func (k *kitty) Full() bool { return k.full }

func (k *kitty) Terminal() terminal.Terminal {
	return terminal.Detect(func(name string) string { return map[string]string{"TERM": "xterm-kitty"}[name] }).Draws("auto")
}

// nowhere is a host that is never reached.
type nowhere struct{}

func (nowhere) Payload(ctx context.Context, _ protocol.SessionID, _ string, _ int64) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// none is no session.
type none struct{}

func (none) ID() protocol.SessionID { return "" }

// ui is a loader with its transcript on a terminal of kitty whose host is never reached,
// and what is sent to the loop.
type ui struct {
	*Loader
	screen *kitty
	theme  *theme.Theme
	sent   chan loop.Then
}

func newUI(t *testing.T) *ui {
	t.Helper()
	m := &ui{screen: &kitty{}, sent: make(chan loop.Then, 10*maxWanted)}
	m.Loader = New(nowhere{}, m.screen, func(msg tea.Msg) { m.sent <- msg.(loop.Then) })
	m.Follow(transcript.New(transcript.Config{Images: m.Loader}), none{})
	m.theme, _ = theme.New(theme.Options{Name: theme.Colourless, Plain: true})
	t.Cleanup(m.Forget)
	return m
}

// shows adds a message with an image.
func (m *ui) shows(blob string) {
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockImage, MediaType: "image/png", Blob: blob}}}})
	e.ID = protocol.EventID("e" + blob)
	m.transcript.Append(e)
}

func (m *ui) committed() string {
	return strings.Join(m.transcript.Commit(m.theme, 80), "\n")
}

func TestALateImageHoldsUpTheLinesForTwoSecondsAndTheNextOnesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newUI(t)
		began := time.Now()
		go m.Run(t.Context()) // ends with the test
		m.shows("aa")
		if got := m.committed(); got != "" {
			t.Fatalf("before the image is there %q is given", got)
		}
		(<-m.sent)()
		if waited := time.Since(began); waited != imageTimeout {
			t.Errorf("it waited %v", waited)
		}
		m.shows("bb")
		if got := m.committed(); strings.Count(got, "[image png]") != 2 {
			t.Errorf("of two images %q is given", got)
		}
		(<-m.sent)() // the fetch was given up
		if waited := time.Since(began); waited != fetchTimeout {
			t.Errorf("it was fetched for %v", waited)
		}
		m.shows("cc")
		if got := m.committed(); got != "" {
			t.Errorf("the next image is not waited for: %q", got)
		}
		(<-m.sent)()
		if got := m.committed(); !strings.Contains(got, "[image png]") {
			t.Errorf("%q is given", got)
		}
	})
}

func TestTheImagesThatLinesWaitForAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newUI(t)
		for i := range 2 * maxWanted {
			p := m.Image(fmt.Sprint(i), "image/png", 80, 20)
			if p.Coming != (i < maxWanted) {
				t.Errorf("image %d is waited for: %v", i, p.Coming)
			}
		}
		large := terminal.Picture{Sequence: strings.Repeat("x", maxSequence), Rows: 1, Columns: 1}
		for key := range m.asked {
			m.come(key, image.Pt(1, 1), large)
		}
		drawn := 0
		for _, a := range m.asked {
			drawn += len(a.picture.Sequence)
		}
		if drawn != maxSequences || m.bytes != drawn {
			t.Errorf("%d bytes are held, counted as %d", drawn, m.bytes)
		}
		m.Settle() // none is in the conversation
		if len(m.asked) > 0 || m.bytes != 0 {
			t.Errorf("%d images of %d bytes are held when none is left", len(m.asked), m.bytes)
		}
	})
}

func TestAnImageThatCannotBeDrawnIsNotAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newUI(t)
		if p := m.Image("aa", "image/webp", 80, 20); p.Coming || len(m.jobs) > 0 {
			t.Errorf("%+v", p)
		}
		m.screen.full = true
		if p := m.Image("aa", "image/png", 80, 20); p.Coming || len(m.jobs) > 0 {
			t.Errorf("in the full screen %+v", p)
		}
		m.screen.full = false
		if p := m.Image("aa", "image/png", 80, 20); !p.Coming {
			t.Errorf("inline %+v", p)
		}
	})
}

func TestWhatWasSentFromHereNeedsNoHostToBeDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newUI(t)
		var data bytes.Buffer
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
			t.Fatal(err)
		}
		m.Loader.sent.Put("aa", data.Bytes())
		go m.Run(t.Context()) // ends with the test
		began := time.Now()
		m.shows("aa")
		if got := m.committed(); got != "" {
			t.Fatalf("%q is given at once", got)
		}
		(<-m.sent)()
		if got := m.committed(); !strings.Contains(got, "\x1b_Ga=T") || time.Since(began) != 0 {
			t.Errorf("after %v %q is given", time.Since(began), got)
		}
	})
}
