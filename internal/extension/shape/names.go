package shape

// toolToPi gives the name that pi has for a built-in tool. Extensions compare names: one
// that looks for results of "read" must find them.
func toolToPi(name string) string {
	switch name {
	case "Bash":
		return "bash"
	case "Read":
		return "read"
	case "Write":
		return "write"
	case "Edit":
		return "edit"
	case "Grep":
		return "grep"
	case "Glob":
		return "find"
	}
	return name
}

// toolFromPi is the way back.
func toolFromPi(name string) string {
	switch name {
	case "bash":
		return "Bash"
	case "read":
		return "Read"
	case "write":
		return "Write"
	case "edit":
		return "Edit"
	case "grep":
		return "Grep"
	case "find":
		return "Glob"
	}
	return name
}
