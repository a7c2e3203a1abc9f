package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/extension"
	"scorel/internal/extension/rpc"
	"scorel/internal/host/lane"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
	"scorel/protocol/display"
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
func (x *extended) Call(ctx context.Context, e extension.Extension, method string, params json.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			x.lane.Panicked(r)
			result, err = nil, errInside()
		}
	}()
	ctx, cancel := x.lane.Within(ctx)
	defer cancel()
	switch method {
	case rpc.CallAppend:
		return with(params, func(p *rpc.AppendEntry) (any, error) { return x.append(ctx, e, p) })
	case rpc.CallSessionName:
		return with(params, func(p *struct{ Name string }) (any, error) {
			return nil, x.h.updateInfo(ctx, x.lane, x.caller(), protocol.MetaChanges{Name: &p.Name})
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
		return with(params, func(p *struct{ Instructions string }) (any, error) {
			_, err := x.lane.Compact(ctx, x.caller(), p.Instructions, lane.Move{})
			return nil, err
		})
	case rpc.CallSetModel:
		return with(params, func(p *modelName) (any, error) { return x.setModel(ctx, p) })
	case rpc.CallSetThinking:
		return with(params, func(p *struct{ Level string }) (any, error) {
			if !slices.Contains(protocol.ThinkingLevels(), p.Level) {
				return nil, fmt.Errorf("the thinking level is %.40q; it is %s", p.Level, protocol.ThinkingLevelWords())
			}
			return nil, x.h.updateInfo(ctx, x.lane, x.caller(), protocol.MetaChanges{ThinkingLevel: &p.Level})
		})
	case rpc.CallActiveTools:
		return with(params, func(p *struct{ Names []string }) (any, error) { return nil, x.setActive(p.Names) })
	case rpc.CallModels:
		return x.models()
	case rpc.CallModelKey:
		return with(params, func(p *modelName) (any, error) { return x.key(e, p) })
	case rpc.CallComplete:
		return with(params, func(p *rpc.Complete) (any, error) { return x.complete(ctx, p) })
	case rpc.CallDialog:
		return with(params, func(p *rpc.Dialog) (any, error) { return x.dialog(ctx, e, p) })
	case rpc.CallNotify:
		return with(params, func(p *struct{ Message, Level string }) (any, error) {
			if err := x.pace(ctx); err != nil {
				return nil, err
			}
			x.lane.Notify(e.ID, p.Level, x.keys.clean(p.Message))
			return nil, nil
		})
	case rpc.CallUIState:
		return with(params, func(p *struct {
			Key, Place string
			Lines      []string
		}) (any, error) {
			if err := x.pace(ctx); err != nil {
				return nil, err
			}
			return nil, x.show(protocol.UIState{Source: e.ID, Key: p.Key, Place: p.Place, Lines: p.Lines})
		})
	case rpc.CallConfig:
		root, _ := workspace.Root(x.lane.Meta().WorkDir, x.h.cfg.UserHome)
		if settings := x.h.extensionSettings(root, e); settings != nil {
			return settings, nil
		}
		return struct{}{}, nil
	}
	return nil, &extension.RemoteError{Code: rpc.ErrMethod, Message: fmt.Sprintf("there is no method %.60q", method)}
}

// pace lets what extensions show through as fast as people may follow; who is faster
// waits.
func (x *extended) pace(ctx context.Context) error {
	x.mu.Lock()
	now := time.Now()
	if earliest := now.Add(-showBurst * showEvery); x.shownAt.Before(earliest) {
		x.shownAt = earliest
	}
	x.shownAt = x.shownAt.Add(showEvery)
	wait := x.shownAt.Sub(now)
	x.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
func (x *extended) caller() lane.Caller {
	return lane.Caller{Client: protocol.HostClient, Request: protocol.NewRequestID(x.h.cfg.Rand)}
}

// append appends state of an extension to the log.
func (x *extended) append(ctx context.Context, e extension.Extension, p *rpc.AppendEntry) (any, error) {
	switch {
	case !kindName(p.Kind):
		return nil, fmt.Errorf("an entry needs a type: at most %d bytes on one line, without control characters", maxEntryKind)
	case coreType(p.Kind) || strings.HasPrefix(p.Kind, protocol.OwnKind):
		return nil, fmt.Errorf("%s is a type of Scorel itself; give the entry a type of your own, such as %s_%s", p.Kind, e.ID, p.Kind)
	case x.set.Immediate(e.ID):
		return nil, fmt.Errorf("a command that runs beside a turn cannot save entries; register it without immediate")
	}
	data := p.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	back, err := x.reserve(ctx, len(p.Kind)+len(data))
	if err != nil {
		return nil, err
	}
	ev, err := x.lane.Control(ctx, &protocol.Custom{Kind: p.Kind, Data: data})
	if err != nil {
		back()
		return nil, err
	}
	return struct {
		ID protocol.EventID `json:"id"`
	}{ev.ID}, nil
}

// kindName says whether a text can be the kind of an entry or message.
func kindName(s string) bool {
	return s != "" && len(s) <= maxEntryKind && utf8.ValidString(s) && display.Line(s) == s
}

// kept counts the entries of extensions in a session.
type kept struct {
	mu      sync.Mutex
	counted bool // those of before are in it
	entries int
	bytes   int
}

// reserve makes room for an entry among those that extensions may have in the session;
// back gives it back when the entry was not stored.
func (x *extended) reserve(ctx context.Context, size int) (back func(), err error) {
	k := &x.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.counted {
		k.entries, k.bytes = 0, 0
		for e, err := range x.lane.Log().Index().OfType(ctx, protocol.TypeCustom) {
			if err != nil {
				return nil, err
			}
			if b, ok := e.Body.(*protocol.Custom); ok && !strings.HasPrefix(b.Kind, protocol.OwnKind) {
				k.entries, k.bytes = k.entries+1, k.bytes+len(b.Kind)+len(b.Data)
			}
		}
		k.counted = true
	}
	if k.entries >= maxEntries || k.bytes+size > maxEntryBytes {
		return nil, fmt.Errorf("extensions have %d entries of %d bytes in this session; at most %d of %d MiB: write what is large or often changed into a file", k.entries, k.bytes, maxEntries, maxEntryBytes>>20)
	}
	k.entries, k.bytes = k.entries+1, k.bytes+size
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.entries, k.bytes = k.entries-1, k.bytes-size
	}, nil
}

// coreType says whether a kind is one of the log's own, or what extensions see of one.
func coreType(kind string) bool {
	_, stored := protocol.StoredClass([]byte(kind))
	return stored || kind == "compaction"
}

// sentMessage is [rpc.SendMessage] and [rpc.SendUser], with images as they come.
type sentMessage struct {
	CustomType  string            `json:"customType"`
	Content     []json.RawMessage `json:"content"`
	Display     bool              `json:"display"`
	Details     json.RawMessage   `json:"details"`
	DeliverAs   string            `json:"deliverAs"`
	TriggerTurn bool              `json:"triggerTurn"`
}

// sendMessage adds a message of an extension: at the next step border, or, where that
// is said, when the turn has ended. One that begins a turn is a message as a user
// sends it.
func (x *extended) sendMessage(ctx context.Context, e extension.Extension, p *sentMessage) error {
	content, err := x.set.Blocks(ctx, p.Content)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		return fmt.Errorf("the message is empty")
	}
	if p.CustomType != "" && !kindName(p.CustomType) {
		return fmt.Errorf("customType is no name: at most %d bytes on one line, without control characters", maxEntryKind)
	}
	if x.set.Immediate(e.ID) {
		return fmt.Errorf("a command that runs beside a turn cannot add messages; register it without immediate")
	}
	body := extension.CustomMessage(rpc.SendMessage{CustomType: p.CustomType, Content: content, Display: p.Display, Details: p.Details})
	switch p.DeliverAs {
	case "", "steer", "nextTurn", "followUp":
	default:
		return fmt.Errorf("deliverAs is %.40q; it is steer, followUp or nextTurn", p.DeliverAs)
	}
	if p.TriggerTurn && !x.lane.Conversing() {
		return x.send(ctx, content, "")
	}
	if p.DeliverAs == "followUp" || p.DeliverAs == "nextTurn" {
		return x.lane.AddAfter(ctx, body)
	}
	return x.lane.Add(ctx, body)
}

// send sends a message as if the user had.
func (x *extended) send(ctx context.Context, content []protocol.Block, deliverAs string) error {
	m := lane.Message{Content: content, Busy: lane.BusyFollowUp, Source: "extension"}
	switch deliverAs {
	case "", "followUp", "nextTurn":
	case "steer":
		m.Busy = lane.BusySteer
	default:
		return fmt.Errorf("deliverAs is %.40q; it is steer or followUp", deliverAs)
	}
	x.seen.mu.Lock()
	x.seen.own++
	many := x.seen.own > maxOwnTurns
	x.seen.mu.Unlock()
	if many {
		return fmt.Errorf("extensions have sent %d messages in a row; a person has to send one before they may go on", maxOwnTurns)
	}
	_, err := x.lane.Send(ctx, x.caller(), m)
	return err
}

// modelName names a model by provider and id.
type modelName struct{ Provider, ID string }

// find gives the model that an extension names, which the user has a key for.
func (x *extended) find(n *modelName) (resolve.Entry, bool, error) {
	cfg, err := x.h.userConfig()
	if err != nil {
		return resolve.Entry{}, false, err
	}
	for _, m := range resolve.List(n.ID, x.h.resolver(cfg)) {
		if m.Info.Provider == n.Provider && m.Info.ID == n.ID {
			return m, true, nil
		}
	}
	return resolve.Entry{}, false, nil
}

func (x *extended) setModel(ctx context.Context, n *modelName) (any, error) {
	m, ok, err := x.find(n)
	if err != nil {
		return nil, err
	}
	if ok = ok && m.HasKey; ok {
		err = x.h.updateInfo(ctx, x.lane, x.caller(), protocol.MetaChanges{Model: &m.Ref})
	}
	return struct {
		OK bool `json:"ok"`
	}{ok}, err
}

// setActive chooses the tools of the turns to come.
func (x *extended) setActive(names []string) error {
	const most = 1000
	if len(names) > most {
		return fmt.Errorf("there are %d names of tools; at most %d", len(names), most)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.active = slices.Clone(names)
	if x.active == nil {
		x.active = []string{}
	}
	x.names = slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !slices.ContainsFunc(x.tools, func(t rpc.Tool) bool { return t.Name == n })
	})
	return nil
}

// models gives the models that the user has a key for.
func (x *extended) models() (any, error) {
	cfg, err := x.h.userConfig()
	if err != nil {
		return nil, err
	}
	list := []*rpc.Model{}
	ready := resolve.Ready(x.h.resolver(cfg))
	for _, m := range ready[:min(len(ready), maxListedModels)] {
		list = append(list, modelOf(m.Info))
	}
	return map[string]any{"models": list}, nil
}

// key gives the key of a model: itself to an extension of the user, a handle to one of
// a project.
func (x *extended) key(e extension.Extension, n *modelName) (any, error) {
	m, ok, err := x.find(n)
	if err != nil {
		return nil, err
	}
	var key *string
	if ok && m.HasKey {
		text := keyHandle + m.Ref
		if e.Scope == extension.User {
			cfg, err := x.h.userConfig()
			if err != nil {
				return nil, err
			}
			text = resolve.Key(m.Ref, x.h.resolver(cfg))
			x.keys.set(x.h.keyValues(cfg)) // it may have been entered since the process was started
		}
		if text != "" {
			key = &text
		}
	}
	return struct {
		APIKey *string `json:"apiKey"`
	}{key}, nil
}

// complete asks a model beside the conversation, with the user's key: the one that the
// extension names, or the session's.
func (x *extended) complete(ctx context.Context, p *rpc.Complete) (any, error) {
	ref := ""
	if p.Model != "" {
		m, ok, err := x.find(&modelName{p.Provider, p.Model})
		switch {
		case err != nil:
			return nil, err
		case ok && m.HasKey:
			ref = m.Ref
		case !x.sessionModel(p):
			return nil, fmt.Errorf("there is no model %.100s/%.100s that the user has a key for", p.Provider, p.Model)
		}
	}
	req := model.Request{System: p.System, Messages: p.Messages, MaxTokens: p.MaxTokens,
		Blob: x.readBlob}
	for i := range req.Messages {
		if len(req.Messages[i].Content) == 0 {
			return nil, fmt.Errorf("message %d is empty", i)
		}
	}
	if ref == "" {
		meta := x.lane.Meta()
		root, _ := workspace.Root(meta.WorkDir, x.h.cfg.UserHome)
		cfg, err := x.h.loadConfig(root)
		if err != nil {
			return nil, err
		}
		m, _, err := x.h.models(cfg, meta, x.h.cfg.Overrides)
		if err != nil {
			return nil, err
		}
		msg, err := x.h.completeWith(ctx, x.lane.ID(), m, req)
		return rpc.Completed{Message: msg}, err
	}
	msg, err := x.h.complete(ctx, x.lane.ID(), ref, req)
	return rpc.Completed{Message: msg}, err
}

// maxBlob bounds a payload that is sent to a model, in bytes.
const maxBlob = 32 << 20

// readBlob reads a payload that a message names.
func (x *extended) readBlob(ctx context.Context, sha string) ([]byte, error) {
	return x.h.store.Blobs().Read(ctx, sha, maxBlob)
}

// sessionModel says whether an extension names the model of the session, which need
// not be one of the catalogue.
func (x *extended) sessionModel(p *rpc.Complete) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.model != nil && x.model.ID == p.Model && x.model.Provider == p.Provider
}

// dialog asks the attached people; nobody there is an answer at once.
func (x *extended) dialog(ctx context.Context, e extension.Extension, p *rpc.Dialog) (any, error) {
	d := protocol.Dialog{Kind: p.Kind, Source: e.ID, Title: p.Title, Message: p.Message, Options: p.Options, Placeholder: p.Placeholder, Text: p.Text, Schema: p.Schema, URL: p.URL}
	if err := d.CheckAsked(); err != nil {
		return nil, err // whoever wrote the extension is told
	}
	limit := maxDialogTime
	if p.TimeoutMS > 0 {
		limit = min(limit, time.Duration(p.TimeoutMS)*time.Millisecond)
	}
	value, ok := x.lane.Ask(ctx, d, limit)
	if !ok {
		return nil, ctx.Err()
	}
	return struct {
		Value json.RawMessage `json:"value"`
	}{value}, nil
}
