package display

import (
	"strings"

	"scorel/protocol"
)

// Ending says how an answer ended that did not end well, "" for one that did. A message that
// the output limit has cut did: the next one continues it, or says why not.
func Ending(m *protocol.Message) string {
	switch {
	case m.StopReason == protocol.StopCancelled:
		return "Cancelled."
	case m.ErrorMessage != "":
		return Text(m.ErrorMessage)
	case m.StopReason == protocol.StopError:
		return "The answer ended with an error."
	case m.StopReason == protocol.StopRefusal:
		return protocol.ModelRefused
	case m.Partial:
		return "The answer is not complete."
	}
	return ""
}

// ended are the words for how a run has ended.
var ended = map[protocol.Terminal]string{
	protocol.TerminalCompleted: "completed", protocol.TerminalCancelled: "cancelled",
	protocol.TerminalMaxSteps: "the limit of steps", protocol.TerminalMaxTokens: "the model's output limit",
	protocol.TerminalBudget: "the limit of the turn or the day", protocol.TerminalPromptTooLong: "the conversation is too long for the model",
	protocol.TerminalRefused: "the model refused", protocol.TerminalModelError: "the model failed",
	protocol.TerminalHookStopped: "a hook or an extension ended it", protocol.TerminalStorageError: "something could not be stored",
	protocol.TerminalLoop: "the model repeated itself", protocol.TerminalInternalError: "a fault inside Scorel",
	protocol.TerminalSchemaMismatch: "no answer fits the schema",
}

// Ended says in a few words how a run has ended, also one that only a newer host knows.
func Ended(t protocol.Terminal) string {
	if words, ok := ended[t]; ok {
		return words
	}
	return strings.ReplaceAll(Line(string(t)), "_", " ")
}
