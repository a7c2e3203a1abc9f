package admin

import (
	"context"

	"scorel/internal/engine/config"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// folderOf returns the folder that a request is about: a session's, or workDir.
func (ad *Admin) folderOf(ctx context.Context, id protocol.SessionID, workDir string) (string, error) {
	if id != "" {
		index, _, done, err := ad.stored.View(ctx, id)
		if err != nil {
			return "", err
		}
		workDir = index.Meta().WorkDir
		done()
	}
	return ad.settings.LookedAt(workDir)
}

// getProjectState returns what a status line shows of a folder.
func (ad *Admin) getProjectState(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.ProjectState, error) {
	dir, err := ad.folderOf(ctx, id, workDir)
	if err != nil {
		return nil, err
	}
	root, common := workspace.Root(dir, ad.settings.UserHome)
	return &protocol.ProjectState{WorkDir: dir, Root: root, Git: common != "", Branch: workspace.Branch(dir, ad.settings.UserHome)}, nil
}

// listHooks returns the shell hooks of a folder's configuration, also those of a project
// that is not trusted, which do not run.
func (ad *Admin) listHooks(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.HookList, error) {
	dir, err := ad.folderOf(ctx, id, workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, ad.settings.UserHome)
	user, project, warning, err := ad.settings.Files(root)
	if err != nil {
		return nil, err
	}
	trusted := project.Trusted
	project.Trusted = true // to look at them
	list := &protocol.HookList{Hooks: []protocol.HookInfo{}}
	if warning != "" {
		list.Problems = append(list.Problems, warning)
	}
	cfg, _, err := config.Parse(user, project, ad.settings.Usable)
	if err != nil && !trusted { // what nobody trusts may be wrong; the user's own still counts
		list.Problems = append(list.Problems, err.Error())
		cfg, _, err = config.Parse(user, config.File{}, ad.settings.Usable)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	for _, k := range cfg.Hooks {
		info := protocol.HookInfo{Event: k.Event, Matcher: k.Matcher, Command: k.Command, TimeoutMS: k.Timeout.Milliseconds(), Blocks: k.Blocks,
			Scope: string(k.Source.Kind), Source: k.Source.String(), State: "ok"}
		if k.Source.Kind == config.SourceProject {
			ad.judgeHook(&info, root, trusted)
		}
		list.Hooks = append(list.Hooks, info)
	}
	ad.claudeHooks(list, cfg, root)
	return list, nil
}

// judgeHook reports whether a hook of a project runs.
func (ad *Admin) judgeHook(info *protocol.HookInfo, root string, trusted bool) {
	if !trusted {
		info.State, info.Problem = "untrusted", "The project's configuration is not trusted; scorel trust shows what it could do."
		return
	}
	name, err := ad.settings.Trust.ChangedHook(root, info.Command)
	switch {
	case err != nil:
		info.State, info.Problem = "changed", failure.Sentence(err)+"."
	case name != "":
		info.State, info.Problem = "changed", name+" has changed since it was trusted; scorel trust shows how."
	}
}

// handleFolders enters the handlers of this file's requests.
func (ad *Admin) handleFolders(t request.Table) {
	request.On(t, func(_ context.Context, _ *request.Target, r *protocol.SetConfig) (protocol.Response, error) {
		return &protocol.Done{}, ad.setConfig(r)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetProjectState) (protocol.Response, error) {
		return ad.getProjectState(ctx, at.Call.SessionID, r.WorkDir)
	})
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.ListHooks) (protocol.Response, error) {
		return ad.listHooks(ctx, at.Call.SessionID, r.WorkDir)
	})
}
