package complete

import (
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/internal/text/fuzzy"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what is offered.
const (
	maxItems = 200  // of an answer
	maxNames = 1000 // commands; further ones can be typed and are not offered
	maxQuery = 256  // bytes of what is looked for, as the host takes them
	maxValue = 4096 // bytes of a path or an argument; a longer one is left out
	FileHits = 50   // of an answer about files
	maxAgain = 20   // questions that are asked once more because the host was still looking
)

// Question is what a list wants to know. The answer goes to the method of the same
// name as its kind, with its number.
type Question struct {
	Number int
	Kind   QuestionKind
	Query  string // of Files
	Name   string // of Arguments: the command
	Args   string // of Arguments: as far as they are typed
}

// QuestionKind says what is asked.
type QuestionKind int

// The kinds of questions.
const (
	Files     QuestionKind = iota // list_files
	Commands                      // list_commands; asked once, and again after [List.Forget]
	Arguments                     // complete_command
	Words                         // complete_input; Query is the line before the cursor
)

// Edit is what a key does to the text: Old, which is before the cursor, becomes
// New. With Send set the text is then complete, and to be sent.
type Edit struct {
	Old, New string
	Send     bool
}

// item is something that may be typed.
type item struct {
	value   string // what it becomes in the text
	label   string // safe to show
	hint    string
	about   string
	refused bool // it cannot be used now
	plain   bool // a command that takes no arguments
}

// List is what is offered. The zero value offers nothing; make it with [New].
type List struct {
	own      []protocol.CommandInfo // of the client
	commands []protocol.CommandInfo // with those of the host, by name
	asked    bool                   // they were asked for

	token     token
	dismissed place // of a token whose list somebody closed
	number    int   // of the newest question
	again     int   // how often the question was asked once more
	answered  int   // the number of the answer that is shown
	answerTo  token // what that was about
	answer    []item
	more      bool // there is more than the answer
	failed    bool
	before    string // the line before the cursor
	prefix    string // what an answer about words replaces

	items []item // what is offered
	on    int    // the one that is selected
	moved bool   // somebody selected it
	top   int
}

// New makes a list that knows the client's own commands, which are before the
// host's of the same name.
func New(own []protocol.CommandInfo) *List {
	l := &List{own: own}
	l.merge(nil)
	return l
}

// Forget makes the commands be asked for again, as after a reload.
func (l *List) Forget() { l.asked = false }

// Open reports whether something is offered.
func (l *List) Open() bool { return len(l.items) > 0 }

// Update says what is typed now. It returns what is to be asked, nil for nothing.
func (l *List) Update(in Input) *Question {
	t := read(in)
	same := t == l.token
	if t.place != l.token.place {
		l.answer, l.more, l.failed = nil, false, false
		l.answered = l.number // what was asked for another place does not count here
	}
	l.token, l.before = t, in.Before
	if l.dismissed != t.place {
		l.dismissed = place{}
	}
	if l.closed() {
		l.items = nil
		return nil
	}
	if same && l.items != nil {
		return nil
	}
	l.on, l.top, l.moved, l.again = 0, 0, false, 0
	l.offer()
	return l.question()
}

// closed says that nothing is being typed that could be completed, or that somebody
// has closed the list of it.
func (l *List) closed() bool { return l.token.kind == nothing || l.dismissed == l.token.place }

func (l *List) question() *Question {
	t := l.token
	switch t.kind {
	case command:
		if l.asked {
			return nil
		}
		l.asked = true
		l.number++
		return &Question{Number: l.number, Kind: Commands}
	case argument:
		if c := l.find(t.name); c == nil || !c.Completes || len(t.query) > maxValue {
			if c == nil && !l.asked {
				l.asked = true
				l.number++
				return &Question{Number: l.number, Kind: Commands}
			}
			return nil
		}
		l.number++
		return &Question{Number: l.number, Kind: Arguments, Name: t.name, Args: t.query}
	case file:
		if len(t.query) > maxQuery {
			return nil
		}
		l.number++
		return &Question{Number: l.number, Kind: Files, Query: t.query}
	case word:
		l.number++
		return &Question{Number: l.number, Kind: Words, Query: l.before}
	}
	return nil
}

func (l *List) find(name string) *protocol.CommandInfo {
	i := slices.IndexFunc(l.commands, func(c protocol.CommandInfo) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &l.commands[i]
}

// Commands takes the host's commands; nil when they could not be had, and are to be
// asked for again. What it gives is to be asked then: the arguments of a command
// that was not known before.
func (l *List) Commands(list *protocol.CommandList) *Question {
	if list == nil {
		l.asked = false
		return nil
	}
	l.merge(list.Commands)
	switch l.token.kind {
	case command:
		l.refresh()
	case argument:
		if !l.closed() && l.answer == nil {
			return l.question()
		}
	}
	return nil
}

func (l *List) merge(host []protocol.CommandInfo) {
	l.commands = slices.Clone(l.own)
	for _, c := range host[:min(len(host), maxNames)] {
		typable := c.Name != "" && display.Line(c.Name) == c.Name && !strings.Contains(c.Name, " ")
		if typable && !slices.ContainsFunc(l.own, func(o protocol.CommandInfo) bool { return o.Name == c.Name }) {
			l.commands = append(l.commands, c)
		}
	}
	slices.SortStableFunc(l.commands, func(a, b protocol.CommandInfo) int { return strings.Compare(a.Name, b.Name) })
}

// Files takes an answer about files; nil when there was none. What it gives is to be
// asked then: the same once more, when the host has not yet looked at all files. It
// answers that when it has found more, or after a moment.
func (l *List) Files(number int, list *protocol.FileList) *Question {
	if !l.takes(number, file) {
		return nil
	}
	l.answer, l.more, l.failed = l.answer[:0:0], false, list == nil
	if list != nil {
		l.more = list.More
		for _, path := range list.Files {
			if len(path) <= maxValue && len(l.answer) < maxItems && !strings.ContainsAny(path, "\"\n\r") {
				l.answer = append(l.answer, item{value: path, label: display.Line(path)})
			}
		}
	}
	l.refresh()
	if list != nil && list.More && len(list.Files) < FileHits && number == l.number && l.again < maxAgain {
		l.again++
		return l.question()
	}
	return nil
}

// Arguments takes an answer about arguments; nil when there was none.
func (l *List) Arguments(number int, list *protocol.CompletionList) {
	l.completions(number, argument, list)
}

// Words takes an answer of extensions about a word; nil when there was none.
func (l *List) Words(number int, list *protocol.CompletionList) { l.completions(number, word, list) }

func (l *List) completions(number int, k kind, list *protocol.CompletionList) {
	if !l.takes(number, k) {
		return
	}
	if l.prefix = ""; list != nil {
		l.prefix = list.Prefix
	}
	l.answer, l.more, l.failed = l.answer[:0:0], false, list == nil
	if list != nil {
		for _, c := range list.Items {
			if len(c.Value) > maxValue || len(l.answer) >= maxItems || strings.ContainsAny(c.Value, "\n\r") {
				continue
			}
			label := c.Label
			if label == "" {
				label = c.Value
			}
			l.answer = append(l.answer, item{value: c.Value, label: display.Line(label), about: display.Line(c.Description)})
		}
	}
	l.refresh()
}

// takes reports whether an answer counts.
func (l *List) takes(number int, k kind) bool {
	if l.token.kind != k || number <= l.answered || number > l.number || l.closed() {
		return false
	}
	l.answered = number
	if l.answerTo = l.token; number != l.number {
		l.answerTo.query = "\x00" // of what was typed before: what does not fit now is filtered out
	}
	return true
}

// refresh offers again, and keeps what somebody has selected.
func (l *List) refresh() {
	if l.closed() {
		return
	}
	var on item
	if l.on < len(l.items) {
		on = l.items[l.on]
	}
	l.offer()
	i := slices.IndexFunc(l.items, func(it item) bool { return it.value == on.value })
	if !l.moved || i < 0 {
		l.on, l.top, l.moved = 0, 0, false
		return
	}
	l.on = i
}

// offer filters what is known by what is typed.
func (l *List) offer() {
	l.items = nil
	switch t := l.token; t.kind {
	case command:
		l.items = l.fitting(t.query)
	case word: // what is typed after that is asked for again
		if t == l.answerTo && !(len(l.answer) == 1 && l.answer[0].value == t.text) {
			l.items = l.answer
		}
	case argument:
		if t == l.answerTo {
			l.items = l.answer
			return
		}
		for _, it := range l.answer {
			if containsFold(it.value, t.query) {
				l.items = append(l.items, it)
			}
		}
	case file:
		if t == l.answerTo {
			l.items = l.answer
			return
		}
		var b fuzzy.Builder
		for _, it := range l.answer {
			b.Add(it.value)
		}
		paths, _ := b.List().Find(t.query, maxItems)
		for _, path := range paths {
			l.items = append(l.items, item{value: path, label: display.Line(path)})
		}
	}
}

// fitting returns the commands that a query may mean: those that begin with it, then
// those with a part that does, then those in which its letters stand.
func (l *List) fitting(query string) []item {
	var ranks [4][]item
	small := strings.ToLower(query)
	for _, c := range l.commands {
		name := strings.ToLower(c.Name)
		rank := 0
		switch {
		case name == small:
		case strings.HasPrefix(name, small):
			rank = 1
		case part(name, small):
			rank = 2
		case len(small) > 1 && letters(name, small):
			rank = 3
		default:
			continue
		}
		it := item{value: c.Name, label: "/" + display.Line(c.Name), hint: display.Line(c.ArgumentHint), about: display.Line(c.Description),
			plain: c.ArgumentHint == "" && !c.Completes}
		if c.Refused != "" {
			it.refused, it.about = true, display.Line(c.Refused)
		}
		if c.Source != "" && c.Source != protocol.CommandBuiltin {
			from := display.Line(string(c.Source))
			if c.Scope != "" {
				from = display.Line(c.Scope) + " " + from
			}
			it.about = strings.TrimSpace(it.about + " (" + from + ")")
		}
		ranks[rank] = append(ranks[rank], it)
	}
	return slices.Concat(ranks[:]...)
}

// part reports whether a part of a name, after a - : _ or ., begins with a text.
func part(name, text string) bool {
	for i := 1; i < len(name); i++ {
		if strings.IndexByte("-:_.", name[i-1]) >= 0 && strings.HasPrefix(name[i:], text) {
			return true
		}
	}
	return false
}

func letters(name, text string) bool {
	for _, r := range text {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+1:]
	}
	return true
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// Hint returns the arguments that the command before the cursor takes while none are
// typed, for the editor's ghost; "" for nothing.
func (l *List) Hint() string {
	if l.token.kind == argument && l.token.query == "" {
		if c := l.find(l.token.name); c != nil {
			return display.Line(c.ArgumentHint)
		}
	}
	return ""
}

// Do does an action while the list is open; it is false for one that is not its own,
// and Enter is not where what is typed is complete. The edit is nil when the text
// stays.
func (l *List) Do(a keymap.Action) (edit *Edit, handled bool) {
	if !l.Open() {
		return nil, false
	}
	switch a {
	case keymap.Up, keymap.ListUp:
		l.on, l.moved = (l.on+len(l.items)-1)%len(l.items), true
	case keymap.Down, keymap.ListDown:
		l.on, l.moved = (l.on+1)%len(l.items), true
	case keymap.Cancel, keymap.ListClose:
		l.Dismiss()
	case keymap.Complete:
		if edit := l.common(); edit != nil {
			return edit, true
		}
		return l.pick(false), true
	case keymap.Submit, keymap.ListPick:
		if l.whole() {
			return nil, false
		}
		return l.pick(true), true
	default:
		return nil, false
	}
	return nil, true
}

// Dismiss closes the list until something else is being typed.
func (l *List) Dismiss() {
	l.dismissed = l.token.place
	l.items = nil
}

// whole says that Enter means what is typed, not what is selected.
func (l *List) whole() bool {
	it := l.items[l.on]
	switch l.token.kind {
	case command:
		return it.value == l.token.query
	case argument, word: // it may be anything
		return !l.moved
	}
	return quote(it.value) == l.token.text
}

// pick puts what is selected into the text.
func (l *List) pick(enter bool) *Edit {
	it := l.items[l.on]
	e := &Edit{Old: l.token.text}
	switch l.token.kind {
	case command:
		e.New = "/" + it.value
		if e.Send = enter && it.plain && !it.refused; !e.Send {
			e.New += " "
		}
	case argument:
		e.New = it.value
	case word: // which has no end of its own
		e.Old, e.New = l.prefix, it.value
		l.Dismiss()
	case file:
		e.New = quote(it.value) + " "
	}
	return e
}

// common returns what all that is offered, and begins with what is typed, has in
// common; nil when that is no more than is typed.
func (l *List) common() *Edit {
	t := l.token
	if l.moved || l.more || t.kind == word || t != l.answerTo && t.kind != command {
		return nil
	}
	common, n := "", 0
	for _, it := range l.items {
		if !strings.HasPrefix(it.value, t.query) {
			continue
		}
		if n++; n == 1 {
			common = it.value
		}
		for !strings.HasPrefix(it.value, common) {
			_, size := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-size]
		}
	}
	if n < 2 || len(common) <= len(t.query) {
		return nil
	}
	switch {
	case t.kind == command:
		common = "/" + common
	case t.kind == file && (strings.ContainsAny(common, " \t") || strings.HasPrefix(t.text, `@"`)):
		common = `@"` + common
	case t.kind == file:
		common = "@" + common
	}
	return &Edit{Old: t.text, New: common}
}
