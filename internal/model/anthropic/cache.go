package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
)

// Rules of prompt caching
// (https://platform.claude.com/docs/en/build-with-claude/prompt-caching): a
// request carries at most four marks, and behind each the server looks back over
// about 20 blocks for what it has.
const (
	maxMarks   = 4
	maxBetween = 15
)

// mark sets the cache marks. Two or three stand on messages: on the last block;
// on the last block of the request before this one, which is the user message in
// front of the newest assistant message, so that what that request stored is
// found; and, when more than 15 blocks lie between those, on one 15 blocks behind
// the older. The others stand on the system prompt and, if one is left, on the
// tools.
func mark(p *sdk.MessageNewParams, tools bool) {
	left := maxMarks
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = sdk.NewCacheControlEphemeralParam()
		left--
	}
	blocks, before := flatten(p.Messages)
	marks := places(len(blocks), before, left)
	for _, i := range marks {
		setMark(blocks, i)
	}
	left -= len(marks)
	if n := len(p.Tools); tools && n > 0 && left > 0 {
		p.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
}

// flatten lists all blocks, and says how many the request before this one had.
func flatten(messages []sdk.MessageParam) (blocks []*sdk.ContentBlockParamUnion, before int) {
	for i := range messages {
		if messages[i].Role == sdk.MessageParamRoleAssistant {
			before = len(blocks)
		}
		for j := range messages[i].Content {
			blocks = append(blocks, &messages[i].Content[j])
		}
	}
	return blocks, before
}

// places gives the indices of blocks to mark, rising, at most left of them. One
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
func setMark(blocks []*sdk.ContentBlockParamUnion, i int) {
	for ; i >= 0; i-- {
		c := sdk.NewCacheControlEphemeralParam()
		switch b := blocks[i]; {
		case b.OfText != nil:
			b.OfText.CacheControl = c
		case b.OfImage != nil:
			b.OfImage.CacheControl = c
		case b.OfDocument != nil:
			b.OfDocument.CacheControl = c
		case b.OfToolUse != nil:
			b.OfToolUse.CacheControl = c
		case b.OfToolResult != nil:
			b.OfToolResult.CacheControl = c
		default:
			continue
		}
		return
	}
}
