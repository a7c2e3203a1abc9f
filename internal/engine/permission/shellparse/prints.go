package shellparse

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// exact returns what statements print, where the source tells all of it.
func (w *walker) exact(list []*syntax.Stmt) (string, bool) {
	if w.deep >= maxDeep {
		return "", false
	}
	w.deep++
	defer func() { w.deep-- }()
	var b strings.Builder
	for _, s := range list {
		text, ok := w.exactStmt(s)
		if !ok || b.Len()+len(text) > MaxSource {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}

func (w *walker) exactStmt(s *syntax.Stmt) (string, bool) {
	if s.Background || s.Coprocess || s.Disown {
		return "", false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.exactCall(c, s.Redirs)
	case *syntax.Subshell:
		if len(s.Redirs) == 0 {
			return w.exact(c.Stmts)
		}
	case *syntax.Block:
		if len(s.Redirs) == 0 {
			return w.exact(c.Stmts)
		}
	case *syntax.BinaryCmd:
		if call, ok := c.Y.Cmd.(*syntax.CallExpr); ok && c.Op == syntax.Pipe && len(c.Y.Redirs) == 0 && len(call.Assigns) == 0 && len(call.Args) == 1 && call.Args[0].Lit() == "cat" {
			return w.exactStmt(c.X)
		}
	}
	return "", false
}

func (w *walker) exactCall(c *syntax.CallExpr, redirects []*syntax.Redirect) (string, bool) {
	if len(c.Assigns) > 0 {
		return "", false
	}
	var words []string
	for _, arg := range c.Args {
		lists := w.become(arg)
		if len(lists) != 1 {
			return "", false
		}
		for _, word := range lists[0] {
			if !word.Literal {
				return "", false
			}
			words = append(words, word.Text)
		}
	}
	if len(words) == 0 {
		return "", false
	}
	if words[0] == "cat" {
		if len(words) != 1 || len(redirects) != 1 {
			return "", false
		}
		return w.exactInput(redirects[0])
	}
	if len(redirects) > 0 {
		return "", false
	}
	switch words[0] {
	case "echo":
		return echoes(words[1:])
	case "printf":
		return printfs(words[1:])
	case "true", ":":
		return "", true
	}
	return "", false
}

// exactInput returns the text of a here-document or a here-string.
func (w *walker) exactInput(r *syntax.Redirect) (string, bool) {
	switch r.Op {
	case syntax.WordHdoc:
		whole := w.parts([]fields{{}}, quotedParts(r.Word), true)
		if len(whole) != 1 {
			return "", false
		}
		f := whole[0].end()
		if len(f.done) > 1 || len(f.done) == 1 && f.done[0].Unknown != "" {
			return "", false
		}
		text := ""
		if len(f.done) == 1 {
			text = f.done[0].Text
		}
		return text + "\n", true
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc == nil {
			return "", true
		}
		delimiter := w.source(r.Word)
		bare := strings.Trim(delimiter, `'"\`) == delimiter
		var b strings.Builder
		for _, part := range r.Hdoc.Parts {
			lit, ok := part.(*syntax.Lit)
			if !ok || bare && strings.Contains(lit.Value, `\`) {
				return "", false
			}
			b.WriteString(lit.Value)
		}
		text := b.String()
		if r.Op == syntax.DashHdoc {
			lines := strings.Split(text, "\n")
			for i := range lines {
				lines[i] = strings.TrimLeft(lines[i], "\t")
			}
			text = strings.Join(lines, "\n")
		}
		return text, true
	}
	return "", false
}

// document returns the text of $(cat <<'EOF' … EOF) in double quotes: all shells read it
// alike, and no rule has to allow it. Its end has to be a line of its own.
func (w *walker) document(p *syntax.CmdSubst) (string, bool) {
	if p.Backquotes || p.TempFile || p.ReplyVar || w.inner > 0 || len(p.Stmts) != 1 {
		return "", false
	}
	s := p.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(c.Assigns) > 0 || len(c.Args) != 1 || c.Args[0].Lit() != "cat" || len(s.Redirs) != 1 {
		return "", false
	}
	r := s.Redirs[0]
	delimiter := w.source(r.Word)
	if (r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc) || r.N != nil || !plainDelimiter(delimiter) || len(delimiter) < 3 || (delimiter[0] != '\'' && delimiter[0] != '"') {
		return "", false
	}
	from, to := r.Word.End().Offset(), p.Right.Offset()
	if from > to || to > uint(len(w.src)) {
		return "", false
	}
	body, ok := strings.CutPrefix(w.src[from:to], "\n")
	if !ok {
		return "", false
	}
	end := delimiter[1 : len(delimiter)-1]
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if r.Op == syntax.DashHdoc {
			line = strings.TrimLeft(line, "\t")
			lines[i] = line
		}
		if line != end {
			continue
		}
		if i+1 == len(lines) || strings.Trim(strings.Join(lines[i+1:], ""), " \t") != "" {
			return "", false
		}
		text, ok := w.exactInput(r)
		if want := strings.Join(lines[:i], "\n"); !ok || strings.TrimRight(text, "\n") != strings.TrimRight(want, "\n") {
			return "", false
		}
		return strings.TrimRight(text, "\n"), true
	}
	return "", false
}

// printsHashes reports whether a substitution prints names of commits alone, as
// $(git log --format=%H -1 main) does: none can be taken for an option.
func (w *walker) printsHashes(p *syntax.CmdSubst) bool {
	words := w.literalCall(p, "git")
	if len(words) < 2 {
		return false
	}
	switch words[1] {
	case "rev-parse":
		return !slices.ContainsFunc(words[2:], changesRevParse)
	case "log", "rev-list", "merge-base":
		return listsHashes(words[1], words[2:])
	}
	return false
}

// literalCall returns the words of the only command of a substitution, which is to be of a
// program; nil where it is another, where a word is not known before it runs, and where there
// is more to it than words.
func (w *walker) literalCall(p *syntax.CmdSubst, program string) (words []string) {
	if p.TempFile || p.ReplyVar || len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 {
		return nil
	}
	c, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 || c.Args[0].Lit() != program {
		return nil
	}
	for _, arg := range c.Args {
		lists := w.become(arg)
		if len(lists) != 1 || len(lists[0]) != 1 || !lists[0][0].Literal || w.source(arg) == "" {
			return nil
		}
		words = append(words, lists[0][0].Text)
	}
	return words
}

// changesRevParse reports whether a word may have git rev-parse print something else than the
// name of one commit.
func changesRevParse(word string) bool {
	if word == "" || word[0] == '^' {
		return true
	}
	return word[0] == '-' && !slices.Contains([]string{"--verify", "--short", "-q", "--quiet"}, word)
}

// listsHashes reports whether git log, rev-list or merge-base prints names of commits alone
// with these words.
func listsHashes(command string, words []string) bool {
	hashes := command != "log" // which prints them by a format
	for _, word := range words {
		name, value, has := strings.Cut(word, "=")
		switch {
		case word == "--":
			return hashes
		case !strings.HasPrefix(word, "-"), choosesCommits(word, name, value, has):
		case command == "log" && (name == "--format" || name == "--pretty"):
			value = strings.TrimPrefix(value, "format:")
			if value != "%H" && value != "%h" {
				return false
			}
			hashes = true
		default:
			return false
		}
	}
	return hashes
}

// choosesCommits reports whether an option only says which commits are listed, and in which
// order.
func choosesCommits(option, name, value string, has bool) bool {
	switch option {
	case "--all", "--reverse", "--no-merges", "--merges", "--first-parent", "-n":
		return true
	}
	return digits(option[1:]) || strings.HasPrefix(option, "-n") && digits(option[2:]) ||
		has && (name == "--max-count" || name == "--skip") && digits(value)
}

// echoes returns what echo of bash prints.
func echoes(args []string) (string, bool) {
	end, escaped := "\n", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				end = ""
			case 'e':
				escaped = true
			case 'E':
				escaped = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escaped {
		if strings.Contains(text, `\c`) {
			return "", false
		}
		text = escapes(text)
	}
	return text + end, true
}

// printfs returns what printf prints, for formats whose directives take texts.
func printfs(args []string) (string, bool) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return "", false
	}
	format, rest := args[0], args[1:]
	var b strings.Builder
	for {
		took := false
		for i := 0; i < len(format); i++ {
			switch {
			case format[i] == '\\' && i+1 < len(format):
				end := i + 2
				for end < len(format) && end < i+5 && format[end-1] != '\\' && strings.IndexByte("0123456789abcdefABCDEFx", format[end]) >= 0 {
					end++
				}
				b.WriteString(escapes(format[i:end]))
				i = end - 1
			case format[i] == '%' && i+1 < len(format) && format[i+1] == '%':
				b.WriteByte('%')
				i++
			case format[i] == '%' && i+1 < len(format) && strings.IndexByte("sbd", format[i+1]) >= 0:
				i++
				value := ""
				if len(rest) > 0 {
					value, rest, took = rest[0], rest[1:], true
				}
				if format[i] == 'b' {
					value = escapes(value)
				}
				b.WriteString(value)
			case format[i] == '%':
				return "", false
			default:
				b.WriteByte(format[i])
			}
		}
		if !took || len(rest) == 0 || b.Len() > MaxSource {
			return b.String(), b.Len() <= MaxSource
		}
	}
}

// escapes decodes the escapes of echo -e and printf: those of $'…', and \0 before three
// digits.
func escapes(s string) string {
	return unescapeANSI(strings.ReplaceAll(s, `\0`, `\`))
}
