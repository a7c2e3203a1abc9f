package history

// The estimate of a message is that of package model, four characters a token.
// Text that is cut to fit a request is measured by its bytes, which holds better
// where a character is a token of its own.
const (
	bytesPerToken = 4
	messageTokens = 4 // role and frame of a message
)

func textTokens(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }
