package transcript

import (
	"fmt"
	"image"
	"strings"
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/text/markdown/terminal"
	counts "scorel/internal/ui/plain"
	"scorel/internal/ui/tui/screen"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/framed"
)

// gutter is how many cells are before the text of an item: its mark and a blank.
const gutter = 2

const redacted = "[redacted by the provider]"

// maxKept bounds the lines that are kept of items that are not on the screen.
const maxKept = 20_000

// narrow is the width below which lines are cut that could not be made to fit.
const narrow = 24

// drawing is what an item looks like at a width, in a theme.
type drawing struct {
	slab    slab
	width   int
	theme   string
	version int
	second  int // of what shows how long it has run
	ok      bool
	coming  bool // an image of it may be drawn soon
	long    bool // a message of a person, of which not all is seen when it is folded
}

// slab is the lines of an item. Those of an answer that comes in are in two pieces, so
// that what is finished is not copied for each piece of it. They must not be changed.
type slab struct {
	gap        int    // lines before them: a blank one
	lead       string // or this
	done, tail []string
}

func (s slab) len() int { return s.gap + len(s.done) + len(s.tail) }

func (s slab) at(i int) string {
	if i -= s.gap; i < 0 {
		return s.lead
	}
	if i < len(s.done) {
		return s.done[i]
	}
	return s.tail[i-len(s.done)]
}

// lines returns an item as lines, from what is kept if it looks the same.
func (t *Transcript) lines(it *item, th *theme.Theme, width int) slab {
	d, second := &it.drawn, t.second(it)
	if d.ok && d.width == width && d.theme == th.ID && d.version == it.version && d.second == second {
		return d.slab
	}
	t.draws++
	t.kept -= d.slab.len()
	*d = drawing{width: width, theme: th.ID, version: it.version, second: second, ok: true}
	t.awaited = false
	if it.kind == answer {
		d.slab = t.answer(it, th, width)
	} else {
		d.slab.done = t.draw(it, th, width)
	}
	d.coming = t.awaited
	t.kept += d.slab.len()
	return d.slab
}

// fit cuts a line where the width is one at which not everything can be made to fit.
func fit(line string, width int) string {
	if width >= narrow || picture(line) {
		return line
	}
	return cell.Cut(line, width, "")
}

// picture reports whether a line holds the sequences of an image, which are not changed.
func picture(line string) bool {
	return strings.Contains(line, "\x1b_") || strings.Contains(line, "\x1bP") || strings.Contains(line, "\x1b]1337")
}

func fitAll(lines []string, width int) []string {
	if width < narrow {
		for i, l := range lines {
			lines[i] = fit(l, width)
		}
	}
	return lines
}

// forget drops the lines that are kept of an item.
func (t *Transcript) forget(it *item) {
	t.kept -= it.drawn.slab.len()
	it.drawn = drawing{}
}

// shed forgets what is off the screen when too much is kept.
func (t *Transcript) shed() {
	if t.kept <= maxKept {
		return
	}
	seen := map[int]bool{}
	for _, r := range t.view.rows {
		seen[r.index] = true
	}
	for i, it := range t.items {
		if !seen[i] && it.live == nil {
			t.forget(it)
		}
	}
}

// second returns for how many seconds an item has run, of those that show it.
func (t *Transcript) second(it *item) int {
	if it.kind == card && it.call.running {
		return int(t.cfg.Now().Sub(it.call.began) / time.Second)
	}
	return 0
}

// draw makes the lines of an item: two cells for its mark, and what it says.
func (t *Transcript) draw(it *item, th *theme.Theme, width int) []string {
	room := max(1, width-gutter)
	switch it.kind {
	case user:
		return t.drawUser(it, th, width, room)
	case thinking:
		return t.drawThinking(it, th, width, room)
	case card:
		return under(t.drawCard(it, th, room), t.cardMark(it.call, th), width)
	case shown:
		return t.drawShown(it, th, width, room)
	case said:
		style, sign := levelOf(it.level, th)
		return under(styled(wrap(it.text, room), style), style.On(sign), width)
	case broken:
		return under(styled(wrap(brokenText, room), th.Warning), th.Warning.On("!"), width)
	case retry:
		text := display.Of(it.body).Text // when it is tried again counts down above the editor
		if text == "" {
			text = "The model did not answer."
		}
		return under(styled(wrap(text, room), th.Warning), th.Warning.On("!"), width)
	}
	return nil
}

const brokenText = "The answer above was not kept: it was cancelled, or is asked for again."

// under returns lines with a mark of one cell before the first, and blanks before the
// others. A line without text stays empty.
func under(lines []string, sign string, width int) []string {
	if width <= gutter {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		switch {
		case i == 0 && (l != "" || sign != " "):
			out[i] = cell.Pad(sign, 1) + " " + l
		case l != "":
			out[i] = "  " + l
		}
	}
	return out
}

// wrap breaks outside text into lines. It is cut before it is measured.
func wrap(text string, width int) []string {
	text = strings.Trim(clean(text), "\n")
	if text == "" {
		return nil
	}
	return cell.Wrap(text, width)
}

func styled(lines []string, style theme.Style) []string {
	for i, l := range lines {
		lines[i] = style.On(l)
	}
	return lines
}

func levelOf(level string, th *theme.Theme) (theme.Style, string) {
	switch level {
	case "error":
		return th.Error, "!"
	case "warning":
		return th.Warning, "!"
	}
	return th.Info, "i"
}

func (t *Transcript) drawUser(it *item, th *theme.Theme, width, room int) []string {
	m, _ := it.body.Message()
	sign := "❯"
	if th.Plain {
		sign = ">"
	}
	most := openLines
	if t.folded(it) {
		most = userLines
	}
	it.drawn.long = false
	var lines []string
	for i, b := range m.Content {
		if path, n, ok := framed.FileOf(b.Text); ok && i > 0 {
			it.drawn.long = true
			if t.folded(it) {
				lines = append(lines, cell.Cut(th.Dim.On("["+literal(path)+", "+counts.Count(n, "line")+"]"), room, "…"))
				continue
			}
		}
		if b.Type == protocol.BlockText {
			text := wrap(framed.Unframed(b.Text), room)
			it.drawn.long = it.drawn.long || len(text) > userLines+1
			left := len(text) - most
			if left > 1 { // else the line that says so would take its place
				text = text[:most]
			}
			lines = append(lines, styled(text, th.User)...)
			if left > 1 {
				lines = append(lines, cell.Cut(th.Dim.On(counts.More(left, "line")), room, "…"))
			}
		} else {
			lines = append(lines, t.payload(b, th, room)...)
		}
	}
	i := display.Of(it.body)
	switch {
	case m.Meta != nil && m.Meta.Source == protocol.SourceFollowUp && m.Meta.Channel == "":
		lines = append(lines, cell.Cut(th.Dim.On("queued"), room, "…"))
	case i.Title != "":
		lines = append(lines, cell.Cut(th.Dim.On("from "+clean(i.Title)), room, "…"))
	case i.Kind == display.Note:
		lines = append(lines, cell.Cut(th.Dim.On("sent while it was working"), room, "…"))
	}
	return under(lines, th.UserMark.On(sign), width)
}

// imageHeight bounds the lines of an image.
const imageHeight = 20

// payload returns a block that is not text: a line that says what it is, which is an image
// where that can be drawn.
func (t *Transcript) payload(b protocol.Block, th *theme.Theme, room int) []string {
	var p Picture
	text := string(b.Type)
	switch b.Type {
	case protocol.BlockImage:
		text += " " + strings.TrimPrefix(b.MediaType, "image/")
		if t.cfg.Images != nil {
			p = t.cfg.Images.Image(b.Blob, b.MediaType, room, imageHeight)
			t.awaited = t.awaited || p.Coming
		}
		if p.Pixels != (image.Point{}) {
			by := "×"
			if th.Plain {
				by = " by "
			}
			text += fmt.Sprintf(" %d%s%d", p.Pixels.X, by, p.Pixels.Y)
		}
	case protocol.BlockFile:
		text += " " + b.Name
	}
	line := cell.Cut(th.Chip.On("["+display.Line(clean(text))+"]"), room, "…")
	if p.Sequence != "" {
		line = screen.Image(p.Sequence, p.Rows, line)
	}
	return []string{line}
}

func (t *Transcript) drawThinking(it *item, th *theme.Theme, width, room int) []string {
	text, verb := it.text, "Thought"
	if it.live != nil {
		text = string(it.live.raw)
		if it.live.took == 0 {
			verb = "Thinking"
		}
	}
	if strings.TrimSpace(text) == "" && it.live == nil {
		return nil
	}
	folded := t.folded(it)
	if folded && t.thoughts != "" {
		verb = t.thoughts
	}
	head := verb
	if it.took >= 100*time.Millisecond {
		head += " for " + elapsed(it.took)
	}
	if n := countLines(text); n > 0 {
		head += fmt.Sprintf(" (%s)", plural(n, "line"))
	}
	lines := []string{cell.Cut(th.Thinking.On(head), room, "…")}
	if !folded {
		lines = append(lines, styled(wrap(text, room), th.Thinking)...)
	}
	return under(lines, th.Thinking.On(foldMark(folded, th)), width)
}

func foldMark(folded bool, th *theme.Theme) string {
	if folded {
		return th.Box.Folded
	}
	return th.Box.Unfolded
}

func (t *Transcript) drawShown(it *item, th *theme.Theme, width, room int) []string {
	i := display.Of(it.body)
	i.Title = clean(i.Title)
	switch i.Kind {
	case display.Folded:
		lines := []string{cell.Cut(th.Dim.On(i.Title), room, "…")}
		if !t.folded(it) {
			lines = append(lines, terminal.Lines(th, room, clean(i.Text))...)
		}
		return under(lines, th.Dim.On(foldMark(t.folded(it), th)), width)
	case display.Marker, display.Badge:
		line := i.Title
		if i.Kind == display.Badge {
			line = "from " + line
		}
		rule := th.Box.Horizontal
		if rule == "" || th.Plain {
			rule = "-"
		}
		line = rule + rule + " " + line + " "
		return []string{cell.Cut(th.Border.On(line+strings.Repeat(rule, max(0, min(width, 60)-cell.Width(line)))), width, "")}
	case display.Custom:
		if own := t.drawnBy(it, room); own.Body != nil {
			return under(Foreign(own.Body, room, th), th.Info.On("+"), width)
		}
		if _, ok := it.body.Body.(*protocol.Custom); ok { // state of an extension, which nobody sees as it is
			return nil
		}
		lines := []string{cell.Cut(th.Strong.On(i.Title), room, "…")}
		return under(append(lines, terminal.Lines(th, room, clean(i.Text))...), th.Info.On("+"), width)
	}
	text := i.Text
	if i.Title != "" {
		text = strings.TrimSpace(i.Title + "\n" + i.Text)
	}
	if i.Kind == display.Notice && i.Status == display.Failed {
		return under(styled(wrap(text, room), th.Warning), th.Warning.On("!"), width)
	}
	lines := styled(wrap(text, room), th.Dim)
	m, _ := it.body.Message()
	for _, b := range m.Content {
		if b.Type == protocol.BlockImage {
			lines = append(lines, t.payload(b, th, room)...)
		}
	}
	return under(lines, th.Info.On("i"), width)
}

// folded reports whether an item that can be folded is.
func (t *Transcript) folded(it *item) bool {
	open := false
	switch it.kind {
	case card, user:
		open = t.cfg.ExpandTools
	case thinking:
		open = t.cfg.ShowThinking
	}
	return open == it.toggled
}

// folds reports whether the item can be folded and is.
func (t *Transcript) folds(it *item) bool {
	switch it.kind {
	case card, thinking, shown:
		return t.folded(it)
	case user:
		return it.drawn.long && t.folded(it)
	}
	return false
}

// raw returns the text of an item without styles.
func (t *Transcript) raw(it *item) string {
	switch it.kind {
	case answer:
		return display.Text(string(it.said()))
	case thinking, said:
		return display.Text(string(it.own()))
	case card:
		return it.call.text()
	case user, shown, retry:
		i := display.Of(it.body)
		return strings.TrimSpace(i.Title + "\n" + i.Text)
	case broken:
		return brokenText
	}
	return ""
}

// other returns the item of an event that has no kind of its own.
func (t *Transcript) other(e protocol.Event) *item {
	k := shown
	switch i := display.Of(e); i.Kind {
	case display.Hidden, display.Queue, display.Label, display.Detail:
		k = hidden
	}
	return &item{kind: k, id: string(e.ID), event: e.ID, body: e, final: true}
}

func endLevel(m *protocol.Message) string {
	if m.StopReason == protocol.StopCancelled {
		return "warning"
	}
	return "error"
}

// Text returns what the items of an event show, without styles: the item itself when id
// is that of one (Selected), else all of the event.
func (t *Transcript) Text(id protocol.EventID) string {
	var parts []string
	for _, it := range t.items {
		if it.event == id || it.id == string(id) {
			s := t.raw(it)
			if it.kind == piece { // the message that was asked for is this one
				s = display.Text(string(it.own()))
			}
			if s != "" {
				parts = append(parts, s)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// Raw returns the whole conversation that is held, without styles.
func (t *Transcript) Raw() string {
	var parts []string
	for _, it := range t.items {
		if s := t.raw(it); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}
