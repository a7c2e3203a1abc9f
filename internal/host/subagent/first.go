package subagent

import (
	"context"
	"fmt"

	"scorel/internal/engine/agent"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// firstTold returns what a new session of an agent is told before its first task: what its
// definition says first, and the skills that it names.
func (st *Starter) firstTold(ctx context.Context, d *agent.Definition, workDir string) (out []protocol.Block, err error) {
	if d.Initial != "" {
		out = append(out, protocol.Text(d.Initial))
	}
	if len(d.Skills) == 0 {
		return out, nil
	}
	dir, err := st.settings.WorkDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, st.settings.UserHome)
	set, _ := st.turns.SkillSet(ctx, dir, root)
	for _, name := range d.Skills {
		text, err := set.Text(name, "")
		if err != nil {
			return nil, fmt.Errorf("the agent %s cannot be used, for it needs the skill %.64s: %w", d.Name, name, err)
		}
		out = append(out, protocol.Text("Use the skill "+name+" where it applies.\n\n"+text))
	}
	return out, nil
}
