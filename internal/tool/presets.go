package tool

import (
	"fmt"
	"slices"
	"strings"
)

// All gives every built-in tool, sorted by name.
func All() []Tool {
	return []Tool{appendDailyTool{}, askTool{}, bashTool{}, editTool{}, executeTool{}, globTool{}, grepTool{}, monitorTool{}, readTool{}, skillTool{}, taskTool{}, taskOutputTool{}, taskStopTool{},
		todoTool{}, webFetchTool{}, webSearchTool{}, writeTool{}}
}

// Select gives the tools of a preset together with those that allow names,
// sorted by name and each once. The presets are coding and all (every tool),
// readonly (those that change nothing and send nothing outside) and none; "" is none. A name that
// nobody has is an error that lists the names.
func Select(preset string, allow []string) ([]Tool, error) {
	var want func(Tool) bool
	switch preset {
	case "coding", "all":
		want = func(Tool) bool { return true }
	case "readonly":
		want = func(t Tool) bool {
			switch t.(type) {
			case askTool, readTool, globTool, grepTool, skillTool, todoTool:
				return true
			}
			return false
		}
	case "none", "":
		want = func(Tool) bool { return false }
	default:
		return nil, fmt.Errorf("%q is no tool preset: there are coding, readonly, all and none", preset)
	}
	all := All()
	var names []string
	for _, t := range all {
		names = append(names, t.Spec().Name)
	}
	for _, name := range allow {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no tool %q: there are %s", name, strings.Join(names, ", "))
		}
	}
	var picked []Tool
	for i, t := range all {
		if want(t) || slices.Contains(allow, names[i]) {
			picked = append(picked, t)
		}
	}
	return picked, nil
}
