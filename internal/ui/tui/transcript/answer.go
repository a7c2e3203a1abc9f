package transcript

import (
	"scorel/internal/text/markdown/terminal"
	"scorel/internal/ui/tui/theme"
)

// feed is what the model says as lines, while it comes in.
type feed struct {
	stream *terminal.Stream
	fed    int    // bytes of the text that the stream has
	last   string // the end of them, to know the text again
	lead   bool   // the first line was given
	again  bool   // another text was given before, which does not hold
	width  int
	theme  string

	done []string // the finished lines, in full-screen mode
}

// known is how many bytes of the text are looked at, to see that it is the same.
const known = 64

// add returns the stream what has come since. It says false when the text is another one
// than that which the stream has begun with.
func (f *feed) add(text []byte) bool {
	if len(text) < f.fed || string(text[max(0, f.fed-known):f.fed]) != f.last {
		return false
	}
	f.stream.Write(text[f.fed:])
	f.fed = len(text)
	f.last = string(text[max(0, f.fed-known):])
	return true
}

// feed returns the stream of an answer for the scrollback, with all that has come. An
// answer that is stored otherwise than it came in is given again, after what was given.
func (t *Transcript) feed(it *item, th *theme.Theme, width int) *feed {
	f := it.feed
	if f == nil || !f.add(it.said()) {
		again := f != nil && f.lead
		f = newFeed(th, width)
		f.again = again
		f.add(it.said())
		it.feed = f
	}
	if f.width != width || f.theme != th.ID {
		f.stream.Resize(th, room(width))
		f.width, f.theme = width, th.ID
	}
	if it.final {
		f.stream.End()
	}
	return f
}

func newFeed(th *theme.Theme, width int) *feed {
	return &feed{stream: terminal.New(th, room(width)), width: width, theme: th.ID}
}

func room(width int) int {
	if width <= gutter {
		return max(1, width)
	}
	return width - gutter
}

// under returns lines with the mark before the very first.
func (f *feed) under(lines []string, th *theme.Theme, width int) []string {
	sign := " "
	if !f.lead {
		sign = answerMark(th)
	}
	return under(lines, sign, width)
}

func answerMark(th *theme.Theme) string {
	mark := th.Box.Dot
	if mark == "" {
		mark = "*"
	}
	return th.AssistantMark.On(mark)
}

// answer returns all lines of an answer, for full-screen mode. Of one that comes in only
// the open block is drawn again.
func (t *Transcript) answer(it *item, th *theme.Theme, width int) slab {
	f := it.shown
	if f == nil || f.width != width || f.theme != th.ID || !f.add(it.said()) {
		f = newFeed(th, width)
		f.add(it.said())
	}
	it.shown = f
	if it.final {
		f.stream.End()
		it.shown = nil
	}
	take := func(lines []string) []string {
		lines = f.under(lines, th, width)
		f.lead = f.lead || len(lines) > 0
		return lines
	}
	f.done = append(f.done, take(f.stream.Take())...)
	lead := f.lead
	tail := take(f.stream.Tail())
	f.lead = lead
	return slab{done: f.done, tail: tail}
}
