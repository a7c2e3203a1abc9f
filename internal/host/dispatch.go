package host

import (
	"context"

	"scorel/internal/host/lane"
	"scorel/protocol"
)

// dispatch carries out one request.
func (c *Conn) dispatch(ctx context.Context, call protocol.Call) (protocol.Response, error) {
	h, id := c.h, call.SessionID
	switch r := call.Request.(type) {
	case *protocol.Ping:
		return &protocol.Done{}, nil
	case *protocol.StopHost:
		return &protocol.Done{}, h.stopByRequest(r.Restarting)
	case *protocol.GetStatus:
		return h.getStatus(), nil
	case *protocol.RegisterProject:
		return h.registerProject(ctx, r.WorkDir, r.Wide)
	case *protocol.ListProjects:
		return h.listProjects()
	case *protocol.RemoveProject:
		return &protocol.Done{}, h.removeProject(r.ProjectID, call.Repeat)
	case *protocol.ListDirectories:
		return h.listDirectories(ctx, r.Path)
	case *protocol.ListFiles:
		return h.listFiles(ctx, r)
	case *protocol.ListEntries:
		return h.listEntries()
	case *protocol.RenameEntry:
		return &protocol.Done{}, h.renameEntry(r)
	case *protocol.SetGrant:
		return &protocol.Done{}, h.setGrant(r)
	case *protocol.RevokeEntry:
		return &protocol.Done{}, h.revokeEntry(r, call.Repeat)
	case *protocol.SetCredential:
		return &protocol.Done{}, h.setCredential(r)
	case *protocol.TestModel:
		return h.testModel(ctx, r.Model)
	case *protocol.GetTrust:
		return h.getTrust(ctx, r.ProjectID)
	case *protocol.TrustProject:
		return h.trustProject(ctx, r)
	case *protocol.Doctor:
		return h.doctor(ctx, r)
	case *protocol.CheckConfig:
		return h.checkConfig(ctx, r.WorkDir)
	case *protocol.ListModels:
		return h.listModels(r.Query)
	case *protocol.ListAgents:
		return h.listAgents(ctx, r.WorkDir)
	case *protocol.SetConfig:
		return &protocol.Done{}, h.setConfig(r)
	case *protocol.GetProjectState:
		return h.getProjectState(ctx, id, r.WorkDir)
	case *protocol.ListHooks:
		return h.listHooks(ctx, id, r.WorkDir)
	case *protocol.GetUsage:
		return h.getUsage(ctx, id)
	case *protocol.PruneBlobs:
		return h.prune(ctx)
	case *protocol.CreateSession:
		return h.createSession(ctx, c.caller(call), id, r)
	case *protocol.ListSessions:
		return h.listSessions(ctx, r)
	case *protocol.SearchSessions:
		return h.searchSessions(ctx, r)
	case *protocol.OpenSession:
		return c.openSession(ctx, id, r)
	case *protocol.CloseSession:
		return &protocol.Done{}, c.closeSession(id)
	case *protocol.DeleteSession:
		return h.deleteSession(ctx, id)
	case *protocol.CloneSession:
		return h.cloneSession(ctx, c.caller(call), id, r)
	case *protocol.ImportSession:
		return c.importSession(ctx, c.caller(call), id, r)
	case *protocol.ExportSession:
		return h.exportSession(ctx, c.client, id, r.Format)
	case *protocol.AddMemory:
		return &protocol.Done{}, h.addMemory(ctx, c.caller(call), id, r)
	case *protocol.GetMemory:
		return h.getMemory(ctx, id, r)
	case *protocol.ListExtensions:
		return h.listExtensions(ctx, id, r.WorkDir)
	case *protocol.CheckExtension:
		return h.checkExtension(ctx, r.Path)
	case *protocol.EnableExtension:
		return &protocol.Done{}, h.enableExtension(r)
	case *protocol.VerifySession:
		return h.verifySession(ctx, id)
	case *protocol.RepairSession:
		return h.repairSession(ctx, id, r.LeafEventID)
	case *protocol.GetPath:
		return h.getPath(ctx, id, r)
	case *protocol.GetTree:
		return h.getTree(ctx, id, r)
	case *protocol.GetProcessLog:
		return h.getProcessLog(ctx, id, r)
	case *protocol.GetBlob:
		return c.getBlob(ctx, id, r)
	case *protocol.PutBlob:
		if r.ForImport {
			return c.putBlob(ctx, r)
		}
		return c.mayRead(c.putBlob(ctx, r))
	}
	if id == "" {
		switch r := call.Request.(type) {
		case *protocol.ListCommands:
			return h.listCommands(ctx, nil, c.caller(call), r.WorkDir)
		case *protocol.ListSkills:
			return h.listSkills(ctx, r.WorkDir, r.Name)
		}
	}
	s, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer h.release(s)
	return h.inLane(ctx, s, func(ctx context.Context) (protocol.Response, error) {
		return h.dispatchLane(ctx, s.lane, c.caller(call), call.Request)
	})
}

// dispatchLane carries out a request to an open session.
func (h *Host) dispatchLane(ctx context.Context, l *lane.Lane, by lane.Caller, req protocol.Request) (protocol.Response, error) {
	h.keepNamed(req)
	switch r := req.(type) {
	case *protocol.UpdateInfo:
		return &protocol.Done{}, h.updateInfo(ctx, l, by, r.Changes)
	case *protocol.SetLabel:
		return &protocol.Done{}, l.SetLabel(ctx, by, r.TargetEventID, r.Label)
	case *protocol.SendMessage:
		return l.Send(ctx, by, lane.Message{Content: r.Content, Busy: lane.WhenBusy(r.WhenBusy), Expected: r.ExpectedLeafID, Options: r.Options})
	case *protocol.Steer:
		return l.Steer(ctx, by, r.TurnID, r.Content)
	case *protocol.FollowUp:
		return l.Send(ctx, by, lane.Message{Content: r.Content})
	case *protocol.RewriteQueue:
		return &protocol.Sent{}, l.RewriteQueue(ctx, by, r.Queue, r.Replaces, r.Items)
	case *protocol.ResumeQueue:
		return &protocol.Done{}, l.ResumeQueue(ctx, by)
	case *protocol.Cancel:
		return &protocol.Cancelled{Cancelled: l.Cancel(r.TurnID)}, nil
	case *protocol.RewindTo:
		return l.Rewind(ctx, by, lane.Move{Target: r.TargetEventID, Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst, RestoreFiles: r.RestoreFiles, Files: r.Files, Summarise: r.Summarise == protocol.SummariseBranch, Instructions: r.Instructions})
	case *protocol.BranchTo:
		return l.Branch(ctx, by, lane.Move{Branch: r.LeafEventID, Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst, Summarise: r.Summarise == protocol.SummariseBranch, Instructions: r.Instructions})
	case *protocol.CompactSession:
		return l.Compact(ctx, by, r.Instructions, lane.Move{Expected: r.ExpectedLeafID, CancelFirst: r.CancelFirst})
	case *protocol.SetMode:
		return &protocol.Done{}, h.setMode(ctx, l, by, r.Mode)
	case *protocol.ListCommands:
		return h.listCommands(ctx, l, by, "")
	case *protocol.CompleteCommand:
		return h.completeCommand(ctx, l, by, r)
	case *protocol.RunCommand:
		return h.runCommand(ctx, l, by, r)
	case *protocol.ListSkills:
		return h.listSkills(ctx, l.Meta().WorkDir, r.Name)
	case *protocol.GetContext:
		return l.ContextView(ctx)
	case *protocol.AnswerPermission:
		return &protocol.Done{}, l.AnswerPermission(ctx, by, r.PermissionID, r.Choice, r.Reason)
	case *protocol.AnswerUI:
		return &protocol.Done{}, l.AnswerUI(by, r.UIID, r.Value)
	case *protocol.Reload:
		return h.reload(ctx, l)
	case *protocol.RunShell:
		return h.runShell(ctx, l, by, r)
	case *protocol.StopShell:
		return &protocol.Cancelled{Cancelled: l.StopShell(r.EventID)}, nil
	case *protocol.ListTasks:
		return l.Tasks(), nil
	case *protocol.StopTask:
		return l.StopTask(ctx, r.TaskID)
	}
	return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The host does not know the request %s.", req.Spec().Name)
}
