package extensions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/lane/component"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Bounds of what extensions ask for.
const (
	maxEntryKind    = 100
	maxEntries      = 100_000  // of extensions in a session: each process gets all of its path
	maxEntryBytes   = 64 << 20 // of them
	maxListedModels = 1000
	maxDialogTime   = 24 * time.Hour
	maxOwnTurns     = 50 // messages of extensions in a row, before a person sends one
	showEvery       = 20 * time.Millisecond
	showBurst       = 50 // notices and things shown at once; then one in showEvery
)

// keyHandle stands for a key that an extension of a project may use and not see.
const keyHandle = "scorel-key:"

// Call implements [extension.Host].
func (x *Session) Call(ctx context.Context, e extension.Extension, method string, params json.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			x.lane.Panicked(r)
			result, err = nil, failure.Inside()
		}
	}()
	ctx, cancel := x.lane.Within(ctx)
	defer cancel()
	switch method {
	case rpc.CallAppend:
		return with(params, func(p *rpc.AppendEntry) (any, error) { return x.append(ctx, e, p) })
	case rpc.CallSessionName:
		return with(params, func(p *struct{ Name string }) (any, error) {
			return nil, x.exts.upper.UpdateInfo(ctx, x.lane, x.caller(), protocol.MetaChanges{Name: &p.Name})
		})
	case rpc.CallLabel:
		return with(params, func(p *struct {
			EntryID protocol.EventID
			Label   *string
		}) (any, error) {
			return nil, x.lane.SetLabel(ctx, x.caller(), p.EntryID, p.Label)
		})
	case rpc.CallSendMessage:
		return with(params, func(p *sentMessage) (any, error) { return nil, x.sendMessage(ctx, e, p) })
	case rpc.CallSendUser:
		return with(params, func(p *sentMessage) (any, error) {
			content, err := x.set.Blocks(ctx, p.Content)
			if err != nil {
				return nil, err
			}
			return nil, x.send(ctx, content, p.DeliverAs)
		})
	case rpc.CallCancel:
		x.lane.Cancel(x.lane.Publisher().Live().TurnID)
		return nil, nil
	case rpc.CallCompact:
		return with(params, func(p *struct {
			Instructions string
			Later        bool
		}) (any, error) {
			return nil, x.compact(ctx, p.Instructions, p.Later)
		})
	case rpc.CallMove:
		return with(params, func(p *rpc.Move) (any, error) { return x.move(ctx, p) })
	case rpc.CallCarry:
		return with(params, func(p *rpc.Carry) (any, error) { return nil, x.carry(ctx, p) })
	case rpc.CallReload:
		return nil, x.reloadLater()
	case rpc.CallSetModel:
		return with(params, func(p *modelName) (any, error) { return x.setModel(ctx, p) })
	case rpc.CallSetThinking:
		return with(params, func(p *struct{ Level string }) (any, error) {
			if !slices.Contains(protocol.ThinkingLevels(), p.Level) {
				return nil, fmt.Errorf("the thinking level is %.40q; it is %s", p.Level, protocol.ThinkingLevelWords())
			}
			return nil, x.exts.upper.UpdateInfo(ctx, x.lane, x.caller(), protocol.MetaChanges{ThinkingLevel: &p.Level})
		})
	case rpc.CallActiveTools:
		return with(params, func(p *struct{ Names []string }) (any, error) { return nil, x.setActive(p.Names) })
	case rpc.CallModels:
		return x.models()
	case rpc.CallModelKey:
		return with(params, func(p *modelName) (any, error) { return x.key(e, p) })
	case rpc.CallComplete:
		return with(params, func(p *question) (any, error) { return x.complete(ctx, p) })
	case rpc.CallDialog:
		return with(params, func(p *rpc.Dialog) (any, error) { return x.dialog(ctx, e, p) })
	case rpc.CallNotify:
		return with(params, func(p *struct{ Message, Level string }) (any, error) {
			if err := x.pace(ctx); err != nil {
				return nil, err
			}
			x.lane.Notices().Notify(e.ID, p.Level, x.keys.Clean(p.Message))
			return nil, nil
		})
	case rpc.CallUIState:
		return with(params, func(p *struct {
			Key, Place string
			Lines      []string
			IntervalMS int
		}) (any, error) {
			if err := x.pace(ctx); err != nil {
				return nil, err
			}
			return nil, x.show(protocol.UIState{Source: e.ID, Key: p.Key, Place: p.Place, Lines: p.Lines, IntervalMS: p.IntervalMS})
		})
	case rpc.CallConfig:
		root, _ := workspace.Root(x.lane.Meta().WorkDir, x.exts.settings.UserHome)
		if settings := x.exts.settingsOf(root, e); settings != nil {
			return settings, nil
		}
		return struct{}{}, nil
	}
	return nil, &extension.RemoteError{Code: rpc.ErrMethod, Message: fmt.Sprintf("there is no method %.60q", method)}
}

// with reads the parameters of a call.
func with[T any](params json.RawMessage, f func(*T) (any, error)) (any, error) {
	p := new(T)
	if len(params) > 0 {
		if err := json.Unmarshal(params, p); err != nil {
			return nil, &extension.RemoteError{Code: rpc.ErrParams, Message: "the parameters are not valid: " + err.Error()}
		}
	}
	return f(p)
}

// caller is on whose behalf extensions act: the host's, which runs them.
func (x *Session) caller() lane.Caller {
	return lane.Caller{Client: protocol.HostClient, Request: protocol.NewRequestID(x.exts.settings.Rand)}
}

// setActive chooses the tools of the turns to come.
func (x *Session) setActive(names []string) error {
	const most = 1000
	if len(names) > most {
		return fmt.Errorf("there are %d names of tools; at most %d", len(names), most)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn.active = slices.Clone(names)
	if x.turn.active == nil {
		x.turn.active = []string{}
	}
	x.turn.names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !slices.ContainsFunc(x.turn.tools, func(t rpc.Tool) bool { return t.Name == n })
	})
	return nil
}

// dialog asks the attached people; nobody there is an answer at once.
func (x *Session) dialog(ctx context.Context, e extension.Extension, p *rpc.Dialog) (any, error) {
	d := protocol.Dialog{Kind: p.Kind, Source: e.ID, Title: p.Title, Message: p.Message, Options: p.Options, Placeholder: p.Placeholder, Text: p.Text, Schema: p.Schema, URL: p.URL}
	if err := d.CheckAsked(); err != nil {
		return nil, err // whoever wrote the extension is told
	}
	limit := maxDialogTime
	if p.TimeoutMS > 0 {
		limit = time.Duration(min(p.TimeoutMS, limit.Milliseconds())) * time.Millisecond
	}
	if d.Kind == protocol.DialogCustom {
		return nil, x.component(ctx, d, p.ID, limit)
	}
	value, ok := x.lane.Questions().Dialog(ctx, d, limit)
	if !ok {
		return nil, ctx.Err()
	}
	return struct {
		Value json.RawMessage `json:"value"`
	}{value}, nil
}

// component shows what an extension draws, and returns when that is closed; nobody there
// closes it at once, and whoever reads the notices learns what to do.
func (x *Session) component(ctx context.Context, d protocol.Dialog, id string, limit time.Duration) error {
	d.Title = cmp.Or(d.Title, d.Source)
	shown, err := x.lane.Components().Show(ctx, d, id, limit, func(in component.Input) error {
		err := x.set.Input(rpc.Input{Ext: d.Source, ID: id, Rev: in.Rev, Width: in.Width, Height: in.Height, Data: in.Data})
		if err != nil {
			return protocol.Errorf(protocol.CodeRateLimited, "%s.", failure.Sentence(err))
		}
		return nil
	})
	if err == nil && !shown {
		x.tellOnce(fmt.Sprintf("The extension %s draws what it shows, and nobody is here who could see it; open the session in a terminal: scorel attach %s", d.Source, x.lane.ID()))
	}
	if err != nil {
		return err
	}
	return ctx.Err()
}
