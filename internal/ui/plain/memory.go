package plain

import (
	"fmt"

	"scorel/protocol"
)

// Memory returns which files of notes there are, how large they are, and how much of them
// is told to the model, as rows of a [Table].
func Memory(v *protocol.MemoryView) [][]string {
	var rows [][]string
	for _, f := range v.Files {
		size := Count(int(f.Bytes), "byte")
		if f.Bytes == 0 {
			size = "no notes"
		}
		rows = append(rows, []string{f.Scope, size, f.Path})
	}
	told := "nothing is sent to the model"
	if v.Tokens > 0 {
		told = fmt.Sprintf("about %s of them are sent to the model", Count(v.Tokens, "token"))
	}
	return append(rows, []string{told})
}
