package host

import (
	"context"

	"scorel/internal/host/lane"
	"scorel/protocol"
)

// handleTurns registers the handlers of this file's requests.
func (h *Host) handleTurns(t handlers) {
	inSession(t, func(ctx context.Context, at *target, r *protocol.SetLabel) (protocol.Response, error) {
		return &protocol.Done{}, at.lane.SetLabel(ctx, at.by, r.TargetEventID, r.Label)
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.SendMessage) (protocol.Response, error) {
		return at.lane.Send(ctx, at.by, lane.Message{Content: r.Content, Busy: lane.WhenBusy(r.WhenBusy), Expected: r.ExpectedLeafID, Options: r.Options})
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.Steer) (protocol.Response, error) {
		return at.lane.Steer(ctx, at.by, r.TurnID, r.Content)
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.FollowUp) (protocol.Response, error) {
		return at.lane.Send(ctx, at.by, lane.Message{Content: r.Content})
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.RewriteQueue) (protocol.Response, error) {
		return &protocol.Sent{}, at.lane.RewriteQueue(ctx, at.by, r.Queue, r.Replaces, r.Items)
	})
	inSession(t, func(ctx context.Context, at *target, _ *protocol.ResumeQueue) (protocol.Response, error) {
		return &protocol.Done{}, at.lane.ResumeQueue(ctx, at.by)
	})
	inSession(t, func(_ context.Context, at *target, r *protocol.Cancel) (protocol.Response, error) {
		return &protocol.Cancelled{Cancelled: at.lane.Cancel(r.TurnID)}, nil
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.RewindTo) (protocol.Response, error) {
		return at.lane.Rewind(ctx, at.by, lane.Move{Target: r.TargetEventID, Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst, RestoreFiles: r.RestoreFiles, Files: r.Files, Summarise: r.Summarise == protocol.SummariseBranch, Instructions: r.Instructions})
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.BranchTo) (protocol.Response, error) {
		return at.lane.Branch(ctx, at.by, lane.Move{Branch: r.LeafEventID, Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst, Summarise: r.Summarise == protocol.SummariseBranch, Instructions: r.Instructions})
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.CompactSession) (protocol.Response, error) {
		return at.lane.Compact(ctx, at.by, r.Instructions, lane.Move{Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst})
	})
	inSession(t, func(ctx context.Context, at *target, _ *protocol.GetContext) (protocol.Response, error) {
		return at.lane.ContextView(ctx)
	})
	inSession(t, func(ctx context.Context, at *target, _ *protocol.ListTools) (protocol.Response, error) {
		return at.lane.Tools(ctx)
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.AnswerPermission) (protocol.Response, error) {
		return &protocol.Done{}, at.lane.AnswerPermission(ctx, at.by, r.PermissionID, r.Choice, r.Reason)
	})
	inSession(t, func(_ context.Context, at *target, r *protocol.AnswerUI) (protocol.Response, error) {
		return &protocol.Done{}, at.lane.AnswerUI(at.by, r.UIID, r.Value)
	})
}
