package display

import (
	"testing"

	"scorel/protocol"
)

func TestBelowNamesTheFolderOfTheFirstSessionUnderAFolder(t *testing.T) {
	in := func(dirs ...string) (list []protocol.SessionSummary) {
		for _, d := range dirs {
			list = append(list, protocol.SessionSummary{Meta: protocol.Meta{WorkDir: d}})
		}
		return list
	}
	for _, c := range []struct {
		sessions []protocol.SessionSummary
		want     string
	}{
		{in("/elsewhere", "/home/u/other", "/home/u/shop/demo/x", "/home/u/shop/b"), "demo/x"},
		{in("/home/u/shop", "/home/u", "/home/u/shopping", "", "demo"), ""},
		{in("/home/u/shop/..x"), "..x"},
		{in("/home/u/shop/a\x1b[2J\nb"), "a b"},
		{nil, ""},
	} {
		if got := Below(c.sessions, "/home/u/shop"); got != c.want {
			t.Errorf("%v: %q, want %q", c.sessions, got, c.want)
		}
	}
}
