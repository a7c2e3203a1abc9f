package settings

import (
	"fmt"
	"path/filepath"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/trust"
)

// readAgent reads the definition of an agent of a project, and reports whether exactly
// these bytes are trusted.
func (st *Settings) readAgent(root, name string, limit int64) (data []byte, trusted bool, err error) {
	data, trusted, _, err = st.Trust.Read(root, trust.KindAgent, name, limit)
	return data, trusted, err
}

// Agents returns the agents of a project and of the user.
func (st *Settings) Agents(root string) *agent.Set {
	return agent.Find(agent.Config{UserDir: filepath.Join(st.Dir, "agents"), ForeignDir: filepath.Join(st.UserHome, ".claude", "agents"), Root: root, Read: st.readAgent})
}

// AgentModel returns the model that a definition names, "" for that of the session above. A
// project names only models that the user has. haiku, sonnet and opus are those that the
// user has named for them; what else a file of another program calls its models may not
// exist here.
func (st *Settings) AgentModel(d *agent.Definition) (string, error) {
	if d.Model == "" {
		return "", nil
	}
	user, err := st.User()
	if err != nil {
		if d.Scope != agent.Project {
			return d.Model, nil // the turn says what is wrong
		}
		return "", err
	}
	ref, note := st.ClaudeModel(user, d.Model, d.Foreign)
	_, isTier := tier(user, d.Model)
	if note != "" || isTier || d.Scope != agent.Project || st.Usable(user, ref) {
		return ref, nil
	}
	return "", fmt.Errorf("the agent %s cannot be used: its file names the model %.80q, which you have not set up", d.Name, d.Model)
}
