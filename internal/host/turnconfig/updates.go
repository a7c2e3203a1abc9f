package turnconfig

import (
	"fmt"
	"strings"

	"scorel/internal/host/mcpservers"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

// maxUpdated is how many resources that have changed are named at once.
const maxUpdated = 20

// resourceUpdates tells a model which resources of MCP servers have changed since they were
// read: their addresses, never what they have.
type resourceUpdates struct {
	take   func() []mcpservers.Updated // nil for none
	untake func()                      // what was taken last was not told; nil as take is
}

// items returns what the model has to be told: nothing, or one item.
func (r resourceUpdates) items() []protocol.Item {
	if r.take == nil {
		return nil
	}
	list := r.take()
	if len(list) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("These resources of MCP servers have changed since they were read. Read one again if you need it as it is now:")
	for i, u := range list {
		if i == maxUpdated {
			fmt.Fprintf(&b, "\n- and %d more", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s of the server %s", promptsafe.Escape(u.URI), u.Server)
	}
	return []protocol.Item{{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginSystem, Visibility: protocol.VisibilityHidden, Content: b.String()}}
}
