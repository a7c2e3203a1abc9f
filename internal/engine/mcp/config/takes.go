package config

import "slices"

// Takes reports whether a tool of the server, by the name that the server has for it, may
// be used: it is in AllowTools, where there is one, and not in DenyTools.
func (e Entry) Takes(tool string) bool {
	fits := func(pattern string) bool { return glob(pattern, tool) }
	return (e.AllowTools == nil || slices.ContainsFunc(e.AllowTools, fits)) && !slices.ContainsFunc(e.DenyTools, fits)
}
