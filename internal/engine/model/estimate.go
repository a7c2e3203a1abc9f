package model

import (
	"unicode/utf8"

	"scorel/protocol"
)

// Numbers of the estimate. Four characters a token is the usual rule for
// English and code; an image of the size that vendors scale to is about 1,200.
const (
	charsPerToken = 4
	imageTokens   = 1200
	fileTokens    = 1200 // a document of which only the name is known
	messageTokens = 4    // role and separators
)

// EstimateText guesses the tokens of s: characters / 4, rounded up.
func EstimateText(s string) int { return tokens(utf8.RuneCountInString(s)) }

func tokens(characters int) int { return (characters + charsPerToken - 1) / charsPerToken }

// EstimateTokens guesses the tokens that m takes in a request. Callers correct
// it by the last usage that a provider reported.
func EstimateTokens(m protocol.Message) int {
	if m.Role == protocol.RoleInternal {
		return 0
	}
	n := messageTokens
	for _, b := range m.Content {
		switch b.Type {
		case protocol.BlockText:
			n += EstimateText(b.Text)
		case protocol.BlockThinking:
			n += EstimateText(b.Thinking)
		case protocol.BlockToolUse:
			n += EstimateText(b.Name) + tokens(utf8.RuneCount(b.Input))
		case protocol.BlockImage:
			n += imageTokens
		case protocol.BlockFile:
			n += fileTokens
		}
	}
	return n
}

// EstimateRequest guesses the input tokens of a whole request.
func EstimateRequest(req Request) int {
	n := EstimateText(req.System)
	for _, t := range req.Tools {
		n += EstimateText(t.Name) + EstimateText(t.Description) + tokens(utf8.RuneCount(t.Schema))
	}
	for _, m := range req.Messages {
		n += EstimateTokens(m)
	}
	return n
}
