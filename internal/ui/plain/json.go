package plain

import (
	"encoding/json"
	"io"
)

// JSON writes v as JSON on a line of its own. HTML in texts stays as it is.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
