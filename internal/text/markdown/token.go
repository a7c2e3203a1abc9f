package markdown

// Kind says what a token is.
type Kind uint8

// The kinds of tokens. Code and Table open a block, to which lines and rows belong until
// its end; Quote and Item open a container, to which all belongs until its End.
const (
	Paragraph Kind = iota + 1
	Heading
	Rule
	HTML // shown as it is
	Code
	CodeLine
	CodeEnd
	Table
	Row
	TableEnd
	Quote
	Item
	End
	Blank // a blank line between blocks
)

// Token is a piece of a document.
type Token struct {
	Kind Kind
	// Text is that of a paragraph (its lines with \n between), a heading, HTML or a line
	// of code; of Code the info string, as it was written.
	Text   string
	Fenced bool     // of Code
	Level  int      // of a heading, from 1 to 6
	List   ListItem // of an item
	Cells  []string // of a row, as many as the table has columns
	Aligns []byte   // of a table: l, c or r for each column
}

// ListItem is what is known of an item of a list.
type ListItem struct {
	Mark   byte // the bullet, or the character after the number
	Number int  // of an ordered one, counted from that of the first
	First  bool // of its list
}

// Ordered reports whether the item has a number.
func (i ListItem) Ordered() bool { return i.Mark == '.' || i.Mark == ')' }
