package protocol

import (
	"fmt"
	"scorel/protocol/jsonscan"
)

// CheckText returns why JSON data is not text that can be stored as it was sent: bytes that
// are not UTF-8, or an escape for one half of a surrogate pair, which is not a character
// (RFC 8259, section 8.2). The JSON decoder of Go replaces both silently. What names the
// data in the sentence. Whether the data is JSON at all is left to [NotJSON].
func CheckText(what string, data []byte) *Problem {
	if i := jsonscan.BadUTF8(data); i >= 0 {
		return &Problem{jsonscan.PathAt(data, i), fmt.Sprintf("The %s is not valid UTF-8: something is wrong at byte %d of %d.", what, i, len(data))}
	}
	if i := jsonscan.HalfPair(data); i >= 0 {
		return &Problem{jsonscan.PathAt(data, i), fmt.Sprintf("The %s holds %s at byte %d, one half of a surrogate pair, which is not a character; write both halves, or the character itself.", what, data[i:i+6], i)}
	}
	return nil
}
