package lane

import (
	"context"
	"fmt"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/model"
	"scorel/internal/engine/runtime"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// turnHost is what the runtime sees of the lane during a turn.
type turnHost struct {
	l *Lane
	t *turn
}

// Context gives what the next model call sends. Everything that has entered is
// durable by then, and what the model must be told stands in the log.
func (h *turnHost) Context(ctx context.Context) (runtime.Prompt, error) {
	l, t := h.l, h.t
	if err := h.border(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	if err := h.catchUp(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	l.settleMark()
	if h.stops() {
		return runtime.Prompt{}, ctx.Err()
	}
	if err := h.beforeAgent(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	if err := h.tellMissing(ctx); err != nil {
		return runtime.Prompt{}, err
	}
	w := window(t.setup, t.system)
	c, err := t.builder.Build(ctx, h.leaf(), w)
	if err != nil {
		return runtime.Prompt{}, err
	}
	if cut, ok := history.PlanShrink(c, w); ok {
		if err := h.append(ctx, &cut); err != nil {
			return runtime.Prompt{}, err
		}
		if c, err = t.builder.Build(ctx, h.leaf(), w); err != nil {
			return runtime.Prompt{}, err
		}
	}
	l.tellUnread(c.Unread)
	for _, d := range c.Diagnostics {
		l.cfg.Report(d, nil)
	}
	if c.Partial() && (!t.setup.Compaction || t.progress.Stuck()) {
		return runtime.Prompt{}, tooLong(c, w)
	}
	l.mu.Lock()
	news := l.told != t.told
	t.told = l.told
	l.mu.Unlock()
	prompt := runtime.Prompt{System: t.system, Messages: c.Messages, News: news}
	if t.setup.Compaction {
		switch t.progress.Next(c.Tokens, w) {
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
func window(s *Setup, system string) history.Window {
	info := s.Model.Info()
	w := history.Window{Size: info.ContextWindow, System: model.EstimateText(system), MaxOutput: info.MaxTokens}
	for _, t := range s.Tools {
		spec := t.Spec()
		w.Tools += model.EstimateText(spec.Description) + model.EstimateText(string(spec.Schema))
	}
	return w
}

// catchUp waits until all that has entered is durable and tells the builder of
// it.
func (h *turnHost) catchUp(ctx context.Context) error {
	l, t := h.l, h.t
	if err := l.pub.Flush(ctx); err != nil {
		return err
	}
	if err := context.Cause(t.ctx); err != nil {
		return err
	}
	l.mu.Lock()
	fresh := l.fresh
	l.fresh = nil
	l.mu.Unlock()
	for _, e := range fresh {
		t.builder.Extend(e)
	}
	return nil
}

func (h *turnHost) leaf() protocol.EventID {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	return h.l.leaf
}

// append lets events enter and returns when they are durable and the builder
// knows them.
func (h *turnHost) append(ctx context.Context, bodies ...protocol.Body) error {
	_, err := h.appendAs(ctx, byHost(), bodies...)
	return err
}

// appendAs is append on somebody's behalf; it gives the id of the last event.
func (h *turnHost) appendAs(ctx context.Context, a author, bodies ...protocol.Body) (protocol.EventID, error) {
	var id protocol.EventID
	h.l.mu.Lock()
	for _, b := range bodies {
		e, _, err := h.l.append(ctx, b, a)
		if err != nil {
			h.l.mu.Unlock()
			return "", err
		}
		id = e.ID
	}
	h.l.mu.Unlock()
	return id, h.catchUp(ctx)
}

// tellMissing appends what background commands have to tell, and what the
// model must know and has not been told on this path.
func (h *turnHost) tellMissing(ctx context.Context) error {
	h.l.mu.Lock()
	n, err := h.l.appendWaiting(ctx)
	h.l.mu.Unlock()
	if err == nil && n > 0 {
		err = h.catchUp(ctx)
	}
	if err != nil {
		return err
	}
	told, err := h.t.builder.Told(ctx, h.leaf())
	if err != nil {
		return err
	}
	items := history.Missing(told, h.t.items)
	if h.t.setup.Tell != nil {
		items = append(items, h.t.setup.Tell(told)...)
	}
	items = append(items, h.modeItems(told)...)
	if len(items) == 0 {
		return nil
	}
	bodies := make([]protocol.Body, len(items))
	for i, it := range items {
		bodies[i] = &protocol.HarnessItem{Item: it}
	}
	return h.append(ctx, bodies...)
}

// Notice tells the model something before its next call.
func (h *turnHost) Notice(ctx context.Context, text string) error {
	return h.append(ctx, &protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem,
		Content: text, Visibility: protocol.VisibilityHidden}})
}

// Steer takes the steering messages that wait; what background commands have to
// tell comes before them.
func (h *turnHost) Steer(ctx context.Context) (int, error) {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if h.l.stopping {
		return 0, nil
	}
	if s := &h.l.queues.steer; len(s.items) > 0 && !s.paused {
		if _, err := h.l.appendWaiting(ctx); err != nil {
			return 0, err
		}
	}
	n, _, err := h.l.takeSteer(ctx)
	return n, err
}

// FollowUp takes the next message, or ends the turn under the same lock. What
// follows a turn with options of its own is a turn of its own.
func (h *turnHost) FollowUp(ctx context.Context) (bool, error) {
	if err := h.lockAtBorder(ctx); err != nil {
		return false, err
	}
	defer h.l.mu.Unlock()
	if h.l.stopping || h.t.options != nil {
		h.t.over.Store(true)
		return false, nil
	}
	if h.l.queues.waiting() {
		if _, err := h.l.appendWaiting(ctx); err != nil {
			return false, err
		}
	}
	content, _, err := h.l.takeNext(ctx)
	switch {
	case err == nil && content != nil:
		h.t.progress.UserMessage()
		h.t.prompt = content
	case err == nil:
		h.t.over.Store(true)
	}
	return content != nil, err
}

// Compact summarises the older part of the context.
func (h *turnHost) Compact(ctx context.Context, why runtime.Why, summarise runtime.Summarise) error {
	if h.t.leave != nil {
		return h.leaveBranch(ctx, summarise)
	}
	l, t := h.l, h.t
	decision := history.Compact
	switch why {
	case runtime.DueHarder:
		decision = history.CompactHarder
	case runtime.Refused:
		if decision = t.progress.TooLong(); decision == history.GiveUp {
			return &model.Error{Class: model.ClassTooLong, Message: t.progress.Reason()}
		}
	}
	if err := h.catchUp(ctx); err != nil {
		return err
	}
	w := window(t.setup, t.system)
	c, err := t.builder.Build(ctx, h.leaf(), w)
	if err != nil {
		return err
	}
	cut, ok := history.Plan(c, w, decision == history.CompactHarder)
	if !ok {
		t.progress.Compacted(decision, c.Tokens, c.Tokens, w)
		return nil
	}
	text, usage := cut.PreviousSummary, protocol.Usage{}
	says, err := h.askCompact(ctx, why, &cut)
	switch {
	case err != nil:
		return err
	case says.Cancelled && why == runtime.Asked:
		return cancelledCompaction(says)
	case says.Cancelled && why == runtime.Refused:
		return &model.Error{Class: model.ClassTooLong, Message: cancelledCompaction(says).Error()}
	case says.Cancelled: // as one that frees nothing: it is not tried again at once
		t.progress.Compacted(history.CompactHarder, c.Tokens, c.Tokens, w)
		return nil
	case says.Summary != "":
		text = says.Summary
	case !cut.Reuse: // else nothing new would go into the summary
		if text, usage, err = summarise(ctx, history.SummaryRequest(cut, says.Instructions)); err != nil {
			return err
		}
	}
	a := byHost()
	if t.cause != nil {
		a = t.cause.author()
	}
	body := cut.Event(text, &usage)
	id, err := h.appendAs(ctx, a, body)
	if err != nil {
		return err
	}
	t.progress.Compacted(decision, body.TokensBefore, body.TokensAfter, w)
	t.compacted = &protocol.Compacted{EventID: id, TokensBefore: body.TokensBefore, TokensAfter: body.TokensAfter}
	return l.refresh(t) // what the model has seen of files went with the summary
}

// askCompact asks the hooks before a compaction.
func (h *turnHost) askCompact(ctx context.Context, why runtime.Why, cut *history.Cut) (hook.CompactAnswer, error) {
	reason := "threshold"
	switch why {
	case runtime.Asked:
		reason = "manual"
	case runtime.Refused:
		reason = "overflow"
	}
	return h.t.setup.Hooks.BeforeCompact(ctx, hook.Compaction{Reason: reason, Instructions: h.t.compactNote, Tokens: cut.TokensBefore,
		Messages: cut.Summarise, FirstKept: cut.FirstKept(), Previous: cut.PreviousSummary})
}

// cancelledCompaction is the error of a compaction that was asked for, or that is
// needed, and that a hook does not want.
func cancelledCompaction(a hook.CompactAnswer) error {
	if a.Reason == "" {
		return protocol.Errorf(protocol.CodePermissionDenied, "%s cancelled the compaction.", a.From)
	}
	return protocol.Errorf(protocol.CodePermissionDenied, "%s cancelled the compaction: %s", a.From, a.Reason)
}

// instructions gives the newest instruction snapshot of the log, and when it was
// made.
func (l *Lane) instructions(ctx context.Context) (protocol.Instructions, time.Time, error) {
	var in protocol.Instructions
	var at time.Time
	for e, err := range l.cfg.Log.Index().OfType(ctx, protocol.TypeInstructionSnapshot) {
		if err != nil {
			return in, at, err
		}
		if b, ok := e.Body.(*protocol.InstructionSnapshot); ok && b.Snapshot.Source == "" {
			in, at = b.Snapshot, time.UnixMilli(e.TS)
		}
	}
	return in, at, nil
}

// hasInstructions says whether a system prompt is stored that can be read. mu is held.
func (l *Lane) hasInstructions() bool {
	_, at, err := l.instructions(context.Background())
	return err == nil && !at.IsZero()
}

// nextSetup returns what the next turn would run with, if it began now. The caller closes
// it.
func (l *Lane) nextSetup(ctx context.Context) (*Setup, error) {
	setup, err := l.cfg.Setup(ctx, l.Meta(), nil)
	if err != nil {
		return nil, err
	}
	if l.plans(&turn{setup: setup}) {
		setup.Tools = tool.WithPlan(setup.Tools)
	}
	return setup, nil
}

// Tools returns the tools of the next turn, as they would be if it began now.
func (l *Lane) Tools(ctx context.Context) (*protocol.ToolList, error) {
	setup, err := l.nextSetup(ctx)
	if err != nil {
		return nil, err
	}
	defer setup.Close()
	list := &protocol.ToolList{Tools: []protocol.ListedTool{}}
	for _, t := range setup.Tools {
		spec := t.Spec()
		row := protocol.ListedTool{ToolInfo: spec.ToolInfo, Description: spec.Description}
		if from, ok := t.(tool.Extended); ok {
			row.Extension = from.Extension()
		}
		list.Tools = append(list.Tools, row)
	}
	return list, nil
}

// ContextView gives what the model would be sent now.
func (l *Lane) ContextView(ctx context.Context) (*protocol.ContextView, error) {
	setup, err := l.nextSetup(ctx)
	if err != nil {
		return nil, err
	}
	defer setup.Close()
	in, _, err := l.instructions(ctx)
	if err != nil {
		return nil, err
	}
	if in.Text == "" {
		if in, _, err = setup.Instructions(); err != nil {
			return nil, err
		}
	}
	w := window(setup, in.Text)
	b, err := l.builder(setup.Hooks, setup.Model.Info())
	if err != nil {
		return nil, err
	}
	c, err := b.Build(ctx, l.cfg.Log.Index().Leaf(), w)
	if err != nil {
		return nil, err
	}
	return &protocol.ContextView{System: in.Text, Messages: c.Messages, OlderMessages: c.Older(), Tokens: c.Tokens, SystemTokens: w.System,
		ToolTokens: w.Tools, Window: w.Size, Parts: c.Parts(w, len(setup.Tools)), Reserved: w.Size - w.Threshold(), Free: max(0, w.Threshold()-c.Tokens)}, nil
}
