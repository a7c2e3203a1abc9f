package lane

import (
	"fmt"

	"scorel/protocol"
)

// checkContent says why blocks are not the content of a message, whoever sends it: a
// client, an extension, or a hook that changes what they have sent. Field is where it
// stands.
func (l *Lane) checkContent(field string, content []protocol.Block) error {
	if problem := protocol.CheckBlocks(field, content); problem != nil {
		return problem.Err()
	}
	for i, b := range content {
		if b.Blob != "" && !l.cfg.Blobs.Has(b.Blob) {
			return protocol.About(fmt.Sprintf("%s[%d].blob", field, i), "", protocol.CodeInvalidRequest, "The payload %s is not stored here; put it before the message that names it.", b.Blob)
		}
	}
	return nil
}
