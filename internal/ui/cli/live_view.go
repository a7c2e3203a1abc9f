package cli

import (
	"fmt"
	"strings"

	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	maxTail      = 5   // lines of a result that are shown
	maxTailWidth = 200 // characters of each
	maxCards     = 256 // running calls that are remembered
)

// liveView turns the events of a session into lines: those that were before and
// those that come are shown alike. It is used by one goroutine.
type liveView struct {
	screen screen
	mine   func(protocol.PermissionID) bool // whether this client answered a question

	shown   map[protocol.EventID]int // bytes of text of a running message that stand on the screen
	begun   bool                     // a subscription was
	started map[string]bool          // calls whose card stands on the screen, by id
	calls   map[string]protocol.Block
	items   int             // in the queues, when they were told of last
	waiting string          // what was said of them then
	retry   *protocol.Retry // the wait that was told of last
	stats   runStats

	worked []worked          // calls that have reported their work, the newest last
	stages map[string]string // the stage that was shown last, by operation; of a screen that is not live
}

// runStats are told at the end of a run.
type runStats struct {
	whole bool // the run was seen from its beginning
	steps int
	usage protocol.Usage
}

func newLiveView(s screen) *liveView {
	return &liveView{screen: s, mine: func(protocol.PermissionID) bool { return false }, shown: map[protocol.EventID]int{}, started: map[string]bool{}, calls: map[string]protocol.Block{}, stages: map[string]string{}}
}

// state shows what is running, behind the events that a [protocol.LiveFrame] ended.
func (v *liveView) state(l *protocol.Live) {
	running := map[protocol.EventID]int{}
	for _, m := range l.Messages {
		text := "" // of all blocks, as it is streamed
		for _, b := range m.Blocks {
			if b.Type == protocol.BlockText {
				text += string(b.Text)
			}
		}
		running[m.EventID] = len(text)
		have, was := v.shown[m.EventID]
		switch {
		case v.screen.live() && was && have <= len(text): // the same message, which has grown
			v.screen.stream(plainStyle, text[have:])
		case v.screen.live():
			v.screen.endStream()
			v.screen.stream(plainStyle, text)
		case text != "" && !was:
			v.screen.line(plainStyle, "assistant, so far: "+indentRest(text))
		}
	}
	for id, n := range v.shown {
		if _, ok := running[id]; !ok && n > 0 { // it went with the host, or was taken back meanwhile
			v.screen.endStream()
			v.screen.line(dimStyle, "[taken back]")
		}
	}
	v.shown = running
	for _, t := range l.Tools {
		if v.card(t.ToolCallID, t.ToolName, t.Args) && t.OutputTail != "" {
			v.tail(dimStyle, t.OutputTail)
		}
	}
	if l.Retry != nil && (v.retry == nil || *v.retry != *l.Retry) {
		v.notice(&protocol.Event{Body: l.Retry})
	}
	v.retry = l.Retry
	v.queues(l, true)
	for i := range l.Tools {
		for _, p := range l.Tools[i].Process {
			v.work(&p)
		}
	}
	v.steps(l)
}

// resync is told how a subscription goes on that was begun anew.
func (v *liveView) resync(how protocol.Resync) {
	if how == protocol.FullReload && v.begun {
		v.screen.endStream()
		v.screen.line(dimStyle, "── much has happened since; the newest of it:")
	}
	v.begun = true
}

// event shows one event; l is the state behind it.
func (v *liveView) event(e protocol.Event, l *protocol.Live) {
	defer v.steps(l)
	switch b := e.Body.(type) {
	case *protocol.MessageStart:
		v.screen.endStream()
		if b.Role == protocol.RoleAssistant {
			v.shown[b.EventID] = 0
		}
	case *protocol.TextDelta:
		v.shown[b.EventID] += len(b.Delta)
		v.screen.stream(plainStyle, b.Delta)
	case *protocol.ThinkingDelta:
		v.screen.stream(dimStyle, b.Delta)
	case *protocol.MessageCancelled:
		v.screen.endStream()
		if v.shown[b.EventID] > 0 && b.Reason == protocol.CancelRetry {
			v.screen.line(dimStyle, "[taken back: "+display.Line(string(b.Reason))+"]")
		}
		delete(v.shown, b.EventID)
	case *protocol.MessageBody:
		v.message(e, b.Message)
	case *protocol.ToolExecutionStart:
		v.card(b.ToolCallID, b.ToolName, b.Args)
	case *protocol.ToolProcess:
		v.process(b, l)
	case *protocol.RuntimeStart:
		v.stats = runStats{whole: true}
	case *protocol.RuntimeEnd:
		v.end(b)
	case *protocol.QueueUpdate:
		v.queues(l, false)
	case *protocol.Retry:
		v.retry = b
		v.notice(&e)
	case *protocol.PermissionRequest, *protocol.UIRequest: // the asker shows them
	case *protocol.PermissionResolved:
		v.resolved(e, b)
	case *protocol.HarnessItem:
		v.taskSummary(b)
		v.notice(&e)
	case *protocol.Rewind:
		v.screen.line(dimStyle, "── went back to "+target(b.TargetEventID))
	case *protocol.Branch:
		v.screen.line(dimStyle, "── goes on from "+string(b.LeafEventID))
	default:
		v.notice(&e)
	}
}

func target(id *protocol.EventID) string {
	if id == nil {
		return "the start"
	}
	return string(*id)
}

// message shows a message that is stored, or what of it is not shown yet.
func (v *liveView) message(e protocol.Event, m protocol.Message) {
	have, running := v.shown[e.ID]
	delete(v.shown, e.ID)
	it := display.Of(e)
	switch m.Role {
	case protocol.RoleUser:
		v.screen.endStream()
		word := "user: "
		switch {
		case v.screen.live():
			word = "> "
		case it.Kind == display.Note:
			word = "user, into the turn: "
		}
		v.screen.line(boldStyle, word+indentRest(it.Text))
	case protocol.RoleAssistant:
		v.assistant(it, m, have, running)
	case protocol.RoleToolResult:
		v.result(it, m)
	default:
		v.notice(&e)
	}
}

func (v *liveView) assistant(it display.Item, m protocol.Message, have int, running bool) {
	text := ""
	for _, b := range m.Content {
		if b.Type == protocol.BlockText {
			text += b.Text
		}
	}
	if v.screen.live() && running && have > 0 && have <= len(text) {
		v.screen.stream(plainStyle, text[have:])
		v.screen.endStream()
	} else if text = strings.TrimSpace(text); text != "" {
		v.screen.endStream()
		if !v.screen.live() {
			text = "assistant: " + indentRest(text)
		}
		v.screen.line(plainStyle, text)
	}
	if it.Status != display.OK && it.Status != "" {
		v.screen.line(alertStyle, "  ("+string(it.Status)+")")
	}
	for _, p := range it.Parts {
		if p.Kind == display.Notice {
			v.screen.line(alertStyle, "  "+indentRest(p.Text))
		}
	}
	for _, c := range m.Calls() {
		if len(v.calls) >= maxCards {
			clear(v.calls)
		}
		v.calls[c.ID] = c
	}
	v.stats.steps++
	if m.Usage != nil {
		v.stats.usage.Add(*m.Usage)
	}
}

// card shows that a call runs, once.
func (v *liveView) card(id, name string, args []byte) bool {
	if v.started[id] {
		return false
	}
	if len(v.started) >= maxCards {
		clear(v.started)
	}
	v.started[id] = true
	v.screen.endStream()
	v.screen.line(plainStyle, strings.TrimRight("• "+display.Line(name)+" "+display.Summary(name, args), " "))
	return true
}

func (v *liveView) result(it display.Item, m protocol.Message) {
	call := v.calls[m.ToolCallID]
	delete(v.calls, m.ToolCallID)
	if m.Usage != nil { // of a sub-agent
		v.stats.usage.Add(*m.Usage)
	}
	v.card(m.ToolCallID, m.ToolName, call.Input)
	delete(v.started, m.ToolCallID)
	v.summary(m)
	st := dimStyle
	if it.Status != display.OK {
		st = alertStyle
		v.screen.line(st, "  "+display.Line(m.ToolName)+" failed:")
	}
	v.tail(st, it.Text)
}

// tail shows the end of a text.
func (v *liveView) tail(st style, text string) {
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if n := len(lines) - maxTail; n > 0 {
		lines = append([]string{fmt.Sprintf("… %d lines before", n)}, lines[n:]...)
	}
	for i, l := range lines {
		lines[i] = "  " + firstLine(strings.TrimRight(l, " "), maxTailWidth)
	}
	v.screen.line(st, strings.Join(lines, "\n"))
}

// notice shows what is told in one line.
func (v *liveView) notice(e *protocol.Event) {
	it := display.Of(*e)
	switch it.Kind {
	case display.Hidden, display.Checkpoint, display.Detail, display.Audit, display.Stream, display.State, display.Tool, display.Question:
		return
	}
	line := it.Title
	if it.Kind == display.Notice && it.Status == display.Failed && it.Text != "" { // each line counts
		v.screen.endStream()
		v.screen.line(alertStyle, "── "+line+"\n  "+strings.ReplaceAll(it.Text, "\n", "\n  "))
		return
	}
	if it.Text != "" {
		if line != "" {
			line += ": "
		}
		line += firstLine(it.Text, maxTailWidth)
	}
	if line == "" {
		return
	}
	v.screen.endStream()
	v.screen.line(dimStyle, "── "+line)
}

// resolved says how a question was closed.
func (v *liveView) resolved(e protocol.Event, b *protocol.PermissionResolved) {
	who := ""
	switch {
	case b.Decision != protocol.DecisionAllow && b.Decision != protocol.DecisionDeny:
	case e.ClientID == protocol.HostClient:
		who = " by the host"
	case !v.mine(b.PermissionID):
		who = " elsewhere"
	}
	v.screen.endStream()
	what := map[protocol.Decision]string{protocol.DecisionAllow: "allowed", protocol.DecisionDeny: "denied", protocol.DecisionCancelled: "no longer asked", protocol.DecisionExpired: "not answered in time"}[b.Decision]
	v.screen.line(dimStyle, "  "+what+who)
}

// queues shows what waits. Of a state that is told again, only what is new.
func (v *liveView) queues(l *protocol.Live, state bool) {
	n, paused := 0, false
	for _, q := range l.Queues {
		n += len(q.Items)
		paused = paused || q.Paused
	}
	was := v.items
	v.items = n
	if n == 0 && (was == 0 || !state || v.waiting == "") {
		v.waiting = ""
		return
	}
	line := fmt.Sprintf("── %d waiting", n)
	if n == 1 {
		for _, q := range l.Queues {
			for _, it := range q.Items {
				line = "── waiting: " + firstLine(contentText(it.Content), 80)
			}
		}
	}
	if paused {
		line += " (paused; /queue resume goes on)"
	}
	if state && line == v.waiting {
		return
	}
	v.waiting = line
	v.screen.endStream()
	v.screen.line(dimStyle, line)
}

// end shows how a run ended.
func (v *liveView) end(b *protocol.RuntimeEnd) {
	v.screen.endStream()
	st, line := dimStyle, "── done"
	if b.Reason != protocol.EndCompleted {
		st, line = alertStyle, "── ended: "+display.Line(string(b.Terminal))
	}
	var parts []string
	if v.stats.whole && v.stats.steps > 0 {
		parts = append(parts, plural(v.stats.steps, "step"))
	}
	if n := v.stats.usage.InputTokens + v.stats.usage.OutputTokens + v.stats.usage.CacheReadTokens + v.stats.usage.CacheWriteTokens; v.stats.whole && n > 0 {
		parts = append(parts, plural(n, "token"))
	}
	if v.stats.whole && v.stats.usage.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", v.stats.usage.CostUSD))
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	v.screen.line(st, line)
	v.stats = runStats{}
	if b.Error != nil {
		v.screen.line(alertStyle, "  "+display.Text(b.Error.Message))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// contentText gives the text of a message's content.
func contentText(content []protocol.Block) string {
	var m protocol.Message
	m.Content = content
	return m.PlainText()
}

// indentRest indents all lines of a text but the first.
func indentRest(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
