package transcript

import (
	"slices"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
)

// Commit returns the lines of all that is final and was not given yet, in order, each
// once: for the terminal's scrollback. A blank line is before each item but the
// first. What has an image that is on its way, and all after it, waits for the image.
func (t *Transcript) Commit(th *theme.Theme, width int) []string {
	var out []string
	for ; t.next < len(t.items); t.next++ {
		it := t.items[t.next]
		if !it.given && t.awaits(it, th, width) {
			break
		}
		if !it.given {
			lines := t.take(it, th, width)
			if len(lines) > 0 && !it.begun {
				it.begun = true
				switch {
				case t.began:
					out = append(out, "")
				case t.more && t.cfg.Earlier != "":
					out = append(out, cell.Cut(th.Dim.On(t.cfg.Earlier), width, "…"), "")
				}
				t.began = true
			}
			out = append(out, lines...)
		}
		if !it.final {
			break
		}
		it.given, it.feed = true, nil
	}
	return fitAll(out, width)
}

// Again reports whether Commit has given something that is on the path no more, as after a
// rewind. Commit then gives the end of the path once more: so much that it fills the height,
// and whole items of it.
func (t *Transcript) Again(th *theme.Theme, width, height int) bool {
	if !t.stale {
		return false
	}
	t.stale = false
	for rows := 0; t.next > 0 && rows < height; {
		t.next--
		it := t.items[t.next]
		n := 0
		if it.kind == answer {
			f := newFeed(th, width)
			f.add(it.said())
			f.stream.End()
			n = len(f.stream.Done())
		} else {
			n = len(t.lines(it, th, width).done)
		}
		if rows += n + 1; rows > height && n < rows-1 { // it would begin above the screen, where it is already
			t.next++
			break
		}
		it.given, it.begun, it.feed = false, false, nil
	}
	return true
}

// awaits reports whether an item would be given without an image that may be there soon.
func (t *Transcript) awaits(it *item, th *theme.Theme, width int) bool {
	_, drawn := t.entry(it, 1)
	if !it.final || !drawn && (t.cfg.Images == nil || !it.has(isImage)) {
		return false
	}
	t.lines(it, th, width)
	return it.drawn.coming
}

// ImagesLeft reports whether there are images that Commit has not given.
func (t *Transcript) ImagesLeft() bool {
	return slices.ContainsFunc(t.items[t.next:], func(it *item) bool { return !it.given && it.has(isImage) })
}

// take returns the lines of an item that are final and were not given.
func (t *Transcript) take(it *item, th *theme.Theme, width int) []string {
	switch {
	case it.kind == answer:
		f := t.feed(it, th, width)
		lines := f.under(f.stream.Take(), th, width)
		if len(lines) > 0 && f.again {
			f.again = false
			lines = append(append(under(styled(wrap(brokenText, room(width)), th.Warning), th.Warning.On("!"), width), ""), lines...)
		}
		f.lead = f.lead || len(lines) > 0
		return lines
	case it.final:
		lines := t.lines(it, th, width).done
		t.forget(it)
		return lines
	}
	return nil
}

// Region returns what is not final, at most height lines, the newest of them.
func (t *Transcript) Region(th *theme.Theme, width, height int) []string {
	var parts [][]string
	n := 0
	for i := len(t.items) - 1; i >= t.next && n < height; i-- {
		it := t.items[i]
		var lines []string
		if it.kind == answer {
			f := t.feed(it, th, width)
			done, tail := f.stream.Done(), f.stream.Tail()
			lines = f.under(append(done[:len(done):len(done)], tail...), th, width)
		} else {
			lines = t.lines(it, th, width).done
		}
		if len(lines) == 0 {
			continue
		}
		if !it.begun && (t.began || i > t.next) {
			lines = append([]string{""}, lines...)
		}
		parts = append(parts, lines)
		n += len(lines)
	}
	out := make([]string, 0, n)
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return fitAll(out[max(0, len(out)-height):], width)
}
