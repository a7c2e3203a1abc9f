package history

import "scorel/protocol"

// The estimate of tokens. It is only used for what no provider has counted yet;
// see [Context].Tokens.
const (
	bytesPerToken = 4    // of English text and code; more per character elsewhere
	imageTokens   = 1200 // what vendors count for an image of common size
	fileTokens    = 2000 // a page or two of a document
	messageTokens = 4    // role and frame
)

func textTokens(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

// EstimateMessage estimates the tokens of a message that is sent.
func EstimateMessage(m *protocol.Message) int {
	n := messageTokens
	for i := range m.Content {
		n += estimateBlock(&m.Content[i])
	}
	return n
}

func estimateBlock(b *protocol.Block) int {
	n := 0
	switch b.Type {
	case protocol.BlockText:
		n = textTokens(len(b.Text))
	case protocol.BlockThinking:
		n = textTokens(len(b.Thinking))
	case protocol.BlockToolUse:
		n = textTokens(len(b.ID) + len(b.Name) + len(b.Input))
	case protocol.BlockImage:
		n = imageTokens
	case protocol.BlockFile:
		n = fileTokens
	}
	return n
}
