package config

import "testing"

func TestTheToolsOfAServerThatAreTaken(t *testing.T) {
	for _, test := range []struct {
		allow, deny []string
		tool        string
		want        bool
	}{
		{nil, nil, "read", true},
		{[]string{}, nil, "read", false},
		{[]string{"read", "list_*"}, nil, "list_all", true},
		{[]string{"read", "list_*"}, nil, "write", false},
		{nil, []string{"*"}, "read", false},
		{[]string{"read"}, []string{"r*"}, "read", false},
	} {
		if got := (Entry{AllowTools: test.allow, DenyTools: test.deny}).Takes(test.tool); got != test.want {
			t.Errorf("%q %q %s: %v", test.allow, test.deny, test.tool, got)
		}
	}
}
