package extension

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	engine "scorel/internal/engine/tool"
	"scorel/internal/extension/rpc"
	"scorel/protocol"
)

// Bounds of what a tool gives.
const (
	maxOutput  = 30_000    // bytes of text for the model; the whole goes into a blob
	maxImages  = 16        // images of a result
	maxImage   = 20 << 20  // bytes of one
	maxDetails = 256 << 10 // bytes
)

// tool is a tool of an extension; it implements [engine.Tool].
type tool struct {
	m     *member
	spec  engine.Spec
	kind  string
	label string
	// renders says that the extension draws its calls, or what came of them.
	renders bool
}

// Tools returns the tools of a turn, own, with those of the extensions that are loaded,
// sorted by name and each name once. One that has the name of a built-in tool, or the
// first that pi has for it, takes its place where the turn has that tool. Problems are
// sentences about tools that are left out.
func (s *Set) Tools(own []engine.Tool) (tools []engine.Tool, problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tools = slices.Clone(own)
	whose := map[string]string{}
	for _, m := range s.members {
		if m.State != protocol.ExtensionLoaded {
			continue
		}
		for _, t := range m.tools {
			name, replaces, why := t.place()
			if why != "" {
				problems = append(problems, fmt.Sprintf("The extension %s has a tool %s, %s", m.ID, t.spec.Name, why))
				continue
			}
			if other := whose[name]; other != "" {
				problems = append(problems, fmt.Sprintf("The extension %s has a tool %s like the extension %s; it is left out.", m.ID, t.spec.Name, other))
				continue
			}
			whose[name] = m.ID
			if !replaces {
				tools = append(tools, t)
				continue
			}
			if i := slices.IndexFunc(tools, func(o engine.Tool) bool { return o.Spec().Name == name }); i >= 0 {
				tools[i] = replacement{t, tools[i]}
			}
		}
	}
	slices.SortStableFunc(tools, func(a, b engine.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return tools, problems
}

// place says under which name a tool is offered, and whether it replaces the built-in tool
// of that name; or why it is left out.
func (t tool) place() (name string, replaces bool, why string) {
	for _, b := range protocol.Tools() {
		switch own := t.spec.Name; {
		case len(b.PiNames) > 0 && (own == b.Name || own == b.PiNames[0]):
			return b.Name, true, ""
		case own == b.Name:
			return "", false, "which is the name of a built-in one; it is left out."
		case slices.Contains(b.PiNames, own):
			return "", false, fmt.Sprintf("which is another name of the built-in %s; it is left out, and %s works as ever.", b.Name, b.Name)
		}
	}
	return t.spec.Name, false, ""
}

// Spec implements [engine.Tool].
func (t tool) Spec() engine.Spec { return t.spec }

// Extension implements [engine.Extended].
func (t tool) Extension() string { return t.m.ID }

// Prepare implements [engine.Tool].
func (t tool) Prepare(_ context.Context, call engine.Call) (engine.Prepared, error) {
	return &prepared{t, call}, nil
}

// prepared is a call of a tool; it implements [engine.Prepared].
type prepared struct {
	tool
	call engine.Call
}

// Action is of the kind read where the extension says so of its tool, and else exec:
// what it does is known to nobody but itself.
func (p *prepared) Action() permission.Action {
	kind := permission.Exec
	if p.spec.Kind == permission.Read {
		kind = permission.Read
	}
	return permission.Action{Tool: p.spec.Name, Kind: kind}
}

// Snapshots implements [engine.Prepared].
func (p *prepared) Snapshots(context.Context) ([]engine.Snapshot, error) { return nil, nil }

// Close implements [engine.Prepared].
func (p *prepared) Close() {}

// Run implements [engine.Prepared].
func (p *prepared) Run(ctx context.Context, update func(string)) (engine.Result, error) {
	return p.with(ctx, update, nil)
}

// with is Run of a tool that may replace a built-in one, whose part own is then.
func (p *prepared) with(ctx context.Context, update func(string), own *delegate) (engine.Result, error) {
	s := p.m.set
	c, m, err := p.m.reach(ctx)
	if err != nil {
		return engine.Result{}, err
	}
	s.mu.Lock()
	if m != p.m && !slices.ContainsFunc(m.tools, func(t tool) bool { return t.spec.Name == p.spec.Name && t.spec.Kind == p.spec.Kind }) {
		s.mu.Unlock()
		return engine.Result{}, fmt.Errorf("the extension %s was changed by /reload and has the tool %s no longer as it was; what it has now counts from the next message on", m.ID, p.spec.Name)
	}
	if m.running[p.call.ID] != nil {
		s.mu.Unlock()
		return engine.Result{}, fmt.Errorf("a call %s of the extension %s runs already", p.call.ID, m.ID)
	}
	m.running[p.call.ID] = &running{update, p.call.Process, own}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(m.running, p.call.ID)
		s.mu.Unlock()
	}()
	answer, err := c.ask(ctx, rpc.MethodTool, func() (any, error) {
		return rpc.ToolRun{Ext: m.ID, Tool: p.spec.Name, ToolCallID: p.call.ID, Input: p.call.Input}, nil
	})
	var remote *RemoteError
	switch {
	case errors.Is(err, errGone):
		c.blames(ctx, m)
		return engine.Result{}, fmt.Errorf("the process of the extension %s ended while this ran. It may have taken effect. Check before repeating", m.ID)
	case errors.As(err, &remote):
		if at := remote.Place(); at != "" && p.call.Process != nil { // for people: the model gets the error alone
			p.call.Process(protocol.ProcessUpdate{Stage: "error", Status: protocol.ProcessFailed, Level: protocol.ProcessError, Message: "It failed at " + at + "."})
		}
		return engine.Result{}, errors.New(clip(remote.Message, maxOutput))
	case err != nil:
		return engine.Result{}, err
	}
	return m.result(ctx, p.call.ID, answer)
}

// wireResult is [rpc.ToolResult] with images as they come; so are the other answers.
type wireResult struct {
	Content   []json.RawMessage `json:"content"`
	Details   json.RawMessage   `json:"details"`
	IsError   bool              `json:"isError"`
	Terminate bool              `json:"terminate"`
}

// result returns the result of a call, bounded for the model. What is cut is whole in a
// blob that the details name, where Read finds it.
func (m *member) result(ctx context.Context, call string, answer json.RawMessage) (engine.Result, error) {
	var w wireResult
	if err := json.Unmarshal(answer, &w); err != nil {
		return engine.Result{}, fmt.Errorf("the extension %s gave a result that cannot be read: %w", m.ID, err)
	}
	r := engine.Result{IsError: w.IsError, Ends: w.Terminate}
	if len(w.Details) > 0 && string(w.Details) != "null" {
		if len(w.Details) > maxDetails {
			r.Details = map[string]string{"cut": fmt.Sprintf("the details had %d bytes", len(w.Details))}
		} else {
			r.Details = w.Details
		}
	}
	content, err := m.set.blocks(ctx, w.Content)
	if err != nil {
		return engine.Result{}, fmt.Errorf("the extension %s gave a result that cannot be used: %w", m.ID, err)
	}
	total := 0
	var whole strings.Builder
	for _, b := range content {
		if b.Type == protocol.BlockText {
			total += len(b.Text)
			whole.WriteString(b.Text)
			whole.WriteByte('\n')
		}
	}
	if total <= maxOutput {
		r.Content = content
		if len(content) == 0 {
			r.Content = []protocol.Block{protocol.Text("(no output)")}
		}
		return r, nil
	}
	text := whole.String()
	sha, err := m.set.cfg.Host.PutBlob(ctx, []byte(text))
	if err != nil {
		return engine.Result{}, fmt.Errorf("the whole output could not be kept: %w", err)
	}
	r.Details = withBlob(r.Details, sha)
	head, tail := strings.ToValidUTF8(text[:maxOutput/2], ""), strings.ToValidUTF8(text[len(text)-maxOutput/2:], "")
	r.Content = append(r.Content, protocol.Text(fmt.Sprintf("%s\n[… %d bytes left out; Read with path \"result:%s\" has the whole …]\n%s", head, len(text)-maxOutput, call, tail)))
	for _, b := range content {
		if b.Type != protocol.BlockText {
			r.Content = append(r.Content, b)
		}
	}
	return r, nil
}

// withBlob returns details that name the blob with the whole output, as [engine.Details]
// does.
func withBlob(details any, sha string) any {
	out := map[string]any{}
	if raw, ok := details.(json.RawMessage); ok && (json.Unmarshal(raw, &out) != nil || out == nil) {
		out = map[string]any{"value": raw}
	}
	out["fullBlob"] = sha
	return out
}

// blocks reads content that an extension gives: text, images, and what it was given
// itself, whose payload is stored already. It is nil for none at all.
func (s *Set) blocks(ctx context.Context, parts []json.RawMessage) ([]protocol.Block, error) {
	out, err := s.stored(ctx, parts)
	if err != nil {
		return nil, err
	}
	for i := range out {
		switch b := &out[i]; {
		case b.Type == protocol.BlockText && b.Blob == "":
			b.Text = strings.ToValidUTF8(b.Text, "\uFFFD")
		case b.Type != protocol.BlockText && b.Type != protocol.BlockImage && b.Type != protocol.BlockFile:
			return nil, fmt.Errorf("a block is of the type %.40q; it is text, or image with data and mediaType", b.Type)
		case !s.cfg.Host.HasBlob(b.Blob):
			return nil, fmt.Errorf("a block of the type %s names the payload %.70q, which is not stored here", b.Type, b.Blob)
		}
	}
	return out, nil
}

// stored reads blocks of any type. Images with their data in base64, which is in blob
// after "data:" where the prelude made them from pi's form, go into blobs.
func (s *Set) stored(ctx context.Context, parts []json.RawMessage) ([]protocol.Block, error) {
	if parts == nil {
		return nil, nil
	}
	out, images := make([]protocol.Block, len(parts)), 0
	for i, raw := range parts {
		b := &out[i]
		var given struct {
			Data     string `json:"data"`
			MimeType string `json:"mimeType"`
		}
		if err := json.Unmarshal(raw, b); err != nil {
			return nil, err
		}
		if b.Type != protocol.BlockImage {
			if b.Blob != "" && !protocol.IsPayload(b.Blob) {
				return nil, fmt.Errorf("a block of the type %.40q brings data; only an image can", b.Type)
			}
			continue
		}
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, err
		}
		b.MediaType = cmp.Or(b.MediaType, given.MimeType)
		text, made := strings.CutPrefix(b.Blob, "data:")
		if !made {
			text = given.Data
		}
		if text == "" && protocol.IsPayload(b.Blob) {
			continue
		}
		if text == "" {
			return nil, errors.New("an image has no data")
		}
		if images++; images > maxImages || len(text) > maxImage*4/3+4 {
			return nil, fmt.Errorf("it has more than %d images, or one of more than %d MiB", maxImages, maxImage>>20)
		}
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("an image is not base64: %w", err)
		}
		if data, b.MediaType, err = engine.FitImage(data, b.MediaType); err != nil {
			return nil, fmt.Errorf("an image cannot be used: %w", err)
		}
		if b.Blob, err = s.cfg.Host.PutBlob(ctx, data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Message reads a message that an extension made, as blocks are.
func (s *Set) Message(ctx context.Context, data json.RawMessage) (*protocol.Message, error) {
	var m protocol.Message
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return b.Type == protocol.BlockImage }) {
		return &m, nil
	}
	var raw struct {
		Content []json.RawMessage `json:"content"`
	}
	err := json.Unmarshal(data, &raw)
	if err == nil {
		m.Content, err = s.stored(ctx, raw.Content)
	}
	return &m, err
}

// Blocks is what [Host] uses for content that an extension sends.
func (s *Set) Blocks(ctx context.Context, parts []json.RawMessage) ([]protocol.Block, error) {
	return s.blocks(ctx, parts)
}

// reach gives the process in which an extension is loaded, starting it when it has
// ended, and the member that stands for it now ([Set.current]).
func (m *member) reach(ctx context.Context) (*child, *member, error) {
	s := m.set
	s.mu.Lock()
	c := m.child
	s.mu.Unlock()
	if c != nil {
		return c, m, nil
	}
	release, err := s.hold(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	s.mu.Lock()
	m, err = s.current(m)
	s.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	c, err = s.ensure(ctx, m)
	return c, m, err
}
