package headless

import (
	"context"
	"fmt"
	"io"

	"scorel/protocol"
)

// Send sends a message and follows its turn, as [Run.Message] does; limits of the run are
// those that are left.
type Send func(ctx context.Context, text string) error

// Structured makes the answer of a run that has ended one that fits a schema: it asks for
// another, at most twice, where it does not fit. asked reports that the model knows the
// schema already; else it is told first. It does nothing about a run that did not complete.
// Whether the answer fits at last says the result.
func (r *Run) Structured(ctx context.Context, s *Schema, asked bool, send Send) error {
	res := r.Result
	if !asked && res.Terminal == protocol.TerminalCompleted {
		if err := send(ctx, s.Demand()); err != nil {
			return err
		}
	}
	for try := 0; res.Terminal == protocol.TerminalCompleted && res.Error == nil; try++ {
		value, misfit := s.Fit(res.Result)
		if misfit == nil {
			res.Structured = value
			return nil
		}
		if try == maxRetries {
			res.Terminal = protocol.TerminalSchemaMismatch
			res.Error = protocol.Errorf(protocol.CodeSchemaMismatch, "No answer of %d fits the JSON Schema: %v.", maxRetries+1, misfit)
			return nil
		}
		r.notify(fmt.Sprintf("%v; the model is asked again", misfit))
		if err := send(ctx, s.again(misfit)); err != nil {
			return err
		}
	}
	return nil
}

// structuredPrinter prints the JSON value that the answer is, and nothing else of the
// answers that came on the way.
type structuredPrinter struct {
	Printer
	out io.Writer
}

// NewStructured prints a structured answer as text: one line of JSON.
func NewStructured(out, errOut io.Writer) Printer {
	return &structuredPrinter{NewText(io.Discard, errOut, IsTerminal(errOut)), out}
}

// Finish prints the end.
func (p *structuredPrinter) Finish(r *Result, err error) error {
	if r.Structured != nil {
		if _, werr := fmt.Fprintf(p.out, "%s\n", r.Structured); werr != nil {
			return werr
		}
	}
	return p.Printer.Finish(r, err)
}
