package config

import "encoding/json"

// FromTOML reads a table of [[mcp.servers]], in which the server is named by the key name.
// LineOf returns the line of a key, that of the table for "". The entry is nil when it
// does not count, which a fault explains.
func FromTOML(file string, table map[string]any, lineOf func(key string) int) (*Entry, []Fault) {
	r := &reader{source: Source{File: file}, scope: ScopeUser, path: "mcp.servers", lineOf: lineOf}
	name, _ := table["name"].(string)
	r.server = name
	data, err := json.Marshal(table)
	if err != nil {
		r.fault(0, "", true, "it has a value that no server has: %v", err)
		return nil, r.faults
	}
	n, err := parseJSON(data)
	if err != nil {
		r.fault(0, "", true, "%v", err)
		return nil, r.faults
	}
	e, ok := r.entry(name, n, 0)
	if !ok {
		return nil, r.faults
	}
	return &e, r.faults
}
