package google

import (
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// blocked is the end of an answer that was not begun, because the prompt was
// refused (promptFeedback.blockReason).
const blocked = "BLOCKED_PROMPT"

// stopReason maps why an answer ended (Candidate.finishReason in
// https://ai.google.dev/api/generate-content), or gives the failure that it is.
func stopReason(p httpx.Peer, finish string, called bool) (protocol.StopReason, error) {
	switch finish {
	case "STOP":
		if called {
			return protocol.StopToolUse, nil
		}
		return protocol.StopEndTurn, nil
	case "MAX_TOKENS":
		return protocol.StopMaxTokens, nil
	case blocked, "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return protocol.StopRefusal, nil
	case "MALFORMED_FUNCTION_CALL":
		return "", p.Broken("a call that makes no sense")
	case "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return "", p.Broken("calls that were not asked for")
	case "MISSING_THOUGHT_SIGNATURE":
		return "", &model.Error{Class: model.ClassInvalid, Message: p.Name + " misses a thought signature in the conversation; compact it or start a new one"}
	}
	return "", p.Broken("an answer that ended for another reason: " + httpx.Word(finish))
}

// listed reports whether the vendor's list has the reason. All that [stopReason] does not
// name are failures.
func listed(finish string) bool {
	switch finish {
	case "STOP", "MAX_TOKENS", blocked, "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_OTHER", "NO_IMAGE", "IMAGE_RECITATION",
		"UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		return true
	}
	return false
}
