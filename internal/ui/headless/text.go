package headless

import (
	"fmt"
	"io"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
	"strings"
	"time"
)

// maxTold bounds what takes one line, in characters.
const maxTold = 200

// maxDoing bounds what the spinner says of a step, in characters.
const maxDoing = 50

// textPrinter prints the answer for people. On a terminal text streams as it
// comes; on a pipe a message is written when it is stored, and only what ends a
// turn goes to stdout.
type textPrinter struct {
	out, errOut io.Writer
	live        bool // stdout is a terminal
	status      bool // stderr is one: spinner and tool lines
	started     time.Time

	streaming int  // bytes of the running message's text that were written
	midLine   bool // stdout is not at the start of a line
	spinner   int
	spun      bool // a spinner is on stderr's line
	doing     string
	answer    protocol.ModelAnswer
	held      string // an answer that may end the turn
}

// Event prints an event, if people read it.
func (p *textPrinter) Event(e protocol.Event) error {
	p.clear()
	switch b := e.Body.(type) {
	case *protocol.TextDelta:
		return p.delta(b)
	case *protocol.MessageCancelled:
		return p.takeBack()
	case *protocol.MessageBody:
		return p.message(b.Message)
	case *protocol.ToolExecutionStart, *protocol.ToolProcess, *protocol.ToolExecutionEnd:
		p.tool(e)
	case *protocol.Notice:
		if p.status || b.Level != "info" {
			fmt.Fprintln(p.errOut, "scorel: "+display.Of(e).Title)
		}
	case *protocol.UIRequest:
		p.note("  asks:\n" + display.Of(e).Text)
	case *protocol.HarnessItem:
		printProtected(p.errOut, b)
		if b.Item.Origin == protocol.OriginTool {
			p.note("  " + display.Of(e).Title)
		}
	case *protocol.Retry:
		printRetry(p.errOut, e)
	case *protocol.TurnEnd:
		p.answer.End()
		return p.release()
	default:
		if display.InConversation(e.Body) {
			p.item(display.Of(e))
		}
	}
	return nil
}

// delta streams a piece of the answer to a terminal.
func (p *textPrinter) delta(b *protocol.TextDelta) error {
	p.doing = ""
	if !p.live {
		return nil
	}
	p.streaming += len(b.Delta)
	return p.write(display.Text(b.Delta))
}

// takeBack says that what was streamed does not count.
func (p *textPrinter) takeBack() error {
	if !p.live || p.streaming == 0 {
		return nil
	}
	p.streaming = 0
	return p.write("\n[taken back]\n")
}

// tool notes what a call does.
func (p *textPrinter) tool(e protocol.Event) {
	switch b := e.Body.(type) {
	case *protocol.ToolExecutionStart:
		p.doing = b.ToolName
		p.note("• " + display.Line(b.ToolName) + " " + display.Summary(b.ToolName, b.Args))
	case *protocol.ToolProcess:
		if b.ToolCallID != "" {
			p.doing = display.Line(b.ToolName) + " " + plain.FirstLine(display.Of(e).Title, maxDoing)
		}
	case *protocol.ToolExecutionEnd:
		p.doing = ""
		if b.IsError {
			p.note("  " + b.ToolName + " failed")
		}
	}
}

// item shows in one line what needs no form of its own. Folded texts are for those who look
// at the session later.
func (p *textPrinter) item(it display.Item) {
	line := it.Title
	switch it.Kind {
	case display.Notice, display.Custom, display.Shell:
		if text := plain.FirstLine(it.Text, maxTold); line != "" && text != "" {
			line += ": " + text
		} else {
			line += text
		}
	case display.Folded, display.Marker, display.Badge:
	default:
		return
	}
	if line != "" {
		p.note("  " + line)
	}
}

func (p *textPrinter) message(m protocol.Message) error {
	continues := p.answer.Add(m)
	if p.live {
		return p.streamed(m)
	}
	if m.Role != protocol.RoleAssistant || m.IsFailure() { // the end of the turn tells of that
		return nil
	}
	text := display.Text(p.answer.Text)
	if continues {
		p.held = "" // text begins with it
	}
	if len(m.Calls()) > 0 {
		if text != "" {
			fmt.Fprintln(p.errOut, text)
		}
		return nil
	}
	if err := p.release(); err != nil {
		return err
	}
	p.held = text
	return nil
}

// streamed ends a message on a terminal: with its line, unless the next message continues it.
func (p *textPrinter) streamed(m protocol.Message) error {
	if m.Role == protocol.RoleAssistant && !m.IsFailure() {
		if err := p.missed(m); err != nil {
			return err
		}
	}
	if p.midLine && !p.answer.Open {
		return p.write("\n")
	}
	return nil
}

// missed writes a message of which not all was written as it came: what comes faster
// than a terminal takes it is not sent to it.
func (p *textPrinter) missed(m protocol.Message) error {
	length := 0
	for _, b := range m.Content {
		length += len(b.Text)
	}
	streamed := p.streaming
	p.streaming = 0
	if streamed >= length {
		return nil
	}
	if streamed > 0 {
		if err := p.write("\n[some of it came too fast; this is all of it]\n"); err != nil {
			return err
		}
	}
	return p.write(display.Text(m.PlainText()))
}

// release writes the message that ended a turn.
func (p *textPrinter) release() error {
	text := p.held
	p.held = ""
	if text == "" {
		return nil
	}
	return p.write(strings.TrimRight(text, "\n") + "\n")
}

func (p *textPrinter) write(s string) error {
	if s == "" {
		return nil
	}
	p.midLine = !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(p.out, s)
	return err
}

// note prints a line on stderr, when a person reads it.
func (p *textPrinter) note(line string) {
	if !p.status {
		return
	}
	if p.live && p.midLine {
		_ = p.write("\n")
	}
	fmt.Fprintln(p.errOut, line)
}

// tick turns the spinner.
func (p *textPrinter) Tick() {
	if !p.status || p.streaming > 0 || (p.live && p.midLine) {
		return
	}
	const frames = `|/-\`
	p.spinner++
	doing := p.doing
	if doing == "" {
		doing = "thinking"
	}
	fmt.Fprintf(p.errOut, "\r%c %s %ds\x1b[K", frames[p.spinner%len(frames)], doing, int(time.Since(p.started).Seconds()))
	p.spun = true
}

func (p *textPrinter) clear() {
	if p.spun {
		fmt.Fprint(p.errOut, "\r\x1b[K")
		p.spun = false
	}
}

func (p *textPrinter) Finish(r *Result, err error) error {
	p.clear()
	if werr := p.release(); werr != nil {
		return werr
	}
	if p.midLine {
		_ = p.write("\n")
	}
	if err != nil && !r.interrupted(err) {
		return err
	}
	switch {
	case r.interrupted(err) && r.SessionID == "":
		fmt.Fprintln(p.errOut, "scorel: cancelled before anything was sent")
	case r.interrupted(err):
		fmt.Fprintln(p.errOut, "scorel: cancelled; continue with scorel -p --session "+string(r.SessionID)+" \"…\"")
	case r.Error != nil:
		fmt.Fprintln(p.errOut, "scorel: "+display.Text(r.Error.Message))
	}
	if len(r.BackgroundEnded) > 0 {
		fmt.Fprintln(p.errOut, "scorel: "+r.backgroundLine())
	}
	if r.unanswered > 0 {
		fmt.Fprintln(p.errOut, "scorel: the model had a question and nobody could be asked; answer it with scorel -p --session "+string(r.SessionID)+" \"…\"")
	}
	if r.planned {
		fmt.Fprintln(p.errOut, "scorel: this is a plan; carry it out with scorel -p --session "+string(r.SessionID)+" --permission-mode acceptEdits \"Carry out the plan.\"")
	}
	for _, line := range []string{r.limitLine(), r.refusedLine()} {
		if line != "" {
			fmt.Fprintln(p.errOut, line)
		}
	}
	return nil
}

// QuoteShell quotes a word for bash.
func QuoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
