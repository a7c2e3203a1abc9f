package mcpservers

import (
	"slices"

	mcpconfig "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/model/credentials"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Answers keeps what people answer to the questions of entries, with the keys of providers.
// The zero value has none. It may be used concurrently.
type Answers struct {
	FS   disk.FS
	File string // of the credentials
}

// nameOf is what the answers of an entry are kept under: a changed entry gets none of them.
func nameOf(e mcpconfig.Entry) string { return e.Name + " " + e.Hash() }

// Of returns the answers for an entry, by the ids of its questions.
func (a Answers) Of(e mcpconfig.Entry) (map[string]string, error) {
	if a.FS == nil || len(e.Inputs) == 0 {
		return nil, nil
	}
	keys, err := credentials.Load(a.FS, a.File)
	if err != nil {
		return nil, err
	}
	given := keys.Inputs(nameOf(e))
	out := map[string]string{}
	for _, q := range e.Inputs {
		if in, ok := given[q.ID]; ok && (q.Options == nil || slices.Contains(q.Options, in.Value)) {
			out[q.ID] = in.Value
		}
	}
	return out, nil
}

// Keep keeps an answer to a question of an entry; "" forgets it.
func (a Answers) Keep(e mcpconfig.Entry, q mcpconfig.Input, value string) error {
	if value == "" {
		return credentials.SetInput(a.FS, a.File, nameOf(e), q.ID, nil)
	}
	return credentials.SetInput(a.FS, a.File, nameOf(e), q.ID, &credentials.Input{Value: value, Secret: q.Password})
}

// Forget forgets all answers for an entry.
func (a Answers) Forget(e mcpconfig.Entry) error {
	return credentials.ForgetInputs(a.FS, a.File, nameOf(e))
}

func (s *Servers) answers() Answers {
	return Answers{s.cfg.Settings.FS, s.cfg.Settings.CredentialsFile()}
}

// questions are those of an entry, as clients see them.
func (s *Servers) questions(e mcpconfig.Entry) (list []protocol.MCPInput) {
	given, _ := s.answers().Of(e) // why they cannot be read is said where the server is used
	for _, q := range e.Inputs {
		_, answered := given[q.ID]
		list = append(list, protocol.MCPInput{ID: q.ID, Description: q.Description, Default: q.Default, Password: q.Password, Options: q.Options, Answered: answered})
	}
	return list
}

// setInput keeps what a person answers.
func (s *Servers) setInput(l *lane.Lane, r *protocol.SetMCPInput) error {
	p, err := s.place(l, r.WorkDir)
	if err != nil {
		return err
	}
	set := s.Configured(p.root, p.cfg, p.over)
	e, ok := set.Lookup(r.Name)
	if !ok {
		return missing(set, r.Name)
	}
	i := slices.IndexFunc(e.Inputs, func(q mcpconfig.Input) bool { return q.ID == r.ID })
	if i < 0 {
		return protocol.About("id", "", protocol.CodeInvalidRequest, "The MCP server %s does not ask for %.100q.", e.Name, r.ID)
	}
	if q := e.Inputs[i]; r.Value != "" && q.Options != nil && !slices.Contains(q.Options, r.Value) {
		return protocol.About("value", "", protocol.CodeInvalidRequest, "The answer is none of those that the MCP server %s offers.", e.Name)
	}
	if err := s.answers().Keep(e, e.Inputs[i], r.Value); err != nil {
		return protocol.Errorf(protocol.CodeStorageError, "%s.", failure.Sentence(err))
	}
	s.again(p.id, e.Name)
	return nil
}

// again has a session look at a server again with its next turn.
func (s *Servers) again(id protocol.SessionID, name string) {
	if id == "" {
		return
	}
	x := s.of(id)
	x.mu.Lock()
	if !slices.Contains(x.switched, name) {
		x.switched = append(x.switched, name)
	}
	x.mu.Unlock()
	s.announce(id)
}
