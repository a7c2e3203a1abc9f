package config

// Chrome is the name of the preset server that drives the person's own Chrome.
const Chrome = "mcp-chrome"

// Presets returns the servers that are there without a file, all switched off: an entry of the
// same name in a file counts before one. Mcp-chrome is the server of a Chrome extension
// (github.com/hangwin/mcp-chrome), whose address is the extension's default; MCP_CHROME_URL is
// another one.
func Presets() []Entry {
	return []Entry{{Name: Chrome, Scope: ScopePreset, Source: Source{File: "built in"}, Type: TypeHTTP, URL: "${MCP_CHROME_URL:-http://127.0.0.1:12306/mcp}", Disabled: true,
		Advice: "install the Chrome extension mcp-chrome (github.com/hangwin/mcp-chrome) and its bridge (npm install -g mcp-chrome-bridge), start Chrome, and press Connect in the extension"}}
}

// SwitchedOn returns the text of a file of a session that switches servers on.
func SwitchedOn(names ...string) string {
	text := `{"enabled":{`
	for i, name := range names {
		if i > 0 {
			text += ","
		}
		text += quote(name) + ":true"
	}
	return text + "}}"
}
