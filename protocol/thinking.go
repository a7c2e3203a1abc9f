package protocol

import "strings"

// thinkingLevels are the levels of thinking, rising.
var thinkingLevels = [...]string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// ThinkingLevels returns how much a model may be told to think, rising, off first. A model
// that does not have a level is given the next one below that it has.
func ThinkingLevels() []string { return append([]string(nil), thinkingLevels[:]...) }

// ThinkingLevelWords is the list of levels in a sentence.
func ThinkingLevelWords() string {
	n := len(thinkingLevels) - 1
	return strings.Join(thinkingLevels[:n], ", ") + " or " + thinkingLevels[n]
}
