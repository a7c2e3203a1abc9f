package display

import (
	"fmt"

	"scorel/protocol"
)

// Deleted returns what became of the payloads that a deleted session named, a sentence each;
// nothing when it named none.
func Deleted(d *protocol.Deleted) (out []string) {
	if d.Removed > 0 {
		out = append(out, fmt.Sprintf("Payloads removed with it: %d (%d bytes).", d.Removed, d.Bytes))
	}
	if d.Later > 0 {
		out = append(out, fmt.Sprintf("Payloads that a host removes later, when they are a day old and no session names them: %d.", d.Later))
	}
	if d.Kept > 0 {
		out = append(out, fmt.Sprintf("Payloads that stay, because another session names them: %d.", d.Kept))
	}
	for _, n := range d.Notices {
		out = append(out, Line(n))
	}
	return out
}
