package library

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"scorel/internal/host/request"
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

// getUsage returns what a session has used, by model and sub-agent.
func (lib *Library) getUsage(ctx context.Context, id protocol.SessionID) (*protocol.UsageReport, error) {
	index, _, done, err := lib.reader.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	rows := map[protocol.UsageRow]*protocol.UsageRow{}
	rep := &protocol.UsageReport{Rows: []protocol.UsageRow{}}
	add := func(key protocol.UsageRow, calls int, u *protocol.Usage) {
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
		row.Calls += max(1, calls)
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
				add(protocol.UsageRow{Kind: protocol.UsageConversation, Model: last}, 1, m.Usage)
			case protocol.RoleToolResult:
				if m.Usage != nil {
					row, calls := lib.agentRow(ctx, m, agents)
					add(row, calls, m.Usage)
				}
			}
		case *protocol.SessionInfo:
			row := protocol.UsageRow{Kind: protocol.UsageAside, Model: b.Asked}
			if b.Agent != "" {
				row.Kind, row.Agent = protocol.UsageSubagent, b.Agent
			}
			add(row, b.Steps, b.Usage)
		default:
			add(protocol.UsageRow{Kind: b.EventSpec().UsageKind, Model: last}, 1, e.Usage())
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
// last; models are remembered by session. Calls is how often it called that, 0 where that is
// not known.
func (lib *Library) agentRow(ctx context.Context, m protocol.Message, models map[protocol.SessionID]string) (row protocol.UsageRow, calls int) {
	row = protocol.UsageRow{Kind: protocol.UsageSubagent}
	var d protocol.ToolDetails
	if json.Unmarshal(m.Details, &d) != nil || d.Agent == nil {
		return row, 0
	}
	row.Agent = d.Agent.Agent
	id := d.Agent.SessionID
	if _, known := models[id]; !known && len(models) < maxUsageModels {
		models[id] = ""
		if index, _, done, err := lib.reader.View(ctx, id); err == nil {
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
	return row, d.Agent.Steps
}

// handleUsage enters the handlers of this file's requests.
func (lib *Library) handleUsage(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, _ *protocol.GetUsage) (protocol.Response, error) {
		rep, err := lib.getUsage(ctx, at.Call.SessionID)
		if err != nil {
			return nil, err
		}
		if l := lib.lanes.Lane(at.Call.SessionID); l != nil {
			rep.Limits = l.Limits()
		}
		return rep, nil
	})
}
