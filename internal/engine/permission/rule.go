package permission

import (
	"fmt"
	"net"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/net/idna"

	"scorel/internal/engine/permission/shellparse"
	"scorel/protocol"
)

// rule is one parsed rule: a tool, and for some tools what of it.
type rule struct {
	text string // as it was written
	from string // the name of its layer: a file, or the command line
	tool string
	kind Kind // of the tool, where it is built in
	form form
	// of commands
	words  []string
	prefix bool
	dir    string // the folder that it is given for, absolute; "": none is
	// of files: an absolute pattern, and the one that the links in its fixed
	// beginning lead to, "" when there are none
	glob, real string
	// of hosts: lower case, without a dot at the end
	domain string
	// of skills
	name string
}

type form int

const (
	whole   form = iota // the tool, whatever it does
	command             // one simple command, or all that begin with its words
	file
	host
	named // one skill
)

// everyServer is a rule for the tools of all MCP servers, which can only deny.
const everyServer = "mcp__*"

// parser reads rules; Home and root make patterns of files absolute.
type parser struct {
	home, root string
	denies     bool // the rules deny
}

// parse reads one rule. The error names the rule and says what is wrong with it.
func (p parser) parse(text string) (rule, error) {
	text = strings.TrimSpace(text)
	fail := func(format string, args ...any) (rule, error) {
		return rule{}, fmt.Errorf("permission rule %q: %s", text, fmt.Sprintf(format, args...))
	}
	name, arg, has := strings.Cut(text, "(")
	r := rule{text: text, tool: name}
	if name == everyServer && !has {
		if !p.denies {
			return fail("only a deny rule covers all MCP servers; name one, as mcp__server")
		}
		return r, nil
	}
	if !toolName(name) {
		return fail("it does not begin with the name of a tool")
	}
	if known := knownTool(name); known != "" && known != name {
		return fail("the tool is called %s", known)
	}
	info := protocol.FindTool(name)
	r.kind = info.Kind
	if !has {
		return r, nil
	}
	arg, ok := strings.CutSuffix(arg, ")")
	if !ok {
		return fail("the closing parenthesis is missing")
	}
	arg = strings.TrimSpace(arg)
	if arg == "" {
		return fail("there is nothing between the parentheses; write %s for the whole tool", name)
	}
	if arg == "*" {
		return r, nil
	}
	var err error
	switch info.Rule {
	case protocol.RuleCommand:
		err = p.command(&r, arg)
	case protocol.RuleFiles:
		err = p.file(&r, arg)
	case protocol.RuleHost:
		err = r.host(arg)
	case protocol.RuleSkill:
		err = r.skill(arg)
	default:
		return fail("rules for %s take nothing in parentheses", name)
	}
	if err != nil {
		return fail("%s", err)
	}
	return r, nil
}

func toolName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		if !letter && c != '_' && (i == 0 || (c != '-' && c != '.' && c != '*' && (c < '0' || c > '9'))) {
			return false
		}
	}
	// A star is only at the end of the tools of an MCP server.
	star := strings.IndexByte(s, '*')
	return s != "" && len(s) <= 128 && (star < 0 || (star == len(s)-1 && strings.HasPrefix(s, "mcp__") && strings.HasSuffix(s, "__*") && strings.Count(s, "__") == 2))
}

// knownTool returns the right spelling of a tool that is built in.
func knownTool(name string) string {
	for _, known := range protocol.Tools() {
		if strings.EqualFold(known.Name, name) {
			return known.Name
		}
	}
	return ""
}

// toolOf returns the tool whose name is in rules of a form and kind.
func toolOf(form protocol.ToolRule, kind Kind) string {
	for _, t := range protocol.Tools() {
		if t.Rule == form && t.Kind == kind && t.RuleName == "" {
			return t.Name
		}
	}
	return ""
}

// Reads returns the action of a tool that reads a file.
func Reads(file Path) Action {
	return Action{Tool: toolOf(protocol.RuleFiles, Read), Kind: Read, Paths: []Path{file}}
}

// writes returns the action of a tool that writes a file.
func writes(file Path) Action {
	return Action{Tool: toolOf(protocol.RuleFiles, Write), Kind: Write, Paths: []Path{file}}
}

func (p parser) command(r *rule, arg string) error {
	r.form = command
	if dir, rest, ok := cutFolder(arg); ok {
		var err error
		if r.dir, err = p.folder(dir); err != nil {
			return err
		}
		arg = rest
	}
	arg, r.prefix = strings.CutSuffix(arg, ":*")
	words, err := shellparse.Words(arg)
	switch {
	case err != nil && strings.HasSuffix(arg, "*"):
		return fmt.Errorf("wildcards are only possible at the end, as :*; write %s(%s:*)", r.tool, strings.TrimRight(arg, " *"))
	case err != nil:
		return err
	}
	r.words = words
	return nil
}

func (p parser) file(r *rule, arg string) error {
	r.form = file
	switch {
	case arg == "~" || strings.HasPrefix(arg, "~/"):
		if p.home == "" {
			return fmt.Errorf("the home folder is not known")
		}
		arg = escapeGlob(p.home) + arg[1:]
	case strings.HasPrefix(arg, "/"):
	default:
		if p.root == "" {
			return fmt.Errorf("a relative path needs a workspace")
		}
		arg = escapeGlob(p.root) + "/" + strings.TrimPrefix(arg, "./")
	}
	for strings.Contains(arg, "//") { // paths have none, so the pattern would cover nothing
		arg = strings.ReplaceAll(arg, "//", "/")
	}
	if strings.HasSuffix(arg, "/") && arg != "/" {
		arg += "**"
	}
	for _, part := range strings.Split(arg, "/") {
		if part == ".." || part == "." {
			return fmt.Errorf("a pattern may not contain %s", part)
		}
	}
	if !doublestar.ValidatePattern(arg) {
		return fmt.Errorf("the pattern is malformed")
	}
	if Alternatives(arg) > MaxAlternatives {
		return fmt.Errorf("the pattern has more than %d alternatives in its braces; write several rules", MaxAlternatives)
	}
	r.glob = arg
	return nil
}

func escapeGlob(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]{}\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (r *rule) skill(arg string) error {
	r.form, r.name = named, arg
	if strings.ContainsFunc(arg, func(c rune) bool { return c <= ' ' || strings.ContainsRune("/*()", c) }) {
		return fmt.Errorf("write the name of one skill, as in %s(review)", r.tool)
	}
	return nil
}

// forNamed reports whether the rule covers the tool, or just the skill of an action. Of a
// prompt of an MCP server a rule for the tool says nothing: it does not name the server.
func (r rule) forNamed(a Action) bool {
	if a.prompt() && r.form == whole && r.tool == a.Tool {
		return false
	}
	return r.forTools(a.Tool, a.Server) || r.form == named && r.tool == a.Tool && r.name == a.Name
}

// forTightened is forNamed of a rule that denies or asks: for a prompt of an MCP server also
// one for the tool, or for a tool of the server that has the prompt's name.
func (r rule) forTightened(a Action) bool {
	return r.forNamed(a) || a.prompt() && r.form == whole && (r.tool == a.Tool || r.tool == a.Name)
}

func (r *rule) host(arg string) error {
	r.form = host
	name, ok := strings.CutPrefix(arg, "domain:")
	if !ok {
		return fmt.Errorf("write %s(domain:example.com)", r.tool)
	}
	if name = canonicalHost(name); !ascii(name) {
		below, star := strings.CutPrefix(name, "*.")
		only := hostOnly(below)
		to, err := idna.Lookup.ToASCII(only)
		if err != nil {
			return fmt.Errorf("%q is not a host name", name)
		}
		if name = to + strings.TrimPrefix(below, only); star {
			name = "*." + name
		}
	}
	if only := hostOnly(name); only != name && !digits(name[strings.LastIndexByte(name, ':')+1:]) {
		return fmt.Errorf("%q has a port that is not a number", name)
	}
	if rest := strings.TrimPrefix(name, "*."); name == "" || strings.ContainsAny(rest, "/*@ \t") {
		return fmt.Errorf("%q is not a host name", name)
	}
	r.domain = name
	return nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > '~' })
}

// canonicalHost writes a host as rules compare it: lower case, without a dot at
// the end, with the port only when it is not 80 or 443.
func canonicalHost(s string) string {
	name, port, err := net.SplitHostPort(s)
	if err != nil {
		name, port = strings.Trim(s, "[]"), ""
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port == "" || port == "80" || port == "443" {
		return name
	}
	return net.JoinHostPort(name, port)
}

// forTool reports whether a rule for the whole tool covers a tool of this name.
func (r rule) forTool(name string) bool {
	if r.form != whole {
		return false
	}
	if r.tool == name || r.tool == everyServer && strings.HasPrefix(name, "mcp__") {
		return true
	}
	server, ok := strings.CutSuffix(r.tool, "__*")
	if !ok {
		server = r.tool
	}
	return strings.HasPrefix(r.tool, "mcp__") && strings.Count(server, "__") == 1 && strings.HasPrefix(name, server+"__")
}

// forTools is forTool of a tool of an MCP server, "" for another. The name of a tool can be
// cut, so a rule for a whole server goes by the server.
func (r rule) forTools(name, server string) bool {
	if server == "" || r.form != whole || r.tool == name {
		return r.forTool(name)
	}
	return r.tool == everyServer || strings.TrimSuffix(r.tool, "__*") == "mcp__"+server
}

// forFile reports whether the rule covers a file. A rule for Write holds for Edit
// and the other way round, one for Read also for Glob and Grep. A rule that
// tightens and names a folder covers all that is in it.
func (r rule) forFile(kind Kind, abs string, tightens bool) bool {
	if r.form != file {
		return false
	}
	if (r.kind == Write) != (kind == Write) {
		return false
	}
	if r.matches(abs) {
		return true
	}
	if tightens {
		for dir := path.Dir(abs); len(dir) > 1; dir = path.Dir(dir) {
			if r.matches(dir) {
				return true
			}
		}
	}
	return false
}

func (r rule) matches(abs string) bool {
	return doublestar.MatchUnvalidated(r.glob, abs) || r.real != "" && doublestar.MatchUnvalidated(r.real, abs)
}

// follow resolves the links in the part of a file's pattern before its first
// wildcard.
func (r *rule) follow(resolve func(abs string) Path) {
	if r.form != file || resolve == nil {
		return
	}
	fixed, rest := doublestar.SplitPattern(r.glob) // fixed is unescaped
	if last := escaped(rest); last != "" {
		fixed, rest = path.Join(fixed, last), ""
	}
	if real := resolve(fixed).Abs; real != path.Clean(fixed) {
		r.real = path.Join(escapeGlob(real), rest)
	}
}

// escaped returns the name that a pattern without wildcards stands for, "" for one
// with wildcards.
func escaped(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*', '?', '[', '{':
			return ""
		case '\\':
			if i++; i == len(pattern) {
				return ""
			}
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// forHost reports whether the rule covers a host. A rule that tightens also covers
// the names below its own, and without a port all ports.
func (r rule) forHost(name string, tightens bool) bool {
	if r.form != host {
		return false
	}
	name = canonicalHost(name)
	if tightens {
		if _, _, err := net.SplitHostPort(r.domain); err != nil {
			name = hostOnly(name)
		}
	}
	if below, ok := strings.CutPrefix(r.domain, "*."); ok {
		return strings.HasSuffix(name, "."+below)
	}
	return name == r.domain || (tightens && strings.HasSuffix(name, "."+r.domain))
}

// forCall reports whether the rule, one that allows, covers the host of a call: one
// for another tool does not, and one for the names below a domain does not cover
// what has to be named itself.
func (r rule) forCall(a Action) bool {
	return r.tool == a.Tool && r.forHost(a.Host, false) && (!a.Exact || !strings.HasPrefix(r.domain, "*."))
}

func hostOnly(name string) string {
	if only, _, err := net.SplitHostPort(name); err == nil {
		return only
	}
	return name
}

// Split takes a list of rules apart: commas outside parentheses separate them.
// A list whose parentheses do not match is one rule.
func Split(list string) []string {
	var out []string
	depth, from := 0, 0
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				add(list[from:i])
				from = i + 1
			}
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		out = nil
		from = 0
	}
	add(list[from:])
	return out
}
