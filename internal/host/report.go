package host

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"scorel/internal/engine/config"
	"scorel/internal/engine/trust"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// maxUsageModels bounds the sub-agents' sessions that are looked at for their model.
const maxUsageModels = 64

// maxUsageRows bounds the rows of a report, and maxUsageName the bytes of each name in
// them: an imported log may name any number of models. What is beyond them is summed up
// under its kind, without a name.
const (
	maxUsageRows = 200
	maxUsageName = 200
)

// getUsage gives what a session has used, by model and sub-agent.
func (h *Host) getUsage(ctx context.Context, id protocol.SessionID) (*protocol.UsageReport, error) {
	index, _, done, err := h.view(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	rows := map[protocol.UsageRow]*protocol.UsageRow{}
	rep := &protocol.UsageReport{Rows: []protocol.UsageRow{}}
	add := func(key protocol.UsageRow, u *protocol.Usage) {
		if u == nil {
			return
		}
		key.Model, key.Agent = key.Model[:min(len(key.Model), maxUsageName)], key.Agent[:min(len(key.Agent), maxUsageName)]
		row := rows[key]
		if row == nil && len(rows) >= maxUsageRows {
			key = protocol.UsageRow{Kind: key.Kind}
			row = rows[key]
		}
		if row == nil {
			row = &protocol.UsageRow{Kind: key.Kind, Model: key.Model, Agent: key.Agent}
			rows[key] = row
		}
		row.Calls++
		row.Usage.Add(*u)
		rep.Total.Add(*u)
	}
	agents := map[protocol.SessionID]string{}
	last := ""
	for e, err := range index.OfType(ctx, typesWithUsage()...) {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case *protocol.MessageBody:
			switch m := b.Message; m.Role {
			case protocol.RoleAssistant:
				last = answeredBy(m)
				add(protocol.UsageRow{Kind: protocol.UsageConversation, Model: last}, m.Usage)
			case protocol.RoleToolResult:
				if m.Usage != nil {
					add(h.agentRow(ctx, m, agents), m.Usage)
				}
			}
		case *protocol.SessionInfo:
			add(protocol.UsageRow{Kind: protocol.UsageAside, Model: b.Asked}, b.Usage)
		default:
			add(protocol.UsageRow{Kind: b.EventSpec().UsageKind, Model: last}, e.Usage())
		}
	}
	for _, row := range rows {
		rep.Rows = append(rep.Rows, *row)
	}
	slices.SortFunc(rep.Rows, func(a, b protocol.UsageRow) int {
		return cmp.Or(cmp.Compare(b.Usage.CostUSD, a.Usage.CostUSD), cmp.Compare(b.Usage.ContextTokens(), a.Usage.ContextTokens()),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Agent, b.Agent))
	})
	return rep, nil
}

// typesWithUsage returns the types of events that record what calls have used.
func typesWithUsage() (types []protocol.EventType) {
	for _, s := range protocol.EventSpecs() {
		if s.Class != protocol.Transient && s.Usage != protocol.None {
			types = append(types, s.Type)
		}
	}
	return types
}

// answeredBy names the model of an answer.
func answeredBy(m protocol.Message) string {
	if m.Provider == "" {
		return m.Model
	}
	return m.Provider + "/" + m.Model
}

// agentRow names the sub-agent of a result, and the model that its session has used
// last; models are remembered by session.
func (h *Host) agentRow(ctx context.Context, m protocol.Message, models map[protocol.SessionID]string) protocol.UsageRow {
	row := protocol.UsageRow{Kind: protocol.UsageSubagent}
	var d protocol.ToolDetails
	if json.Unmarshal(m.Details, &d) != nil || d.Agent == nil {
		return row
	}
	row.Agent = d.Agent.Agent
	id := d.Agent.SessionID
	if _, known := models[id]; !known && len(models) < maxUsageModels {
		models[id] = ""
		if index, _, done, err := h.view(ctx, id); err == nil {
			for e, err := range index.Back(ctx, index.Leaf()) {
				if answer, ok := e.Message(); err != nil || ok && answer.Role == protocol.RoleAssistant {
					models[id] = answeredBy(answer)
					break
				}
			}
			done()
		}
	}
	row.Model = models[id]
	return row
}

// folderOf gives the folder that a request is about: a session's, or workDir.
func (h *Host) folderOf(ctx context.Context, id protocol.SessionID, workDir string) (string, error) {
	if id != "" {
		index, _, done, err := h.view(ctx, id)
		if err != nil {
			return "", err
		}
		workDir = index.Meta().WorkDir
		done()
	}
	return h.lookedAt(workDir)
}

// getProjectState gives what a status line shows of a folder.
func (h *Host) getProjectState(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.ProjectState, error) {
	dir, err := h.folderOf(ctx, id, workDir)
	if err != nil {
		return nil, err
	}
	root, common := workspace.Root(dir, h.cfg.UserHome)
	return &protocol.ProjectState{WorkDir: dir, Root: root, Git: common != "", Branch: workspace.Branch(dir, h.cfg.UserHome)}, nil
}

// listHooks gives the shell hooks of a folder's configuration, also those of a project
// that is not trusted, which do not run.
func (h *Host) listHooks(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.HookList, error) {
	dir, err := h.folderOf(ctx, id, workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	user, project, warning, err := h.configFiles(root)
	if err != nil {
		return nil, err
	}
	trusted := project.Trusted
	project.Trusted = true // to look at them
	list := &protocol.HookList{Hooks: []protocol.HookInfo{}}
	if warning != "" {
		list.Problems = append(list.Problems, warning)
	}
	cfg, _, err := config.Parse(user, project, h.usable)
	if err != nil && !trusted { // what nobody trusts may be wrong; the user's own still counts
		list.Problems = append(list.Problems, err.Error())
		cfg, _, err = config.Parse(user, config.File{}, h.usable)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	for _, k := range cfg.Hooks {
		info := protocol.HookInfo{Event: k.Event, Matcher: k.Matcher, Command: k.Command, TimeoutMS: k.Timeout.Milliseconds(), Blocks: k.Blocks,
			Scope: string(k.Source.Kind), Source: k.Source.String(), State: "ok"}
		if k.Source.Kind == config.SourceProject {
			h.judgeHook(&info, root, trusted)
		}
		list.Hooks = append(list.Hooks, info)
	}
	return list, nil
}

// judgeHook says whether a hook of a project runs.
func (h *Host) judgeHook(info *protocol.HookInfo, root string, trusted bool) {
	if !trusted {
		info.State, info.Problem = "untrusted", "The project's configuration is not trusted; scorel trust shows what it could do."
		return
	}
	name, err := h.trust.ChangedHook(root, info.Command)
	switch {
	case err != nil:
		info.State, info.Problem = "changed", sentence(err)+"."
	case name != "":
		info.State, info.Problem = "changed", name+" has changed since it was trusted; scorel trust shows how."
	}
}

// configFiles reads the user's and the project's configuration, and says whether exactly
// these bytes of the project's are trusted.
func (h *Host) configFiles(root string) (user, project config.File, warning string, err error) {
	fail := func(err error) (config.File, config.File, string, error) {
		return config.File{}, config.File{}, "", protocol.Errorf(protocol.CodeInvalidRequest, "%s", err.Error())
	}
	if user, err = config.Read(h.configFile()); err != nil {
		return fail(err)
	}
	project.Name = projectConfigOf(root)
	if project.Data, project.Trusted, warning, err = h.trust.Read(root, trust.KindConfig, projectConfig, config.MaxFile); err != nil {
		return fail(err)
	}
	return user, project, warning, nil
}

// setConfig sets a key of the user's configuration. Who repeats it sets the same again.
func (h *Host) setConfig(r *protocol.SetConfig) error {
	name := canonical(h.configFile()) // one that is a link stays one
	lock, err := disk.WaitLock(h.cfg.FS, h.configFile()+".lock")
	if err != nil {
		return storageError("lock the configuration", err)
	}
	defer func() { _ = lock.Unlock() }()
	file, err := config.Read(name)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	data, err := config.Edit(file, r.Key, r.Value)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if string(data) == string(file.Data) {
		return nil
	}
	if err := disk.WriteFile(h.cfg.FS, name, data); err != nil {
		return storageError("write the configuration", err)
	}
	return nil
}

// handleReports registers the handlers of this file's requests.
func (h *Host) handleReports(t handlers) {
	on(t, func(_ context.Context, _ *target, r *protocol.SetConfig) (protocol.Response, error) {
		return &protocol.Done{}, h.setConfig(r)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.GetProjectState) (protocol.Response, error) {
		return h.getProjectState(ctx, at.call.SessionID, r.WorkDir)
	})
	on(t, func(ctx context.Context, at *target, r *protocol.ListHooks) (protocol.Response, error) {
		return h.listHooks(ctx, at.call.SessionID, r.WorkDir)
	})
	on(t, func(ctx context.Context, at *target, _ *protocol.GetUsage) (protocol.Response, error) {
		return h.getUsage(ctx, at.call.SessionID)
	})
}
