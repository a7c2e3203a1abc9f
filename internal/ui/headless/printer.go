package headless

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Printer shows a run.
type Printer interface {
	// Event shows what happens.
	Event(e protocol.Event) error
	// Tick is called ten times a second.
	Tick()
	// Finish prints the end. err is what came instead of an end; it is returned when a
	// person still has to be told of it.
	Finish(r *Result, err error) error
}

// NewPrinter makes the printer of a format: text, json or stream-json.
func NewPrinter(format string, out, errOut io.Writer) Printer {
	switch format {
	case "json":
		return &jsonPrinter{out: out, errOut: errOut}
	case "stream-json":
		return &jsonPrinter{out: out, errOut: errOut, stream: true}
	}
	return NewText(out, errOut, IsTerminal(errOut))
}

// NewText makes the printer for people. With status it says on errOut what the model does.
func NewText(out, errOut io.Writer, status bool) Printer {
	return &textPrinter{out: out, errOut: errOut, live: IsTerminal(out), status: status, started: time.Now()}
}

// IsTerminal reports whether what is written goes to a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
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

// printRetry tells on stderr that a model is called again, after which wait and why.
func printRetry(w io.Writer, e protocol.Event) {
	it := display.Of(e)
	fmt.Fprintln(w, "scorel: "+it.Title+": "+plain.FirstLine(it.Text, maxTold))
}
