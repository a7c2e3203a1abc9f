package cli

import (
	"errors"

	"scorel/protocol"
)

// hinted returns the text of an error with what a person at a command line does next. The
// host does not know who asks, so it names the field, and the flag or command that sets
// it is here.
func hinted(err error) string {
	text := err.Error()
	if hint := hintOf(err); hint != "" {
		text += " " + hint
	}
	return text
}

func hintOf(err error) string {
	var pe *protocol.Error
	if !errors.As(err, &pe) {
		return ""
	}
	about := protocol.AboutOf(err)
	switch {
	case about.Reason == protocol.ReasonElsewhere:
		return "--fork makes a copy."
	case about.Reason == protocol.ReasonOpen:
		return "`scorel host status` names the clients."
	case about.Reason == protocol.ReasonLeaf && pe.Code == protocol.CodeStorageError:
		return "`scorel sessions show --tree ID` shows its events, and `scorel sessions repair ID --leaf EVENT` continues from one."
	case about.Reason == protocol.ReasonLeaf:
		return "--leaf EVENT names it."
	case about.Reason == protocol.ReasonHeld:
		return "`scorel sessions branch` does."
	case about.Reason == protocol.ReasonSkill:
		return "`scorel skills list` shows the skills."
	case about.Reason == protocol.ReasonWide:
		return "--workspace DIR allows it for one run, and the terminal UI, started there, asks once."
	case about.Reason == protocol.ReasonFolder:
		return "--cwd DIR names one."
	case pe.Code == protocol.CodeSessionNotFound:
		return "`scorel sessions list` shows the sessions."
	case about.Field == "clientId":
		return "`scorel clients list` shows the clients."
	case about.Field == "model" || about.Field == "meta.model" || about.Field == "changes.model":
		return "`scorel models` lists the models."
	}
	return ""
}
