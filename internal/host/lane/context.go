package lane

import (
	"context"
	"fmt"

	"scorel/internal/engine/model"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// turnHost is what the runtime sees of the lane during a turn.
type turnHost struct {
	l *Lane
	t *turn
}

// Context returns what the next model call sends. Everything that has entered is
// durable by then, and what the model must be told stands in the log.
func (h *turnHost) Context(ctx context.Context) (runtime.Prompt, error) {
	l, t := h.l, h.t
	if err := h.atBoundary(ctx, func() error { return nil }); err != nil {
		return runtime.Prompt{}, err
	}
	if err := h.catchUp(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	l.pending.Clear()
	if h.stops() {
		return runtime.Prompt{}, ctx.Err()
	}
	if err := h.beforeAgent(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	if err := h.appendMissing(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	w := window(t.config, t.view.system)
	c, err := t.view.builder.Build(ctx, h.leaf(), w)
	if err != nil {
		return runtime.Prompt{}, err
	}
	if cut, ok := history.PlanShrink(c, w); ok {
		if err := h.append(ctx, &cut); err != nil {
			return runtime.Prompt{}, err
		}
		if c, err = t.view.builder.Build(ctx, h.leaf(), w); err != nil {
			return runtime.Prompt{}, err
		}
	}
	l.notifyUnread(c.Unread)
	for _, d := range c.Diagnostics {
		l.j.Report(d)
	}
	if c.Partial() && (!t.config.Compaction || t.view.progress.Stuck()) {
		return runtime.Prompt{}, tooLong(c, w)
	}
	l.j.Lock()
	news := l.course.added != t.view.added
	t.view.added = l.course.added
	l.j.Unlock()
	prompt := runtime.Prompt{System: t.view.system, Messages: c.Messages, Thinking: t.view.thinking, News: news}
	if t.config.Compaction {
		switch t.view.progress.Next(c.Tokens, w) {
		case history.Compact:
			prompt.Compact = runtime.Due
		case history.CompactHarder:
			prompt.Compact = runtime.DueHarder
		}
	}
	return prompt, nil
}

// tooLong is the error of a conversation that is far longer than the window and is not
// compacted: it is not even sent.
func tooLong(c history.Context, w history.Window) error {
	return &model.Error{Class: model.ClassTooLong, Message: fmt.Sprintf(
		"The conversation has about %d tokens and the model's context window %d, so it is not sent. Compact it with /compact, rewind, or choose a model with a larger window.", c.Tokens, w.Size)}
}

// window says how much fits into a request of a turn.
func window(s *TurnConfig, system string) history.Window {
	info := s.Models.Main.Info()
	w := history.Window{Size: info.ContextWindow, System: model.EstimateText(system), MaxOutput: info.MaxTokens}
	for _, t := range s.Tools {
		spec := t.Spec()
		w.Tools += model.EstimateText(tool.Described(t)) + model.EstimateText(string(spec.Schema))
	}
	return w
}

// catchUp waits until all that has entered is durable and tells the builder of
// it.
func (h *turnHost) catchUp(ctx context.Context) error {
	l, t := h.l, h.t
	if err := l.j.Publisher().Flush(ctx); err != nil {
		return err
	}
	if err := context.Cause(t.ctx); err != nil {
		return err
	}
	l.j.Lock()
	fresh := l.j.TakeFresh()
	l.j.Unlock()
	for _, e := range fresh {
		t.view.builder.Extend(e)
	}
	return nil
}

func (h *turnHost) leaf() protocol.EventID {
	h.l.j.Lock()
	defer h.l.j.Unlock()
	return h.l.j.Leaf()
}

// append lets events enter and returns when they are durable and the builder
// knows them.
func (h *turnHost) append(ctx context.Context, bodies ...protocol.Body) error {
	_, err := h.appendAs(ctx, journal.ByHost(), bodies...)
	return err
}

// appendAs is append on somebody's behalf; it gives the id of the last event.
func (h *turnHost) appendAs(ctx context.Context, a journal.Author, bodies ...protocol.Body) (protocol.EventID, error) {
	var id protocol.EventID
	h.l.j.Lock()
	for _, b := range bodies {
		e, _, err := h.l.j.Append(ctx, b, a)
		if err != nil {
			h.l.j.Unlock()
			return "", err
		}
		id = e.ID
	}
	h.l.j.Unlock()
	return id, h.catchUp(ctx)
}

// appendMissing appends what background commands have to tell, and what the
// model must know and has not been told on this path.
func (h *turnHost) appendMissing(ctx context.Context) error {
	h.l.j.Lock()
	n, err := h.l.appendWaiting(ctx)
	h.l.j.Unlock()
	if err == nil && n > 0 {
		err = h.catchUp(ctx)
	}
	if err != nil {
		return err
	}
	told, err := h.t.view.builder.Told(ctx, h.leaf())
	if err != nil {
		return err
	}
	items := history.Missing(told, h.t.view.items)
	items = append(items, h.t.config.Prompt.Items(told, h.t.view.said)...)
	items = append(items, h.t.config.Prompt.Touched(h.touched(), told)...)
	items = append(items, h.modeItems(told)...)
	if len(items) == 0 {
		return nil
	}
	bodies := make([]protocol.Body, len(items))
	for i, it := range items {
		bodies[i] = &protocol.HarnessItem{Item: it}
	}
	err = h.append(ctx, bodies...)
	if err != nil {
		h.t.config.Prompt.NotTold()
	}
	return err
}

// Notice tells the model something before its next call.
func (h *turnHost) Notice(ctx context.Context, text string) error {
	return h.append(ctx, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem,
		Content: text, Visibility: protocol.VisibilityHidden}})
}
