package admin

import (
	"context"
	"fmt"

	"scorel/internal/engine/heartbeat"
	"scorel/internal/host/doctor"
)

// Heartbeats are those of projects.
type Heartbeats interface {
	// AlignHeartbeats brings the heartbeats of the project at root in line with its files.
	AlignHeartbeats(ctx context.Context, root string)
	// ForgetHeartbeats deletes those of a project that is not registered any more.
	ForgetHeartbeats(root string)
}

// heartbeatChecks returns the check of the heartbeats of the project at root, none where there
// are none that are trusted: what is not trusted is said with the other files of the project.
func (ad *Admin) heartbeatChecks(root string) []doctor.Check {
	if root == "" {
		return nil
	}
	tasks, _, trusted, _, err := ad.settings.Trust.ReadHeartbeat(root)
	if err != nil || !trusted {
		return nil
	}
	return []doctor.Check{{ID: "heartbeats", Look: func(context.Context) doctor.Finding {
		list := heartbeat.Parse(tasks)
		n := len(list.Problems)
		if n == 0 {
			return doctor.OK("armed from %s: %d; scorel schedule list shows them", heartbeat.File, len(list.Tasks))
		}
		text := heartbeat.File + ": " + list.Problems[0]
		if n > 1 {
			text += fmt.Sprintf(" And %d more.", n-1)
		}
		return doctor.Warn(text, "Correct the file, and trust it again; scorel trust shows all that is wrong.")
	}}}
}
