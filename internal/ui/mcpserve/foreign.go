package mcpserve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of calls of built-in tools.
const (
	maxForeign   = 32        // that run or wait; they run one after the other
	foreignTime  = time.Hour // of one, with the time that it waits
	maxImage     = 8 << 20   // bytes of an image in a result
	maxImages    = 20        // of a result
	maxForeignIn = 1 << 20   // bytes of an input
)

// foreign is what calls of built-in tools share: the session in whose log they are, which
// is made with the first.
type foreign struct {
	room chan struct{} // has an element for each call
	turn chan struct{} // has one while a call runs
	mu   sync.Mutex    // guards session
	// session is the one in which they run; "" is none yet.
	session protocol.SessionID
}

// addBuiltinTools serves the tools of the preset.
func (s *Server) addBuiltinTools(ctx context.Context) error {
	if s.cfg.Preset == "" || s.cfg.Preset == "none" {
		return nil
	}
	list, err := client.Call[*protocol.BuiltinTools](ctx, s.cfg.Client, "", &protocol.ListBuiltinTools{WorkDir: s.cfg.WorkDir, Preset: s.cfg.Preset})
	if err != nil {
		return err
	}
	for _, t := range list.Tools {
		s.mcp.AddTool(&mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.Kind == protocol.ToolReads}}, s.runTool)
	}
	return nil
}

// runTool runs a built-in tool at the host.
func (s *Server) runTool(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	m, id, err := s.called(ctx, req)
	if err != nil {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: failed(err).Error()}}}, nil
	}
	return s.result(ctx, id, m), nil
}

// called runs a call in its turn, and returns its result and the session that has it.
func (s *Server) called(ctx context.Context, req *mcp.CallToolRequest) (protocol.Message, protocol.SessionID, error) {
	if n := len(req.Params.Arguments); n > maxForeignIn {
		return protocol.Message{}, "", fmt.Errorf("the input has %d bytes; it can have %d", n, maxForeignIn)
	}
	select {
	case s.foreign.room <- struct{}{}:
		defer func() { <-s.foreign.room }()
	default:
		return protocol.Message{}, "", fmt.Errorf("%d calls run or wait already; wait for one of them", maxForeign)
	}
	ctx, cancel := context.WithTimeout(ctx, foreignTime)
	defer cancel()
	select {
	case s.foreign.turn <- struct{}{}:
		defer func() { <-s.foreign.turn }()
	case <-ctx.Done():
		return protocol.Message{}, "", ctx.Err()
	}
	w, err := s.foreignSession(ctx)
	if err != nil {
		return protocol.Message{}, "", err
	}
	started, err := client.Call[*protocol.ToolStarted](ctx, s.cfg.Client, w.id, &protocol.RunTool{ToolName: req.Params.Name, Input: object(req.Params.Arguments)})
	if err != nil {
		return protocol.Message{}, "", err
	}
	w.expect(started.TurnID)
	if err := s.awaitCall(ctx, req, w, started); err != nil {
		return protocol.Message{}, "", err
	}
	m, err := s.resultOf(ctx, w.id, started)
	return m, w.id, err
}

// foreignSession returns the session of the calls, which is made when there is none, or the
// one before was deleted.
func (s *Server) foreignSession(ctx context.Context) (*watch, error) {
	s.foreign.mu.Lock()
	id := s.foreign.session
	s.foreign.mu.Unlock()
	if id != "" {
		w, err := s.watch(ctx, id)
		var pe *protocol.Error
		if !errors.As(err, &pe) || pe.Code != protocol.CodeSessionNotFound {
			return w, err
		}
	}
	id, err := s.create(ctx, protocol.Meta{WorkDir: s.cfg.WorkDir, Name: "Tools of scorel mcp serve"})
	if err != nil {
		return nil, err
	}
	s.foreign.mu.Lock()
	s.foreign.session = id
	s.foreign.mu.Unlock()
	return s.watch(ctx, id)
}

// awaitCall waits for the end of a call. Where the caller is gone, or its time is over, the
// call is cancelled, and its end awaited for a little while.
func (s *Server) awaitCall(ctx context.Context, req *mcp.CallToolRequest, w *watch, started *protocol.ToolStarted) error {
	over := func(st state) bool { return !st.running || st.turn != started.TurnID }
	_, err := s.until(ctx, req, w, foreignTime, over)
	if err == nil || ctx.Err() == nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if _, cerr := client.Call[*protocol.Cancelled](last, s.cfg.Client, w.id, &protocol.Cancel{TurnID: started.TurnID}); cerr == nil {
		_, _ = s.until(last, req, w, closeTime, over) // the next call finds the session free, or is told
	}
	return err
}

// resultOf returns the result of a call that has ended.
func (s *Server) resultOf(ctx context.Context, id protocol.SessionID, started *protocol.ToolStarted) (protocol.Message, error) {
	page, err := client.Call[*protocol.Events](ctx, s.cfg.Client, id, &protocol.GetPath{Limit: maxPage})
	if err != nil {
		return protocol.Message{}, err
	}
	for _, e := range page.Events {
		if m, ok := e.Message(); ok && e.ID == started.EventID {
			if m.IsCut() {
				return s.cfg.Client.Whole(ctx, id, m)
			}
			return m, nil
		}
	}
	return protocol.Message{}, errors.New("nobody knows what became of the call: its result could not be stored; check before it is repeated")
}

// result makes the result of a call for a caller.
func (s *Server) result(ctx context.Context, id protocol.SessionID, m protocol.Message) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: m.IsError, Content: []mcp.Content{}}
	images := 0
	for _, b := range m.Content {
		switch b.Type {
		case protocol.BlockText:
			out.Content = append(out.Content, &mcp.TextContent{Text: display.Text(b.Text)})
		case protocol.BlockImage:
			if images++; images > maxImages {
				continue
			}
			data, err := s.image(ctx, id, b.Blob)
			if err != nil {
				out.Content = append(out.Content, &mcp.TextContent{Text: "[an image that could not be read: " + failed(err).Error() + "]"})
				continue
			}
			out.Content = append(out.Content, &mcp.ImageContent{MIMEType: b.MediaType, Data: data})
		default:
			out.Content = append(out.Content, &mcp.TextContent{Text: "[" + display.Line(string(b.Type)) + " " + display.Line(b.Name) + "]"})
		}
	}
	if images > maxImages {
		out.Content = append(out.Content, &mcp.TextContent{Text: fmt.Sprintf("[%d more images are left out]", images-maxImages)})
	}
	return out
}

// image reads an image of a result.
func (s *Server) image(ctx context.Context, id protocol.SessionID, sha string) ([]byte, error) {
	part, err := client.Call[*protocol.BlobPart](ctx, s.cfg.Client, id, &protocol.GetBlob{SHA256: sha})
	if err != nil {
		return nil, err
	}
	if part.Size > maxImage {
		return nil, fmt.Errorf("it has %d bytes", part.Size)
	}
	var data bytes.Buffer
	err = s.cfg.Client.Fetch(ctx, id, &protocol.BlobRef{SHA256: sha, Size: part.Size}, &data)
	return data.Bytes(), err
}
