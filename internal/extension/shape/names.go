package shape

import (
	"scorel/protocol"
	"slices"
)

// toolToPi returns the name that pi has for a built-in tool. Extensions compare names: one
// that looks for results of "read" must find them.
func toolToPi(name string) string {
	if t := protocol.FindTool(name); t.Name == name && len(t.PiNames) > 0 {
		return t.PiNames[0]
	}
	return name
}

// toolFromPi is the way back.
func toolFromPi(name string) string {
	for _, t := range protocol.Tools() {
		if slices.Contains(t.PiNames, name) {
			return t.Name
		}
	}
	return name
}
