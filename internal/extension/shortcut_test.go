package extension

import (
	"strings"
	"testing"
)

func TestAShortcutIsAKeyWithoutBlanks(t *testing.T) {
	for key, may := range map[string]bool{"ctrl+k": true, "alt+/": true, "f5": true, "-": true, "": false, "ctrl+x k": false, "alt+ü": false, "\x1b": false, strings.Repeat("k", maxName+1): false} {
		if shortcut(key) != may {
			t.Errorf("shortcut(%q) is %t", key, !may)
		}
	}
}
