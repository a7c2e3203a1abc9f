// Package mcptool makes tools of MCP servers into tools of a turn.
//
// What they do is known to nobody but their server, so all are of the kind exec: a rule or
// a person allows a call, and what the server says of itself (a tool that only reads) lets
// calls run side by side and no more. Answers are bounded for the model; what is cut is
// kept whole, and pictures are made to fit.
package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/permission"
	engine "scorel/internal/engine/tool"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

const (
	// maxText is how much text of an answer a model sees, in bytes: about 25,000 tokens.
	maxText = 100_000
	// maxStructured bounds what is kept of the structured part of an answer, in bytes.
	maxStructured = 256 << 10
)

// Server is what calls go to; a lease of the pool of connections is one.
type Server interface {
	Call(ctx context.Context, c connect.Call) (*connect.Answer, error)
}

// Source is the server of a tool as it is configured.
type Source struct {
	Name string
	Time time.Duration // how long a call may take without a word; 0: what is usual
	// Offers reports whether the server, as far as is known, still has a tool of its own name.
	Offers func(own string) bool
}

// Tool is a tool of a server. It implements [engine.Tool].
type Tool struct {
	Source
	of     connect.Tool
	server Server
	people People
	blobs  engine.Blobs
}

// People are those of the session that a tool is for.
type People struct {
	Session string
	// Ask puts a dialog to them, and is false where nobody answers it. Nil is that there are
	// none.
	Ask func(ctx context.Context, d protocol.Dialog) (json.RawMessage, bool)
	// Sample asks a model for a server, if they agree. Nil is that it is not done.
	Sample func(ctx context.Context, server, callID string, q connect.Sample) (connect.Sampled, error)
}

// New makes a tool of one of a server.
func New(from Source, of connect.Tool, server Server, people People, blobs engine.Blobs) Tool {
	return Tool{from, of, server, people, blobs}
}

// AlwaysLoad reports whether the server asks that a model is sent the tool.
func (t Tool) AlwaysLoad() bool { return t.of.AlwaysLoad }

// Spec implements [engine.Tool].
func (t Tool) Spec() engine.Spec {
	return engine.Spec{
		ToolInfo:    protocol.ToolInfo{Name: t.of.Name, Kind: protocol.ToolRuns},
		Description: t.of.Description,
		Schema:      t.of.Schema,
		Parallel:    t.of.ReadOnly,
	}
}

// Server implements [engine.Served].
func (t Tool) Server() string { return connect.PlainName(t.Name) }

// Hint implements [engine.Hinted].
func (t Tool) Hint() string { return t.of.Hint }

// Check implements [engine.Checked].
func (t Tool) Check(input json.RawMessage) error { return t.of.Check(input) }

// Prepare implements [engine.Tool].
func (t Tool) Prepare(_ context.Context, call engine.Call) (engine.Prepared, error) {
	return &prepared{t, call}, nil
}

// prepared is a call. It implements [engine.Prepared] and [engine.Labelled].
type prepared struct {
	Tool
	call engine.Call
}

// Label implements [engine.Labelled].
func (p *prepared) Label() string {
	if p.of.Title != "" {
		return p.Name + ": " + p.of.Title
	}
	return p.Name + ": " + p.of.Own
}

// Caution implements [engine.Cautious]: what the server says of the tool, which allows
// nothing.
func (p *prepared) Caution() string {
	var says []string
	if p.of.Destructive {
		says = append(says, "can change or delete data for good")
	}
	if p.of.OpenWorld {
		says = append(says, "reaches other systems")
	}
	if len(says) == 0 {
		return ""
	}
	return "The server " + p.Name + " says that it " + strings.Join(says, ", and ") + "."
}

// Action implements [engine.Prepared].
func (p *prepared) Action() permission.Action {
	return permission.Action{Tool: p.of.Name, Kind: permission.Exec, Server: p.Tool.Server()}
}

// Snapshots implements [engine.Prepared]: what the server changes cannot be restored.
func (p *prepared) Snapshots(context.Context) ([]engine.Snapshot, error) { return nil, nil }

// Close implements [engine.Prepared].
func (p *prepared) Close() {}

// Run implements [engine.Prepared].
func (p *prepared) Run(ctx context.Context, _ func(string)) (engine.Result, error) {
	if p.Offers != nil && !p.Offers(p.of.Own) {
		return engine.Result{}, fmt.Errorf("the tool is no longer available: the MCP server %s does not list it any more", p.Name)
	}
	a, err := p.server.Call(ctx, connect.Call{Tool: p.of.Own, Input: p.call.Input, Tell: p.tell, Time: p.Time, Session: p.people.Session, Ask: p.ask, Sample: p.people.Sampler(p.Name, p.call.ID)})
	switch {
	case errors.Is(err, connect.ErrNeedsAuth):
		return engine.Result{}, fmt.Errorf("the MCP server %s wants somebody to sign in: scorel mcp login %s", p.Name, p.Name)
	case err != nil && ctx.Err() != nil:
		return engine.Result{}, ctx.Err()
	case errors.Is(err, connect.ErrUnknownEffect):
		return engine.Result{}, fmt.Errorf("the MCP server %s: %w; check before repeating", p.Name, serverError{err})
	case err != nil:
		return engine.Result{}, fmt.Errorf("the MCP server %s: %w", p.Name, serverError{err})
	}
	return p.result(ctx, a)
}

// serverError is an error with words of a server, which do not speak as the program.
type serverError struct{ error }

// Error implements [error].
func (e serverError) Error() string { return promptsafe.Escape(e.error.Error()) }

// Unwrap returns the error as it was.
func (e serverError) Unwrap() error { return e.error }

// ask puts a question of the server to people.
func (p *prepared) ask(ctx context.Context, q connect.Question) connect.Reply {
	return p.people.Answer(ctx, p.Name, p.call.ID, q)
}

// Sampler returns what asks a model for a server, in the course of a call or, with "", of
// another request; nil where that is not done.
func (p People) Sampler(server, callID string) func(context.Context, connect.Sample) (connect.Sampled, error) {
	if p.Sample == nil {
		return nil
	}
	return func(ctx context.Context, q connect.Sample) (connect.Sampled, error) {
		return p.Sample(ctx, server, callID, q)
	}
}

// Answer puts a question of a server to people, in the course of a call or, with "", of
// another request.
func (p People) Answer(ctx context.Context, server, callID string, q connect.Question) connect.Reply {
	if p.Ask == nil {
		return connect.Reply{Action: connect.Decline}
	}
	d := protocol.Dialog{Kind: protocol.DialogForm, ToolCallID: callID, Source: "MCP server " + server, Title: "A server asks", Message: q.Message, Schema: q.Schema}
	if q.URL != "" {
		d.Kind, d.Title, d.Schema, d.URL = protocol.DialogURL, "A server asks you to open an address", nil, q.URL
	}
	value, ok := p.Ask(ctx, d)
	switch {
	case !ok || string(value) == "false":
		return connect.Reply{Action: connect.Decline}
	case q.URL != "":
		return connect.Reply{Action: connect.Accept}
	}
	return connect.Reply{Action: connect.Accept, Values: value}
}

// tell tells people of the progress of the call.
func (p *prepared) tell(progress connect.Progress) {
	u := protocol.ProcessUpdate{Stage: "progress", Status: protocol.ProcessRunning, Message: progress.Message, Current: &progress.Done}
	if u.Message == "" {
		u.Message = "It goes on."
	}
	if progress.Total > 0 {
		percent := min(100, max(0, 100*progress.Done/progress.Total))
		u.Total, u.Percent = &progress.Total, &percent
	}
	p.call.Report(u)
}

// result makes a result of an answer, bounded for the model.
func (p *prepared) result(ctx context.Context, a *connect.Answer) (engine.Result, error) {
	r := engine.Result{IsError: a.IsError}
	details := protocol.ToolDetails{}
	if n := len(a.Structured); n > 0 && n <= maxStructured {
		details.Structured = a.Structured
	}
	r.Details = details
	return bounded(ctx, r, a.Parts, p.call.ID, p.blobs)
}

// bounded fills a result of a call with parts of an answer, bounded for the model.
func bounded(ctx context.Context, r engine.Result, parts []connect.Part, callID string, blobs engine.Blobs) (engine.Result, error) {
	text, pictures, err := Content(ctx, parts, blobs)
	if err != nil {
		return engine.Result{}, err
	}
	switch {
	case len(text) > maxText:
		r.Full = io.NopCloser(strings.NewReader(text))
		text = shortened(text, callID)
	case text == "" && len(pictures) == 0:
		text = "(no output)"
	}
	if text != "" {
		r.Content = append(r.Content, protocol.Text(text))
	}
	r.Content = append(r.Content, pictures...)
	return r, nil
}

// shortened returns the beginning and the end of a text that is too long.
func shortened(text, callID string) string {
	head, tail := strings.ToValidUTF8(text[:maxText/2], ""), strings.ToValidUTF8(text[len(text)-maxText/2:], "")
	return fmt.Sprintf("%s\n[… %d bytes left out; Read with path \"result:%s\" has the whole …]\n%s", head, len(text)-len(head)-len(tail), callID, tail)
}

// Content makes text and pictures of parts of an answer. Other files are kept, and named in
// the text, which has no bound of its own.
func Content(ctx context.Context, parts []connect.Part, blobs engine.Blobs) (text string, pictures []protocol.Block, err error) {
	var texts []string
	for _, part := range parts {
		switch {
		case part.Data == nil:
			texts = append(texts, part.Text)
		case part.Image:
			b, note := picture(ctx, part, blobs)
			if note != "" {
				texts = append(texts, note)
			} else {
				pictures = append(pictures, b)
			}
		default:
			blob, err := blobs.PutBlob(ctx, bytes.NewReader(part.Data))
			if err != nil {
				return "", nil, fmt.Errorf("a file of the answer could not be kept: %w", err)
			}
			texts = append(texts, part.Text+" kept as blob:"+blob)
		}
	}
	return strings.Join(texts, "\n"), pictures, nil
}

// picture keeps a picture as a model may have it, or says why it may not.
func picture(ctx context.Context, part connect.Part, blobs engine.Blobs) (b protocol.Block, note string) {
	fitted, media, err := engine.FitImage(part.Data, part.MediaType)
	if err != nil {
		return b, fmt.Sprintf("[a picture, %s, %d bytes, cannot be shown: %v]", part.MediaType, len(part.Data), err)
	}
	blob, err := blobs.PutBlob(ctx, bytes.NewReader(fitted))
	if err != nil {
		return b, fmt.Sprintf("[a picture, %s, %d bytes, could not be kept: %v]", part.MediaType, len(part.Data), err)
	}
	return protocol.Block{Type: protocol.BlockImage, MediaType: media, Blob: blob}, ""
}
