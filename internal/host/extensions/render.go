package extensions

import (
	"context"
	"slices"

	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane/component"
	"scorel/protocol"
)

// render answers [protocol.RenderEntry].
func (x *Session) render(ctx context.Context, r *protocol.RenderEntry) (*protocol.RenderedEntry, error) {
	out := &protocol.RenderedEntry{}
	if x == nil || !x.set.Loaded() {
		return out, nil
	}
	if r.Place != "" {
		source, drawn, err := x.set.RenderPlace(ctx, r.Source, rpc.Render{Place: r.Place, Width: r.Width})
		if drawn.Body != nil && len(*drawn.Body) > protocol.MaxAreaLines {
			*drawn.Body = (*drawn.Body)[:protocol.MaxAreaLines]
		}
		return x.rendered(source, drawn, err)
	}
	if r.EventID == "" {
		return nil, protocol.About("eventId", "", protocol.CodeInvalidRequest, "Name what to render: an event by eventId, or source and place.")
	}
	index := x.lane.Log().Index()
	e, err := index.Event(ctx, r.EventID)
	if err != nil {
		return nil, err
	}
	ask, tool := rpc.Render{Width: r.Width, Expanded: r.Expanded}, ""
	if b, ok := e.Body.(*protocol.CustomMessage); ok {
		m := extension.SentMessage(b)
		ask.Message = &m
	} else if b, ok := e.Body.(*protocol.Custom); ok {
		ask.Entry = &rpc.StoredEntry{ID: e.ID, Timestamp: e.TS, CustomType: b.Kind, Data: b.Data}
	} else if call := callOf(e, r.ToolCallID); call != nil {
		tool, ask.Input = protocol.Target(call.Name, call.Input)
		ask.ToolCallID = call.ID
		if ask.Result, err = x.result(ctx, r); err != nil {
			return nil, err
		}
	} else {
		return out, nil
	}
	return x.rendered(x.set.Render(ctx, tool, ask))
}

// rendered is the answer with what an extension draws.
func (x *Session) rendered(source string, drawn rpc.Rendered, err error) (*protocol.RenderedEntry, error) {
	if err != nil { // it is shown as it looks without, and who looks for a fault finds it
		x.exts.log.Report(x.lane.ID(), "extension "+source+": it could not render: "+failure.Sentence(err), nil)
		return &protocol.RenderedEntry{}, nil
	}
	return &protocol.RenderedEntry{Source: source, Call: linesOf(drawn.Call), Body: linesOf(drawn.Body)}, nil
}

// callOf returns a call of a message, nil for none.
func callOf(e protocol.Event, id string) *protocol.Block {
	m, ok := e.Message()
	if !ok {
		return nil
	}
	i := slices.IndexFunc(m.Content, func(c protocol.Block) bool { return c.Type == protocol.BlockToolUse && c.ID == id })
	if i < 0 {
		return nil
	}
	return &m.Content[i]
}

// result returns what came of a call, nil for nothing yet.
func (x *Session) result(ctx context.Context, r *protocol.RenderEntry) (*rpc.ToolResult, error) {
	if r.ResultID == "" {
		return nil, nil
	}
	e, err := x.lane.Log().Index().Event(ctx, r.ResultID)
	if err != nil {
		return nil, err
	}
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok || b.Message.ToolCallID != r.ToolCallID {
		return nil, nil
	}
	return &rpc.ToolResult{Content: b.Message.Content, Details: b.Message.Details, IsError: b.Message.IsError}, nil
}

func linesOf(drawn *[]string) *protocol.DrawnLines {
	if drawn == nil {
		return nil
	}
	return &protocol.DrawnLines{Lines: component.Lines(*drawn)}
}
