package config

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// Extension is what the manifest of an extension has of servers.
type Extension struct {
	ID        string
	Dir       string // its folder
	File      string // the manifest, as it is shown
	Servers   []byte // a JSON object of servers
	OfProject bool   // the extension is the project's
	// Taken says that a person has an extension of the same name with servers of its own: the
	// rules that they have for those would count for these.
	Taken bool
}

// ExtensionOf reads the servers in the manifest of an extension whose folder has the name
// folder. It returns false where it has none, or cannot be read: whoever loads extensions
// says why.
func ExtensionOf(folder string, manifest []byte) (Extension, bool) {
	var m struct {
		ID  string          `json:"id"`
		MCP json.RawMessage `json:"mcp"`
	}
	if json.Unmarshal(manifest, &m) != nil || !HasServers(m.MCP) {
		return Extension{}, false
	}
	return Extension{ID: cmp.Or(m.ID, folder), Servers: m.MCP}, true
}

// HasServers reports whether the value of the key mcp of a manifest names anything.
func HasServers(value []byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) > 0 && !bytes.Equal(value, []byte("null"))
}
