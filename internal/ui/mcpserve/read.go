package mcpserve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of a page of a conversation, in messages.
const (
	defaultPage = 20
	maxPage     = 50
	maxRead     = 200 // of a conversation as a resource
)

// Page is messages of a conversation, oldest first.
type Page struct {
	SessionID  string `json:"sessionId"`
	Messages   []Line `json:"messages"`
	NextCursor string `json:"nextCursor,omitempty" jsonschema:"older messages follow with it"`
}

// Line is a message of a conversation.
type Line struct {
	ID   string `json:"id"`
	Role string `json:"role" jsonschema:"user, assistant, tool_result, or internal for what the host noted"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text"`
	Cut  bool   `json:"cut,omitempty" jsonschema:"the message is longer than what is here"`
}

func (s *Server) read(ctx context.Context, _ *mcp.CallToolRequest, in readInput) (*mcp.CallToolResult, Page, error) {
	id := protocol.SessionID(in.SessionID)
	if id.Check() != nil {
		return nil, Page{}, fmt.Errorf("%q is not an id of a session; session_list has them", display.Line(clip(in.SessionID, 80)))
	}
	r := &protocol.GetPath{BeforeID: protocol.EventID(in.Cursor), Limit: in.Limit}
	switch {
	case in.Limit == 0:
		r.Limit = defaultPage
	case in.Limit < 0 || in.Limit > maxPage:
		return nil, Page{}, fmt.Errorf("limit is %d; it can be 1 to %d", in.Limit, maxPage)
	}
	page, err := client.Call[*protocol.Events](ctx, s.cfg.Client, id, r)
	if err != nil {
		return nil, Page{}, failed(err)
	}
	out, size := Page{SessionID: in.SessionID, Messages: []Line{}}, 0
	more, last := page.More, protocol.EventID("")
	for _, e := range page.Events { // newest first
		line, ok := lineOf(e)
		if ok {
			if size += len(line.Text); size > maxAnswer && len(out.Messages) > 0 {
				more = true
				break
			}
			out.Messages = append(out.Messages, line)
		}
		last = e.ID
	}
	if more {
		out.NextCursor = string(last)
	}
	slices.Reverse(out.Messages)
	var text strings.Builder
	for _, m := range out.Messages {
		fmt.Fprintf(&text, "## %s %s\n%s\n\n", strings.TrimSpace(m.Role+" "+m.Tool), m.ID, m.Text)
	}
	switch {
	case len(out.Messages) == 0:
		text.WriteString("There are no messages.")
	case more:
		text.WriteString("Older messages follow with this cursor: " + out.NextCursor)
	}
	return said("%s", text.String()), out, nil
}

// lineOf returns an event as a message of the conversation; it reports false for one that
// is not for people.
func lineOf(e protocol.Event) (Line, bool) {
	it := display.Of(e)
	if it.Kind == display.Hidden {
		return Line{}, false
	}
	var parts []string
	for _, p := range append([]display.Item{it}, it.Parts...) {
		switch {
		case p.Kind == display.Tool && p.Role == "":
			parts = append(parts, "["+p.ToolName+" "+p.Title+"]")
		case p.Kind == display.Thinking || p.Text == "":
		default:
			parts = append(parts, strings.TrimRight(p.Text, "\n"))
		}
	}
	text := strings.Join(parts, "\n")
	if text == "" {
		text = it.Title
	}
	line := Line{ID: string(e.ID), Role: string(it.Role), Tool: it.ToolName, Text: clean(text, maxMessage), Cut: len(text) > maxMessage}
	if line.Role == "" {
		line.Role = string(protocol.RoleInternal)
	}
	return line, line.Text != ""
}

// uriScheme is what the address of a conversation begins with.
const uriScheme = "scorel://session/"

// sessionTemplate is the form of the addresses of conversations.
const sessionTemplate = uriScheme + "{id}"

func resourceURI(id protocol.SessionID) string { return uriScheme + string(id) }

func (s *Server) addResources() {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: sessionTemplate, Name: "session", Title: "Conversation", MIMEType: "text/markdown",
		Description: "The conversation of a session as Markdown, its newest messages. session_list has the ids."}, s.readResource)
}

func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id := protocol.SessionID(strings.TrimPrefix(req.Params.URI, uriScheme))
	if id.Check() != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	page, err := client.Call[*protocol.Events](ctx, s.cfg.Client, id, &protocol.GetPath{Limit: maxRead})
	var pe *protocol.Error
	switch {
	case errors.As(err, &pe) && pe.Code == protocol.CodeSessionNotFound:
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	case err != nil:
		return nil, failed(err)
	}
	slices.Reverse(page.Events)
	text, err := markdown(id, page.Events, page.More)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/markdown", Text: text}}}, nil
}

// markdown returns a conversation as Markdown, without its oldest messages where it would be
// too long.
func markdown(id protocol.SessionID, events []protocol.Event, older bool) (string, error) {
	for {
		var b bytes.Buffer
		if err := display.Markdown(&b, protocol.Header{SessionID: id}, all(events)); err != nil {
			return "", err
		}
		note := ""
		if older {
			note = "Older messages are left out; session_read has them.\n\n"
		}
		if b.Len()+len(note) <= maxResource || len(events) <= 1 {
			return note + clip(b.String(), maxResource), nil
		}
		events, older = events[(len(events)+1)/2:], true
	}
}

// all yields events.
func all(events []protocol.Event) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// subscribe follows a session whose conversation somebody wants to be told of.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	id, ok := strings.CutPrefix(req.Params.URI, uriScheme)
	if !ok || protocol.SessionID(id).Check() != nil {
		return mcp.ResourceNotFoundError(req.Params.URI)
	}
	_, err := s.watch(ctx, protocol.SessionID(id))
	return failed(err)
}

// complete completes the id of a session in the address of a conversation. What a template
// takes is free text, so there is nothing to complete.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref.Type != "ref/resource" || req.Params.Ref.URI != sessionTemplate {
		return out, nil
	}
	page, err := client.Call[*protocol.SessionList](ctx, s.cfg.Client, "", &protocol.ListSessions{Limit: maxList})
	if err != nil {
		return nil, failed(err)
	}
	for _, x := range page.Sessions {
		if strings.HasPrefix(string(x.SessionID), req.Params.Argument.Value) {
			out.Completion.Values = append(out.Completion.Values, string(x.SessionID))
		}
	}
	out.Completion.Total, out.Completion.HasMore = len(out.Completion.Values), page.More
	return out, nil
}
