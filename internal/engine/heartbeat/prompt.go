package heartbeat

import (
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/text/promptsafe"
)

// frame is around each of the project's texts, which that text cannot end.
const frame = "heartbeat"

// Prompt returns what a run of a task sends: who sends it and why, then the project's standing
// text where there is one, then the task.
func Prompt(t Task, standing string) string {
	name, _ := json.Marshal(t.Name) // a string always can be; < and > are escaped
	text := fmt.Sprintf("This is the heartbeat %s of this project, which is sent by itself %s; nobody is watching. Do what its task says. If there is nothing to do, say so in one line and end the turn.\n\n", name, t.Words())
	if strings.TrimSpace(standing) != "" {
		text += promptsafe.Text(frame, fmt.Sprintf(" part=\"instructions\" path=%q", Standing), promptsafe.Clean(standing)) + "\n\n"
	}
	return text + promptsafe.Text(frame, fmt.Sprintf(" part=\"task\" name=%s path=%q", name, File), promptsafe.Clean(t.Prompt))
}
