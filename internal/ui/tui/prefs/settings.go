package prefs

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"scorel/internal/engine/config"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/theme"
)

// maxSettings bounds tui.toml; a larger one does not count.
const maxSettings = 64 << 10

// maxText bounds a setting that is a text, in bytes.
const maxText = 4 << 10

// Settings are those of the terminal UI.
type Settings struct {
	Theme         string // a name, or auto: dark or light as the terminal's background
	Screen        string // inline or full
	Vim           bool
	WhenBusy      string // what Enter does while a turn runs: followUp or steer
	DoubleEscape  string // rewind, tree or none
	Notifications string // auto, always or off
	Bell          bool
	Mouse         bool
	Plain         bool // neither animation nor box drawing
	ShowThinking  bool
	Editor        string // a command line; "" for $VISUAL and $EDITOR
	Images        string // auto, kitty, iterm, sixel or off
	StatusLine    StatusLine
}

// StatusLine is the command that draws the status line.
type StatusLine struct {
	Command        string // "" for the one that is built in
	RefreshSeconds int    // how often it runs though nothing has changed; 0 for never
	Padding        int    // cells before it
}

// Key describes a setting.
type Key struct {
	Name    string
	Doc     string   // a few words
	Choices []string // all values that there are, or those that are known; nil for others
	Free    bool     // other values than Choices count too
	Default string

	field    func(*Settings) any // *string, *bool or *int
	low, top int                 // of a number
}

// Keys returns every setting, in the order in which they are shown.
func Keys() []Key {
	onOff := []string{"true", "false"}
	keys := []Key{
		{Name: "theme", Doc: "colours: a built-in theme, or one of ~/.scorel/themes", Choices: theme.Builtin(), Free: true, field: func(s *Settings) any { return &s.Theme }},
		{Name: "screen", Doc: "inline keeps the terminal's scrollback, full takes the whole screen", Choices: []string{"inline", "full"}, field: func(s *Settings) any { return &s.Screen }},
		{Name: "vim", Doc: "keys of vi in the editor", Choices: onOff, field: func(s *Settings) any { return &s.Vim }},
		{Name: "whenBusy", Doc: "what sending does while a turn runs: wait for its end, or steer it", Choices: []string{"followUp", "steer"}, field: func(s *Settings) any { return &s.WhenBusy }},
		{Name: "doubleEscape", Doc: "what cancelling twice opens, by default Esc", Choices: []string{"rewind", "tree", "none"}, field: func(s *Settings) any { return &s.DoubleEscape }},
		{Name: "notifications", Doc: "of the desktop, when it waits for you: while the terminal is in the background, always, or never", Choices: []string{"auto", "always", "off"}, field: func(s *Settings) any { return &s.Notifications }},
		{Name: "bell", Doc: "ring when it waits for you", Choices: onOff, field: func(s *Settings) any { return &s.Bell }},
		{Name: "mouse", Doc: "in full screen: the wheel scrolls, a click unfolds, dragging copies", Choices: onOff, field: func(s *Settings) any { return &s.Mouse }},
		{Name: "plain", Doc: "for screen readers: no animation, no box drawing", Choices: onOff, field: func(s *Settings) any { return &s.Plain }},
		{Name: "showThinking", Doc: "what the model thinks, unfolded", Choices: onOff, field: func(s *Settings) any { return &s.ShowThinking }},
		{Name: "editor", Doc: "the command of the external editor, instead of $VISUAL and $EDITOR", field: func(s *Settings) any { return &s.Editor }},
		{Name: "images", Doc: "how images are shown", Choices: []string{"auto", "kitty", "iterm", "sixel", "off"}, field: func(s *Settings) any { return &s.Images }},
		{Name: "statusLine.command", Doc: "a command that gets JSON on stdin and prints the status line", field: func(s *Settings) any { return &s.StatusLine.Command }},
		{Name: "statusLine.refreshSeconds", Doc: "how often it runs by itself; 0 for when something has changed", top: 3600, field: func(s *Settings) any { return &s.StatusLine.RefreshSeconds }},
		{Name: "statusLine.padding", Doc: "blanks before the status line", top: 20, field: func(s *Settings) any { return &s.StatusLine.Padding }},
	}
	d := Defaults()
	for i := range keys {
		keys[i].Default = keys[i].Value(d)
	}
	return keys
}

// Defaults returns the settings without a file.
func Defaults() Settings {
	return Settings{Theme: "auto", Screen: "inline", WhenBusy: "followUp", DoubleEscape: "rewind", Notifications: "auto", Bell: true, Mouse: true, Images: "auto"}
}

// Value returns the value of a key for people, as [Set] takes it.
func (k Key) Value(s Settings) string {
	switch p := k.field(&s).(type) {
	case *string:
		return *p
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	}
	return ""
}

// take sets a key to a value as TOML has it; the error ends a sentence that names the
// key.
func (k Key) take(s *Settings, value any) error {
	switch p := k.field(s).(type) {
	case *string:
		v, ok := value.(string)
		if !ok || !k.Free && k.Choices != nil && !slices.Contains(k.Choices, v) || len(v) > maxText || strings.ContainsFunc(v, unicode.IsControl) {
			return fmt.Errorf("must be %s", k.want())
		}
		*p = v
	case *bool:
		v, ok := value.(bool)
		if !ok {
			return fmt.Errorf("must be %s", k.want())
		}
		*p = v
	case *int:
		v, ok := value.(int64)
		if !ok || v < int64(k.low) || v > int64(k.top) {
			return fmt.Errorf("must be %s", k.want())
		}
		*p = int(v)
	}
	return nil
}

func (k Key) want() string {
	switch {
	case k.top > 0:
		return fmt.Sprintf("a number from %d to %d", k.low, k.top)
	case k.Choices != nil && !k.Free:
		last := len(k.Choices) - 1
		return strings.Join(k.Choices[:last], ", ") + " or " + k.Choices[last]
	}
	return "a text on one line"
}

// Problem is what is wrong with the settings.
type Problem struct {
	Line int // 0 for the whole file
	Text string
}

func (p Problem) String() string { return p.Text }

// Path returns where the settings are in a folder.
func Path(dir string) string { return filepath.Join(dir, "tui.toml") }

// Read reads the settings in a folder. What is wrong is told with its line, and
// everything else counts; without the file they are the default.
func Read(dir string) (Settings, []Problem) {
	name := Path(dir)
	file, err := config.Read(name)
	if _, nowhere := disk.OS().Stat(name); errors.Is(nowhere, disk.ErrNowhere) {
		err = fmt.Errorf("the settings cannot be read, so the default ones are used: %w", nowhere)
	}
	if err == nil && len(file.Data) > maxSettings {
		err = fmt.Errorf("the settings %s are ignored: the file is larger than %d bytes", name, maxSettings)
	}
	if err != nil {
		return Defaults(), []Problem{{Text: err.Error()}}
	}
	s, _, problems := parse(name, file.Data)
	return s, problems
}

// placed is a setting that is in a file.
type placed struct {
	from, to int // the bytes of its value
}

// document is what a change of a file needs to know.
type document struct {
	values map[string]placed
	tables map[string]int // where the line after the header of each table begins
	body   int            // where the first table begins; the length without one
	broken bool
}

// parse reads a file and notes where what stands.
func parse(name string, data []byte) (Settings, document, []Problem) {
	s := Defaults()
	doc := document{values: map[string]placed{}, tables: map[string]int{}, body: len(data)}
	var problems []Problem
	skip := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		skip = 3
	}
	text := data[skip:]
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		line := 0
		why := err.Error()
		if bad, ok := err.(*toml.DecodeError); ok {
			line, _ = bad.Position()
		}
		doc.broken = true
		return s, doc, append(problems, Problem{line, fmt.Sprintf("the settings are not valid TOML: %s (%s:%d)", printable(strings.TrimPrefix(why, "toml: ")), name, line)})
	}
	keys := Keys()
	var p unstable.Parser
	p.Reset(text)
	var table []string
	tell := func(at int, format string, args ...any) {
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		problems = append(problems, Problem{line, printable(fmt.Sprintf(format, args...)) + fmt.Sprintf(" (%s:%d)", name, line)})
	}
	var visit func(path []string, at int, v *unstable.Node)
	visit = func(path []string, at int, v *unstable.Node) {
		if v.Kind == unstable.InlineTable {
			for it := v.Children(); it.Next(); {
				n := it.Node()
				if n.Kind == unstable.KeyValue {
					sub, subAt := keyOf(n)
					visit(append(slices.Clip(path), sub...), subAt, n.Value())
				}
			}
			return
		}
		full := strings.Join(path, ".")
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == full })
		if i < 0 {
			tell(at, "there is no setting %s", full)
			return
		}
		doc.values[full] = placed{skip + int(v.Raw.Offset), skip + int(v.Raw.Offset+v.Raw.Length)}
		if err := keys[i].take(&s, lookUp(tree, path)); err != nil {
			tell(at, "the setting %s %s", full, err)
		}
	}
	for p.NextExpression() {
		n := p.Expression()
		path, at := keyOf(n)
		switch n.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = path
			lineStart := skip + bytes.LastIndexByte(text[:at], '\n') + 1
			doc.body = min(doc.body, lineStart)
			next := len(data)
			if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
				next = skip + at + i + 1
			}
			doc.tables[strings.Join(path, ".")] = next
			known := slices.ContainsFunc(keys, func(k Key) bool { return strings.HasPrefix(k.Name, strings.Join(path, ".")+".") })
			if !known || n.Kind == unstable.ArrayTable {
				tell(at, "there is no table %s of settings", strings.Join(path, "."))
			}
		case unstable.KeyValue:
			if len(table) > 0 && !slices.ContainsFunc(keys, func(k Key) bool { return strings.HasPrefix(k.Name, strings.Join(table, ".")+".") }) {
				continue // told with its table
			}
			visit(append(slices.Clip(table), path...), at, n.Value())
		}
	}
	return s, doc, problems
}

// keyOf returns the parts of a key and where it begins.
func keyOf(n *unstable.Node) (path []string, at int) {
	at = -1
	for it := n.Key(); it.Next(); {
		if at < 0 {
			at = int(it.Node().Raw.Offset)
		}
		path = append(path, string(it.Node().Data))
	}
	return path, max(at, 0)
}

// lookUp returns the value at a path of a tree; nil when there is none.
func lookUp(tree map[string]any, path []string) any {
	var at any = tree
	for _, part := range path {
		table, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = table[part]
	}
	return at
}

// printable takes from a message what a file could put into it to steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, s)
}

// Set changes one setting in the file of a folder, and leaves all else in it as it
// is, comments too. The value is as a person types it; "" is the default for what has
// no choices. The error is a sentence.
func Set(fsys disk.FS, dir, name, value string) error {
	keys := Keys()
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no setting %s", printable(name))
	}
	k := keys[i]
	typed, written, err := k.typed(value)
	if err != nil {
		return err
	}
	if err := fsys.MkdirAll(dir); err != nil {
		return fmt.Errorf("the setting %s is not kept: %w", name, err)
	}
	file := Path(dir)
	err = disk.UpdatePersonal(fsys, file, maxSettings, func(old []byte) ([]byte, error) {
		want, doc, _ := parse(file, old)
		if doc.broken {
			return nil, fmt.Errorf("%s is not valid TOML; correct it by hand", file)
		}
		if err := k.take(&want, typed); err != nil {
			return nil, err
		}
		changed := doc.edit(old, name, written)
		got, after, _ := parse(file, changed)
		if after.broken || got != want {
			return nil, fmt.Errorf("%s is written in a way that cannot be changed from here; set %s in it by hand", file, name)
		}
		return changed, nil
	})
	if err != nil {
		return fmt.Errorf("the setting %s is not kept: %w", name, err)
	}
	return nil
}

// typed reads a value as a person types it, and writes it as TOML.
func (k Key) typed(value string) (typed any, written string, err error) {
	value = strings.TrimSpace(value)
	var s Settings
	switch k.field(&s).(type) {
	case *bool:
		b, perr := strconv.ParseBool(value)
		switch strings.ToLower(value) {
		case "on", "yes":
			b, perr = true, nil
		case "off", "no":
			b, perr = false, nil
		}
		typed, written = b, strconv.FormatBool(b)
		if perr != nil {
			typed = nil
		}
	case *int:
		n, perr := strconv.ParseInt(value, 10, 64)
		typed, written = n, strconv.FormatInt(n, 10)
		if perr != nil {
			typed = nil
		}
	default:
		typed, written = value, quote(value)
	}
	if err := k.take(&s, typed); err != nil {
		return nil, "", fmt.Errorf("the setting %s %w", k.Name, err)
	}
	return typed, written, nil
}

// quote writes a text without control characters as a string of TOML.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// edit returns the file with another value of a setting.
func (d document) edit(old []byte, name, written string) []byte {
	insert := func(at int, line string) []byte {
		if at > 0 && old[at-1] != '\n' {
			line = "\n" + line
		}
		return slices.Concat(old[:at], []byte(line), old[at:])
	}
	if p, ok := d.values[name]; ok {
		return slices.Concat(old[:p.from], []byte(written), old[p.to:])
	}
	table, key, nested := strings.Cut(name, ".")
	if !nested {
		at := d.body
		for at > 0 && at < len(old) && commentAbove(old, at) { // it belongs to the table
			at = bytes.LastIndexByte(old[:at-1], '\n') + 1
		}
		line := name + " = " + written + "\n"
		if at < len(old) {
			line += "\n"
		}
		return insert(at, line)
	}
	if at, ok := d.tables[table]; ok {
		return insert(at, key+" = "+written+"\n")
	}
	line := "[" + table + "]\n" + key + " = " + written + "\n"
	if len(old) > 0 {
		line = "\n" + line
	}
	return insert(len(old), line)
}

// commentAbove reports whether the line above the one that begins at at is a comment.
func commentAbove(data []byte, at int) bool {
	line := data[bytes.LastIndexByte(data[:at-1], '\n')+1 : at]
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("#"))
}
