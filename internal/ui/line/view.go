package line

import (
	"fmt"
	"strings"

	"scorel/internal/ui/follow"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

const (
	maxTail      = 5   // lines of a result that are shown
	maxTailWidth = 200 // characters of each
	maxCards     = 256 // running calls that are remembered
)

// view turns the events of a session into lines: those that were before and
// those that come are shown alike. It is used by one goroutine.
type view struct {
	screen screen
	mine   func(protocol.PermissionID) bool // whether this client answered a question

	shown   map[protocol.EventID]int // bytes of text of a running message that stand on the screen
	goesOn  bool                     // the newest message of the model was cut by its output limit: the next one continues its text
	begun   bool                     // a subscription was
	started map[string]bool          // calls whose card is on the screen, by id
	calls   map[string]protocol.Block
	items   int             // in the queues, when they were shown last
	waiting string          // what was said of them then
	retry   *protocol.Retry // the wait that was shown last
	tells   string          // what was said last of proactive mode
	stats   runStats
	failed  string // the reason that the newest message has given for its end

	ending follow.Ending
	worked []worked          // calls that have reported their work, the newest last
	stages map[string]string // the stage that was shown last, by operation; of a screen that is not live
}

// runStats are shown at the end of a run.
type runStats struct {
	whole bool // the run was seen from its beginning
	steps int
	usage protocol.Usage
}

func newView(s screen) *view {
	return &view{screen: s, mine: func(protocol.PermissionID) bool { return false }, shown: map[protocol.EventID]int{}, started: map[string]bool{}, calls: map[string]protocol.Block{}, stages: map[string]string{}}
}

// state shows what is running, after the events that a [protocol.LiveFrame] ended.
func (v *view) state(l *protocol.Live) {
	switch end, missed := v.ending.Missed(l); {
	case end != nil:
		v.end(end)
	case missed:
		v.screen.endStream()
		v.screen.line(alertStyle, "── the turn ended while the host was gone")
		v.stats = runStats{}
	}
	v.running(l.Messages)
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
	v.proactive(l.Automation)
	for i := range l.Tools {
		for _, p := range l.Tools[i].Process {
			v.work(&p)
		}
	}
	v.steps(l)
}

// running shows the messages that are coming in, as far as they are not on the screen, and
// that others were taken back.
func (v *view) running(messages []protocol.LiveMessage) {
	running := map[protocol.EventID]int{}
	for _, m := range messages {
		text := streamedText(m)
		running[m.EventID] = len(text)
		v.grown(m.EventID, text)
	}
	for id, n := range v.shown {
		if _, ok := running[id]; !ok && n > 0 { // it went with the host, or was taken back meanwhile
			v.screen.endStream()
			v.screen.line(dimStyle, "[taken back]")
		}
	}
	v.shown = running
}

// streamedText returns the text of all blocks of a message, as it is streamed.
func streamedText(m protocol.LiveMessage) string {
	text := ""
	for _, b := range m.Blocks {
		if b.Type == protocol.BlockText {
			text += string(b.Text)
		}
	}
	return text
}

// grown shows the text of a message that is coming in, or what of it is new.
func (v *view) grown(id protocol.EventID, text string) {
	have, was := v.shown[id]
	switch {
	case v.screen.live() && was && have <= len(text): // the same message, which has grown
		v.screen.stream(plainStyle, text[have:])
	case v.screen.live():
		v.screen.endStream()
		v.screen.stream(plainStyle, text)
	case text != "" && !was:
		v.screen.line(plainStyle, "assistant, so far: "+plain.IndentRest(text))
	}
}

// resync is given how a subscription goes on that was begun again.
func (v *view) resync(how protocol.Resync) {
	if how == protocol.FullReload && v.begun {
		v.screen.endStream()
		v.screen.line(dimStyle, "── many events since then; the newest:")
	}
	v.begun = true
}

// event shows one event; l is the state after it.
func (v *view) event(e protocol.Event, l *protocol.Live) {
	defer v.steps(l)
	v.ending.Event(e)
	if u := e.Usage(); u != nil { // also of a sub-agent, and of a try that was withdrawn
		v.stats.usage.Add(*u)
	}
	switch b := e.Body.(type) {
	case *protocol.MessageStart:
		if !v.goesOn || b.Role != protocol.RoleAssistant {
			v.screen.endStream()
		}
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
		v.goesOn = b.Message.Continued()
		v.failed = display.Ending(&b.Message)
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
	case *protocol.AutomationUpdate:
		v.proactive(b.Automation)
	case *protocol.Retry:
		v.retry = b
		v.notice(&e)
	case *protocol.PermissionRequest, *protocol.UIRequest: // the asker shows them
	case *protocol.PermissionResolved:
		v.resolved(e, b)
	case *protocol.HarnessItem:
		v.summary(e)
		v.notice(&e)
	case *protocol.Rewind:
		v.screen.line(dimStyle, "── went back to "+target(b.TargetEventID))
	case *protocol.Branch:
		v.screen.line(dimStyle, "── continues from "+string(b.LeafEventID))
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

// notice shows what takes one line.
func (v *view) notice(e *protocol.Event) {
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
		line += plain.FirstLine(it.Text, maxTailWidth)
	}
	if line == "" {
		return
	}
	v.screen.endStream()
	v.screen.line(dimStyle, "── "+line)
}

// resolved says how a question was closed.
func (v *view) resolved(e protocol.Event, b *protocol.PermissionResolved) {
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

// queues shows what waits. Of a state that comes again, only what is new.
func (v *view) queues(l *protocol.Live, state bool) {
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
				line = "── waiting: " + plain.FirstLine(contentText(it.Content), 80)
			}
		}
	}
	if paused {
		line += " (paused; /queue resume continues)"
	}
	if state && line == v.waiting {
		return
	}
	v.waiting = line
	v.screen.endStream()
	v.screen.line(dimStyle, line)
}

// end shows how a run ended.
func (v *view) end(b *protocol.RuntimeEnd) {
	v.screen.endStream()
	st, line := dimStyle, "── done"
	if b.Terminal != protocol.TerminalCompleted {
		st, line = alertStyle, "── ended: "+display.Ended(b.Terminal)
	}
	var parts []string
	if v.stats.whole && v.stats.steps > 0 {
		parts = append(parts, plain.Count(v.stats.steps, "step"))
	}
	if n := v.stats.usage.InputTokens + v.stats.usage.OutputTokens + v.stats.usage.CacheReadTokens + v.stats.usage.CacheWriteTokens; v.stats.whole && n > 0 {
		parts = append(parts, plain.Count(n, "token"))
	}
	if v.stats.whole && v.stats.usage.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", v.stats.usage.CostUSD))
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	v.screen.line(st, line)
	v.stats = runStats{}
	if b.Error != nil && display.Text(b.Error.Message) != v.failed { // else it stands above
		v.screen.line(alertStyle, "  "+display.Text(b.Error.Message))
	}
}

// contentText returns the text of a message's content.
func contentText(content []protocol.Block) string {
	var m protocol.Message
	m.Content = content
	return m.PlainText()
}

// proactive shows how proactive mode stands, where that is not what was shown last. While a turn
// runs there is nothing to show but that the model sleeps.
func (v *view) proactive(a *protocol.Automation) {
	text := display.Proactive(a)
	switch {
	case a == nil && v.tells != "":
		text = "proactive mode is off"
	case a == nil, text == v.tells, a.NextTickAt == 0 && a.Until == 0:
		return
	}
	v.screen.endStream()
	v.screen.line(dimStyle, "── "+text)
	if v.tells = text; a == nil {
		v.tells = ""
	}
}
