package config

import (
	"fmt"

	mcp "scorel/internal/engine/mcp/config"
)

// maxChannels bounds each list of the table [channels].
const maxChannels = 16

// Channels is the table [channels].
type Channels struct {
	Listen  []mcp.Channel // in the sessions of the serving host
	Limited bool          // only those of Allowed may be used
	Allowed []mcp.Channel
}

// channels takes a list of names of channels.
func channels(to *[]mcp.Channel, e entry) error {
	*to = nil
	want := fmt.Sprintf("a list of at most %d channels such as \"server:chat\"", maxChannels)
	values, ok := e.value.([]any)
	if !ok || len(values) > maxChannels {
		return wrong(e, want)
	}
	for _, v := range values {
		text, _ := v.(string)
		c, err := mcp.ParseChannel(text)
		if err != nil {
			return wrong(e, want)
		}
		*to = append(*to, c)
	}
	return nil
}
