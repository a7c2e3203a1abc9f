// Package style has the types that say how text looks in a terminal: a [Style], a set of
// them, which is a [Theme], and what frames are drawn with. It knows no theme; those that
// there are, and files of people, are read by package theme of the terminal UI.
//
// All are values, and a theme never changes once it is made.
package style

// Style is how a piece of text looks, as the SGR sequence that begins it; the zero
// value is plain text. Styles do not nest: text inside is written with a style of its
// own, which [Style.With] makes of two.
type Style string

// On returns text in the style, and then the plain style again. Text has no line breaks.
func (s Style) On(text string) string {
	if s == "" || text == "" {
		return text
	}
	return string(s) + text + "\x1b[m"
}

// With returns the style with another one upon it.
func (s Style) With(over Style) Style { return s + over }

// Theme is a set of styles. It has a field for each thing that has a look of its own: they
// are what a file of a theme names, and nothing but values.
type Theme struct {
	// ID is another for every theme that looks different: a name, the number of colours
	// and what else went into it.
	ID   string
	Name string
	Dark bool // made for a dark background
	// Plain says that there is neither animation nor box drawing: for screen readers.
	Plain bool

	Text, Dim, Strong, Accent        Style
	Info, Success, Warning, Error    Style
	Border, BorderFocus              Style
	Selected                         Style // the row of a list that is on
	Match                            Style // what was looked for
	Cursor                           Style // a cell that the cursor is on, where it is drawn
	User, UserMark                   Style // what the person said, and the mark before it
	Assistant, AssistantMark         Style
	Thinking                         Style
	Heading, Link, Code, Quote       Style // of Markdown
	Emphasis, Struck                 Style // of Markdown and elsewhere: slanted, struck through
	CodeBlock, ListMark, Rule        Style
	ToolName, ToolArg, ToolOutput    Style
	ToolRunning, ToolOK, ToolFailed  Style // the mark of a call
	Added, Removed, Changed, Context Style // lines of a diff
	AddedWord, RemovedWord           Style // what of such a line is another
	LineNumber, Hunk                 Style
	Keyword, String, Number, Comment Style // of highlighted code
	Function, Type, Operator         Style
	StatusLine, StatusKey            Style
	ModePlan, ModeEdits, ModeBypass  Style // of permissions
	Chip                             Style // a paste or an image in the editor

	Box Box
}

// Box is what frames and marks are drawn with, a field for each. With [Theme.Plain] they
// are ASCII.
type Box struct {
	Horizontal, Vertical                       string
	TopLeft, TopRight, BottomLeft, BottomRight string
	Bar                                        string // before quoted lines
	Bullet, Arrow, Check, Cross, Dot, Ellipsis string
	Folded, Unfolded                           string   // of what opens
	BarFull, BarEmpty                          string   // of progress
	Branch, LastBranch, Trunk                  string   // of a tree, 3 cells each
	Spinner                                    []string // the pictures of one turn, one without animation
}
