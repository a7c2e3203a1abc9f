package mcpb

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	mcp "scorel/internal/engine/mcp/config"
)

// option is a value that a bundle asks for.
type option struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Required    bool            `json:"required"`
	Sensitive   bool            `json:"sensitive"`
}

// text returns the default as a text, "" for none or for a list.
func (o option) text() string {
	var s string
	if json.Unmarshal(o.Default, &s) == nil {
		return s
	}
	if raw := string(o.Default); raw != "" && raw != "null" && raw[0] != '[' && raw[0] != '{' {
		return raw // a number, or true
	}
	return ""
}

// command returns the command for this system.
func (b *Bundle) command() command {
	c := b.manifest.Server.Config.command
	over := b.manifest.Server.Config.Platforms[platform()]
	if over.Command != "" {
		c.Command = over.Command
	}
	if over.Args != nil {
		c.Args = over.Args
	}
	if over.Env != nil {
		c.Env = over.Env
	}
	return c
}

// Entry returns the entry of a name that starts the server of the bundle unpacked in dir. What
// the bundle asks for are inputs of the entry. left names the optional values without a
// default: the arguments and variables that consist of one alone are left out. home is the
// person's folder.
//
// Of the environment the entry takes nothing: a dollar that is no variable of bundles is a
// dollar.
func (b *Bundle) Entry(name, dir, home string) (e mcp.Entry, left []string) {
	e = mcp.Entry{Name: name, Type: mcp.TypeStdio}
	used := map[string]bool{}
	open := func(text string) bool { // it is one optional value that nobody has given
		key, ok := strings.CutPrefix(text, "${user_config.")
		if key, ok = cutEnd(key, ok); !ok {
			return false
		}
		o, known := b.manifest.UserConfig[key]
		if !known || o.Required || o.text() != "" {
			return false
		}
		if !slices.Contains(left, key) {
			left = append(left, key)
		}
		return true
	}
	one := func(text string) string { return b.expand(text, name, dir, used) }
	c := b.command()
	e.Command = one(c.Command)
	for _, a := range c.Args {
		if !open(a) {
			e.Args = append(e.Args, one(a))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Env)) {
		if open(c.Env[key]) {
			continue
		}
		if e.Env == nil {
			e.Env = map[string]string{}
		}
		e.Env[key] = one(c.Env[key])
	}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		o := b.manifest.UserConfig[key]
		in := mcp.Input{ID: name + "." + key, Description: o.Title, Default: defaults(o.text(), dir, home), Password: o.Sensitive}
		if in.Description == "" {
			in.Description = o.Description
		}
		if o.Type == "boolean" {
			in.Options = []string{"true", "false"}
		}
		e.Inputs = append(e.Inputs, in)
	}
	return e, left
}

// defaults writes a default of the manifest as a value.
func defaults(text, dir, home string) string {
	return strings.NewReplacer("${__dirname}", dir, "${HOME}", home, "${DESKTOP}", home+"/Desktop", "${DOCUMENTS}", home+"/Documents",
		"${DOWNLOADS}", home+"/Downloads", "${pathSeparator}", "/", "${/}", "/").Replace(text)
}

func cutEnd(key string, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	key, ok = strings.CutSuffix(key, "}")
	return key, ok && !strings.ContainsAny(key, "${}")
}

// expand writes a text of the manifest as one of an entry.
func (b *Bundle) expand(text, name, dir string, used map[string]bool) string {
	var out strings.Builder
	for text != "" {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:i])
		text = text[i:]
		variable, rest, ok := strings.Cut(text, "}")
		key, isOption := strings.CutPrefix(variable, "${user_config.")
		_, known := b.manifest.UserConfig[key]
		switch {
		case ok && variable == "${__dirname":
			out.WriteString(strings.ReplaceAll(dir, "$", "$$"))
			text = rest
		case ok && variable == "${HOME":
			out.WriteString("${userHome}")
			text = rest
		case ok && (variable == "${DESKTOP" || variable == "${DOCUMENTS" || variable == "${DOWNLOADS"):
			folder := strings.ToLower(variable[2:])
			out.WriteString("${userHome}/" + strings.ToUpper(folder[:1]) + folder[1:])
			text = rest
		case ok && (variable == "${pathSeparator" || variable == "${/"):
			out.WriteString("${pathSeparator}")
			text = rest
		case ok && isOption && known && !strings.ContainsAny(key, "${"):
			used[key] = true
			out.WriteString("${input:" + name + "." + key + "}")
			text = rest
		default:
			out.WriteString("$$")
			text = text[1:]
		}
	}
	return out.String()
}
