package config

import (
	"strings"
	"testing"
)

func TestChannelsAreNamedInTwoWays(t *testing.T) {
	for text, want := range map[string]Channel{
		"server:chat": {Server: "chat"}, "plugin:mail": {Plugin: "mail"}, "plugin:mail@official": {Plugin: "mail", Market: "official"},
	} {
		if got, err := ParseChannel(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "chat", "server:", "plugin:", "plugin:@x", "plugin:a@", "plugin:a@b@c", "server:a b", "server:a,b", "Server:a", "server:a\n"} {
		if got, err := ParseChannel(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestAnAdministratorsFileAllowsChannels: what is faulty in it allows none, and hides no faulty
// deny rule.
func TestAnAdministratorsFileAllowsChannels(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`:                                                          true,
		`{"channelsEnabled":true}`:                                    true,
		`{"channelsEnabled":false}`:                                   false,
		`{"channelsEnabled":"yes"}`:                                   false,
		`{"allowedChannels":["server:chat"]}`:                         true,
		`{"allowedChannels":["server:mail"]}`:                         false,
		`{"allowedChannels":["server:chat",7]}`:                       false,
		`{"allowedChannels":"server:chat"}`:                           false,
		`{"channelsEnabled":false,"allowedChannels":["server:chat"]}`: false,
	} {
		set := Merge(Sources{Managed: File{Name: "managed", Data: []byte(text)}})
		if got := set.Channels.Allows("server:chat"); got != want {
			t.Errorf("%s allows it: %v", text, got)
		}
		if faulty := strings.Contains(text, "yes") || strings.Contains(text, "7") || strings.Contains(text, `:"server`); faulty != (len(set.Faults) > 0) {
			t.Errorf("%s has the faults %v", text, set.Faults)
		}
	}
	set := Merge(Sources{Managed: File{Name: "managed", Data: []byte(`{"deniedMcpServers":[{"odd":1}],"allowedChannels":[],"mcpServers":{"db":{"command":"db"}}}`)}})
	if len(set.Entries) != 0 {
		t.Error("a faulty deny rule is forgotten")
	}
}
