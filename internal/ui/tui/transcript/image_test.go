package transcript

import (
	"image"
	"strings"
	"testing"

	"scorel/internal/ui/tui/screen"
	"scorel/protocol"
)

// pictures has every image, or says that it comes.
type pictures struct{ ready, coming bool }

const pictureSequence = "\x1b_Ga=T;data\x1b\\"

func (p *pictures) Image(blob, mediaType string, width, height int) Picture {
	if !p.ready {
		return Picture{Coming: p.coming}
	}
	return Picture{Sequence: pictureSequence, Rows: 3, Pixels: image.Pt(640, 480)}
}

// withImage is a message of a person with an image.
func withImage(blob string) protocol.Event {
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{{Type: protocol.BlockImage, MediaType: "image/png", Blob: blob}}}})
	e.ID = protocol.EventID("e" + blob)
	return e
}

func TestWhatIsFinishedWaitsForItsImageAndKeepsItsOrder(t *testing.T) {
	p := &pictures{coming: true}
	tr, th := New(Config{Images: p}), plainTheme(t)
	tr.Append(withImage("ab"))
	tr.Note("info", "said behind it")
	if got := tr.Commit(th, 80); len(got) > 0 || !tr.ImagesLeft() {
		t.Fatalf("while the image comes %q is given", got)
	}
	region := strings.Join(tr.Region(th, 80, 10), "\n")
	if !strings.Contains(region, "[image png]") || !strings.Contains(region, "said behind it") {
		t.Errorf("meanwhile the region has %q", region)
	}
	p.ready = true
	tr.ImageReady("cd") // another one
	if got := tr.Commit(th, 80); len(got) > 0 {
		t.Fatalf("when another image is there %q is given", got)
	}
	tr.ImageReady("ab")
	got := tr.Commit(th, 80)
	want := []string{th.UserMark.On(">") + " " + screen.Image(pictureSequence, 3, th.Chip.On("[image png 640 by 480]")), "", "i said behind it"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || tr.ImagesLeft() {
		t.Errorf("%q, want %q", got, want)
	}
	if again := tr.Commit(th, 80); len(again) > 0 {
		t.Errorf("%q is given again", again)
	}
}

func TestAnImageThatDoesNotComeIsALine(t *testing.T) {
	p := &pictures{coming: true}
	tr, th := New(Config{Images: p}), plainTheme(t)
	tr.Append(withImage("ab"))
	tr.Commit(th, 80)
	p.coming = false
	tr.ImageReady("")
	if got := tr.Commit(th, 80); strings.Join(got, "\n") != th.UserMark.On(">")+" "+th.Chip.On("[image png]") {
		t.Errorf("%q", got)
	}
}

func TestTheImageOfAResultIsDrawnAtAnyWidth(t *testing.T) {
	tr, th := New(Config{Images: &pictures{ready: true}}), plainTheme(t)
	asks := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.Block{protocol.ToolUse("c1", "Read", []byte(`{"path":"a.png"}`))}}})
	result := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c1", ToolName: "Read", Content: []protocol.Block{protocol.Text("An image."), {Type: protocol.BlockImage, MediaType: "image/png", Blob: "ab"}}}})
	asks.ID, result.ID = "a", "b"
	tr.Append(asks)
	tr.Append(result)
	for _, width := range []int{10, 40, 80} {
		if got := strings.Join(tr.View(th, width, 20), "\n"); strings.Count(got, pictureSequence) != 1 {
			t.Errorf("%d cells: %q", width, got)
		}
	}
	if got := strings.Join(tr.Commit(th, 80), "\n"); strings.Count(got, pictureSequence) != 1 {
		t.Errorf("%q", got)
	}
}
