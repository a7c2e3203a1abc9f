package anthropic

import "scorel/protocol"

// Rules of prompt caching
// (https://platform.claude.com/docs/en/build-with-claude/prompt-caching): a
// request carries at most four marks, and after each the server looks back over
// about 20 blocks for what it has.
const (
	maxMarks   = 4
	maxBetween = 15
)

// mark sets the cache marks of a request with or without a system prompt, which then is
// marked, and reports whether the tools are marked. Two or three are on messages: on the
// last block; on the last block of the request before this one, which is the user
// message in front of the newest assistant message, so that what that request stored is
// found; and, when more than 15 blocks lie between those, on one 15 blocks after
// the older. The others are on the system prompt and, if one is left, on the
// tools.
func mark(messages []message, system bool) (tools bool) {
	left := maxMarks
	if system {
		left--
	}
	blocks, before := flatten(messages)
	marks := places(len(blocks), before, left)
	for _, i := range marks {
		setMark(blocks, i)
	}
	return left > len(marks)
}

// flatten lists all blocks, and says how many the request before this one had.
func flatten(messages []message) (blocks []*part, before int) {
	for i := range messages {
		if messages[i].role == roleAssistant {
			before = len(blocks)
		}
		for j := range messages[i].parts {
			blocks = append(blocks, &messages[i].parts[j])
		}
	}
	return blocks, before
}

// places returns the indices of blocks to mark, rising, at most left of them. One
// of the message marks goes to the tools unless the way is long.
func places(blocks, before, left int) []int {
	if blocks == 0 || left == 0 {
		return nil
	}
	last := blocks - 1
	if before == 0 || left == 1 {
		return []int{last}
	}
	old := before - 1
	if last-old <= maxBetween || left == 2 {
		return []int{old, last}
	}
	return []int{old, old + maxBetween, last}
}

// setMark marks block i, or the nearest one before it that can carry a mark:
// thinking cannot.
func setMark(blocks []*part, i int) {
	for ; i >= 0; i-- {
		if b := blocks[i]; b.result != nil || b.from.Type != protocol.BlockThinking {
			b.mark = true
			return
		}
	}
}
