package host

import (
	"context"

	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// handleTurns registers the handlers of this file's requests.
func (h *Host) handleTurns(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.SetLabel) (protocol.Response, error) {
		return &protocol.Done{}, at.Lane.SetLabel(ctx, at.By, r.TargetEventID, r.Label)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.SendMessage) (protocol.Response, error) {
		content, err := h.rooms.commands.WithResources(ctx, at.Lane, r.Content, r.Options)
		if err != nil {
			return nil, err
		}
		return at.Lane.Send(ctx, at.By, lane.Message{Content: content, Busy: lane.WhenBusy(r.WhenBusy), Expected: r.ExpectedLeafID, Options: r.Options})
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.Steer) (protocol.Response, error) {
		content, err := h.rooms.commands.WithResources(ctx, at.Lane, r.Content, nil)
		if err != nil {
			return nil, err
		}
		return at.Lane.Steer(ctx, at.By, r.TurnID, content)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.FollowUp) (protocol.Response, error) {
		content, err := h.rooms.commands.WithResources(ctx, at.Lane, r.Content, nil)
		if err != nil {
			return nil, err
		}
		return at.Lane.Send(ctx, at.By, lane.Message{Content: content})
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.RewriteQueue) (protocol.Response, error) {
		return &protocol.Sent{}, at.Lane.RewriteQueue(ctx, at.By, r.Queue, r.Replaces, r.Items)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, _ *protocol.ResumeQueue) (protocol.Response, error) {
		return &protocol.Done{}, at.Lane.ResumeQueue(ctx, at.By)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.RunTool) (protocol.Response, error) {
		return at.Lane.RunTool(ctx, at.By, r.ToolName, r.Input)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.Cancel) (protocol.Response, error) {
		return &protocol.Cancelled{Cancelled: at.Lane.Cancel(r.TurnID)}, nil
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.RewindTo) (protocol.Response, error) {
		return at.Lane.Rewind(ctx, at.By, lane.Move{Target: r.TargetEventID, Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst, RestoreFiles: r.RestoreFiles, Files: r.Files, Summarise: r.Summarise == protocol.SummariseBranch, Instructions: r.Instructions})
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.BranchTo) (protocol.Response, error) {
		return at.Lane.Branch(ctx, at.By, lane.Move{Branch: r.LeafEventID, Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst, Summarise: r.Summarise == protocol.SummariseBranch, Instructions: r.Instructions})
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.CompactSession) (protocol.Response, error) {
		return at.Lane.Compact(ctx, at.By, r.Instructions, lane.Move{Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst})
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.LeaveSession) (protocol.Response, error) {
		return &protocol.Done{}, at.Lane.AskSwitch(ctx, r.Reason, r.TargetSessionID)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, _ *protocol.GetContext) (protocol.Response, error) {
		return at.Lane.ContextView(ctx)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, _ *protocol.ListTools) (protocol.Response, error) {
		return at.Lane.Tools(ctx)
	})
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.ListBuiltinTools) (protocol.Response, error) {
		return h.rooms.turns.BuiltinTools(r)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.AnswerPermission) (protocol.Response, error) {
		return &protocol.Done{}, at.Lane.Questions().AnswerPermission(ctx, at.By, r.PermissionID, r.Choice, r.Reason)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.AnswerUI) (protocol.Response, error) {
		return &protocol.Done{}, at.Lane.Questions().AnswerUI(at.By, r.UIID, r.Value)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.TakeUI) (protocol.Response, error) {
		return at.Lane.Components().Take(connOf(at), r)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.UIInput) (protocol.Response, error) {
		return &protocol.Done{}, at.Lane.Components().Input(connOf(at), r)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, _ *protocol.ListTasks) (protocol.Response, error) {
		return at.Lane.Tasks().List(), nil
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.GetTaskOutput) (protocol.Response, error) {
		return at.Lane.Tasks().Output(r.TaskID)
	})
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.StopTask) (protocol.Response, error) {
		return at.Lane.Tasks().Stop(ctx, r.TaskID)
	})
}
