package protocol

import "iter"

// ContextTokens returns how many tokens of the model's window a conversation fills, of its
// path from the newest event back: what the newest answer had in its context, less what
// compactions have taken out since. It is 0 where that is not known.
func ContextTokens(back iter.Seq[Event]) int {
	least, freed := 0, 0
	for e := range back {
		switch b := e.Body.(type) {
		case *Compact:
			if least == 0 {
				least = b.TokensAfter
			}
			freed += b.TokensBefore - b.TokensAfter
		case *MessageBody:
			if u := b.Message.Usage; b.Message.Role == RoleAssistant && u != nil && u.ContextTokens() > 0 {
				return max(least, u.ContextTokens()-freed)
			}
		}
	}
	return least
}
