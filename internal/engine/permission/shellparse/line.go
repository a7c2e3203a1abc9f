package shellparse

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// MaxSource is the longest source in bytes that is looked into. Longer ones are
// an error: nobody reads them in a question, and nesting costs stack.
const MaxSource = 32 << 10

// Line is a source taken apart.
type Line struct {
	// Steps are the simple commands in the order in which bash may start them,
	// those in substitutions before the command that they belong to.
	Steps []Step
	// Ask says why no rule may allow the line; "" when its steps decide.
	Ask string
}

// Step is one simple command. One without words stands for the redirections of
// a compound command, or for something that is not a command but changes the shell.
type Step struct {
	Words     []Word
	Redirects []Redirect
	// Input is what the step reads from its input, where the text of the source tells it:
	// here-documents, here-strings, and what echo and printf give to a pipe.
	Input []string
	// Ask says why no rule may allow the step; "" when one may.
	Ask string
	// Assigns says that variables are set in front of the command.
	Assigns bool
	// Behind is the step that certainly was the last to change the working directory
	// before this one, a cd that succeeded (cd x && …): its index plus one, 0 when that
	// cannot be told.
	Behind int
	// Loop says that the step is in the body of a loop.
	Loop bool
	// Test says that the step only evaluates a condition ([[ … ]]).
	Test bool
	// Becomes are the lists of words that bash may make of Words, as far as the source
	// tells; nil when Words are what they are.
	Becomes [][]Word
	// Unknown is a part of the step of which the source does not tell what it would run;
	// "" when there is none.
	Unknown string
	// Evaluates are texts that bash expands once more.
	Evaluates []string
	// Fed is what gives the step its input, where the source does not tell the text.
	Fed string
	// Guess says that the step may be no command at all.
	Guess bool
	// Source is the step as it was written.
	Source string
}

// Text returns the words of the step for people, joined by spaces: for one without words
// what was written.
func (s Step) Text() string {
	if len(s.Words) == 0 {
		return s.Source
	}
	words := make([]string, len(s.Words))
	for i, w := range s.Words {
		words[i] = w.Text
	}
	return strings.Join(words, " ")
}

// Word is one word of a command.
type Word struct {
	// Text is the word without its quotes. Expansions stand as they were written.
	Text string
	// Literal says that bash passes on exactly Text.
	Literal bool
	// Tilde says that Text begins with a tilde that bash replaces.
	Tilde bool
	// Single says that one word comes out of it, whatever expansions give.
	Single bool
	// Prints is what a substitution in the word prints, where its text tells it.
	Prints string
	// Operand says that, whatever expansions give, no word that comes out of it
	// begins with a dash.
	Operand bool
	// Unknown is the first part of the word, as it was written, of which the source does
	// not tell what bash makes of it; "" when there is none. Wildcards are none.
	Unknown string
	// Feeds is a process substitution in the word whose text cannot be known.
	Feeds string
}

// Effect returns what a redirection does.
type Effect int

// The effects of redirections.
const (
	Reads      Effect = iota // reads the target
	Writes                   // writes the target
	Descriptor               // duplicates or closes a descriptor, or gives text: no file
)

// Redirect is one redirection.
type Redirect struct {
	Effect Effect
	Target Word // of Reads and Writes
}

// Parse takes src apart. It fails for what bash would not accept, for what is
// longer than [MaxSource], and for bytes that bash and this parser may read
// differently (control characters, invalid UTF-8).
func Parse(src string) (Line, error) { return parse(src, nil) }

// ParseWith is Parse of a source that a shell is given with parameters: $0, and what
// follows.
func ParseWith(src string, params []string) (Line, error) { return parse(src, params) }

func parse(src string, params []string) (Line, error) {
	if len(src) > MaxSource {
		return Line{}, fmt.Errorf("the command is longer than %d bytes", MaxSource)
	}
	if !utf8.ValidString(src) {
		return Line{}, errors.New("the command is not valid UTF-8")
	}
	for _, r := range src {
		if (r < ' ' && r != '\n' && r != '\t') || r >= 0x7f && r <= 0x9f {
			return Line{}, fmt.Errorf("the command contains the control character %U", r)
		}
	}
	file, err := parsed(src)
	if err != nil {
		return Line{}, fmt.Errorf("the command cannot be parsed: %w", err)
	}
	if !continues(src, file) {
		return Line{}, errors.New("a line ends with a backslash where bash may read it otherwise than it looks; put a space before the backslash, and no # or here-document near it")
	}
	w := walker{src: src, vars: variables{values: map[string][]value{}, first: map[string]uint{}, open: map[string]bool{}, counts: map[string]bool{}, integer: map[string]bool{"RANDOM": true, "OPTIND": true, "SECONDS": true, "HISTCMD": true}, params: params, fixed: params != nil}}
	w.survey(file)
	w.stmts(file.Stmts)
	if w.hidden != "" || len(w.evaluates) > 0 {
		w.add(Step{Test: true, Source: w.hidden})
	}
	return Line{Steps: w.steps, Ask: w.ask}, nil
}

// maxFront is how many lines at the end of a source Front leaves out at most.
const maxFront = 50

// Front takes apart the lines of a source that Parse refuses which are before
// what is wrong with it: bash runs each line before it reads the next one. It is
// empty when there are none, or when they cannot be told.
func Front(src string) Line {
	src = src[:min(len(src), MaxSource)]
	for range maxFront {
		end := strings.LastIndexByte(src, '\n')
		if end < 0 {
			break
		}
		src = src[:end]
		if line, err := Parse(src); err == nil {
			return line
		}
	}
	return Line{}
}

// Words reads text as literal words, as a rule gives them. It fails for anything
// that is not one simple command of literal words.
func Words(text string) ([]string, error) {
	line, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if line.Ask != "" || len(line.Steps) != 1 || len(line.Steps[0].Words) == 0 || len(line.Steps[0].Redirects) > 0 || line.Steps[0].Assigns {
		return nil, errors.New("it is not one simple command")
	}
	var words []string
	for _, w := range line.Steps[0].Words {
		if !w.Literal {
			return nil, fmt.Errorf("the word %q is not literal", w.Text)
		}
		words = append(words, w.Text)
	}
	return words, nil
}

// Quote writes words so that [Words] and bash read them back.
func Quote(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if plain(w) {
			b.WriteString(w)
			continue
		}
		b.WriteByte('\'')
		b.WriteString(strings.ReplaceAll(w, "'", `'\''`))
		b.WriteByte('\'')
	}
	return b.String()
}

func plain(w string) bool {
	if w == "" || syntax.IsKeyword(w) {
		return false
	}
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("-_./:,+@%", c) >= 0:
		case c == '=' && i > 0 && w[0] == '-':
		default:
			return false
		}
	}
	return true
}
