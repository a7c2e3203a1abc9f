package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"scorel/protocol"
	"scorel/protocol/display"
)

// printer renders a run.
type printer interface {
	event(e protocol.Event) error
	// tick is called ten times a second.
	tick()
	// finish prints the end. err is what came instead of an end; it is returned
	// when it still has to be told to the person.
	finish(r *result, err error) error
}

func (a *app) newPrinter(format string) printer {
	switch format {
	case "json":
		return &jsonPrinter{out: a.stdout, errOut: a.stderr}
	case "stream-json":
		return &jsonPrinter{out: a.stdout, errOut: a.stderr, stream: true}
	}
	return &textPrinter{out: a.stdout, errOut: a.stderr, live: isTerminal(a.stdout), status: isTerminal(a.stderr), started: time.Now()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// jsonPrinter prints the events (when streaming) and the result, one JSON object
// a line.
type jsonPrinter struct {
	out, errOut io.Writer
	stream      bool
	buf         []byte
}

func (p *jsonPrinter) event(e protocol.Event) error {
	if b, ok := e.Body.(*protocol.HarnessItem); ok {
		printProtected(p.errOut, b)
	}
	if !p.stream {
		return nil
	}
	var err error
	if p.buf, err = e.AppendLine(p.buf[:0]); err != nil {
		return err
	}
	_, err = p.out.Write(append(p.buf, '\n'))
	return err
}

// reply prints what became of a request.
func (p *jsonPrinter) reply(r protocol.Reply) error {
	line, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(line, '\n'))
	return err
}

func (p *jsonPrinter) tick() {}

func (p *jsonPrinter) finish(r *result, err error) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	if werr := enc.Encode(r); werr != nil {
		return werr
	}
	if err == nil && r.unasked > 0 {
		if hint := r.allowHint(); hint != "" {
			fmt.Fprintln(p.errOut, "scorel: something was refused because nobody could be asked; it is allowed by "+hint)
		}
	}
	return nil
}

// printProtected tells on stderr, in every format and whether or not a person reads it
// there, what a command did to protected files.
func printProtected(w io.Writer, b *protocol.HarnessItem) {
	if _, ok := protocol.ProtectedOf(b.Item); !ok {
		return
	}
	it := display.Of(protocol.NewEvent(b))
	fmt.Fprintln(w, "scorel: "+it.Title+":")
	for line := range strings.Lines(it.Text) {
		fmt.Fprintln(w, "  "+strings.TrimSuffix(line, "\n"))
	}
}

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
	spun      bool // a spinner stands on stderr's line
	doing     string
	held      string // a message that may end the turn
}

func (p *textPrinter) event(e protocol.Event) error {
	p.clear()
	switch b := e.Body.(type) {
	case *protocol.TextDelta:
		p.doing = ""
		if p.live {
			p.streaming += len(b.Delta)
			return p.write(display.Text(b.Delta))
		}
	case *protocol.MessageCancelled:
		if p.live && p.streaming > 0 {
			p.streaming = 0
			if err := p.write("\n[taken back]\n"); err != nil {
				return err
			}
		}
	case *protocol.MessageBody:
		return p.message(b.Message)
	case *protocol.ToolExecutionStart:
		p.doing = b.ToolName
		p.note("• " + display.Line(b.ToolName) + " " + display.Summary(b.ToolName, b.Args))
	case *protocol.ToolProcess:
		if b.ToolCallID != "" {
			p.doing = display.Line(b.ToolName) + " " + firstLine(display.Of(e).Title, maxDoing)
		}
	case *protocol.ToolExecutionEnd:
		p.doing = ""
		if b.IsError {
			p.note("  " + b.ToolName + " failed")
		}
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
	case *protocol.TurnEnd:
		return p.release()
	default:
		if display.InConversation(e.Body) {
			p.item(display.Of(e))
		}
	}
	return nil
}

// item shows in one line what needs no form of its own. Folded texts are for those who look
// at the session later.
func (p *textPrinter) item(it display.Item) {
	line := it.Title
	switch it.Kind {
	case display.Notice, display.Custom, display.Shell:
		if text := firstLine(it.Text, maxTailWidth); line != "" && text != "" {
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
	if m.Role != protocol.RoleAssistant {
		return nil
	}
	if p.live {
		if err := p.missed(m); err != nil {
			return err
		}
		if p.midLine {
			return p.write("\n")
		}
		return nil
	}
	text := display.Text(m.PlainText())
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
func (p *textPrinter) tick() {
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

func (p *textPrinter) finish(r *result, err error) error {
	p.clear()
	if werr := p.release(); werr != nil {
		return werr
	}
	if p.midLine {
		_ = p.write("\n")
	}
	if err != nil {
		return err
	}
	switch {
	case r.Terminal == protocol.TerminalCancelled:
		fmt.Fprintln(p.errOut, "scorel: cancelled; go on with scorel -p --session "+string(r.SessionID)+" \"…\"")
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
	if r.unasked > 0 {
		line := "scorel: something was refused because nobody can be asked here"
		if hint := r.allowHint(); hint != "" {
			line += "; it is allowed by " + hint
		}
		fmt.Fprintln(p.errOut, line)
	}
	return nil
}

// quoteShell quotes a word for bash.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
