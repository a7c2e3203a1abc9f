package panel

import (
	"testing"

	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

func TestOnlyWhatWasTypedOfAMessageComesBackIntoTheEditor(t *testing.T) {
	attached := protocol.Text(promptsafe.Text("file", ` path="a b.go"`, "package a"))
	image := protocol.Block{Type: protocol.BlockImage, Name: "shot.png", Blob: "b"}
	for _, c := range []struct {
		typed  string
		others []protocol.Block
		ok     bool
	}{
		{"just text", nil, true},
		{`see @"a b.go"`, []protocol.Block{attached}, true},
		{"see @shot.png", []protocol.Block{image}, true},
		{"see", []protocol.Block{image}, false},
		{"see", []protocol.Block{attached}, false},
		{"The prompt is long", []protocol.Block{{Type: protocol.BlockFile, Name: "prompt.txt", Blob: "b"}}, false},
		{"of another client", []protocol.Block{protocol.Text("and more")}, false},
	} {
		text, ok := typedText(append([]protocol.Block{protocol.Text(c.typed)}, c.others...))
		if ok != c.ok || ok && text != c.typed {
			t.Errorf("%q with %v gives %q, %v", c.typed, c.others, text, ok)
		}
	}
}
