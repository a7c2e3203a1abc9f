package lane

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// thinkWord in a message of a person has the model think as much as it can for one turn.
const thinkWord = "ultrathink"

// thinkFor sets how much the model thinks from now on in the turn, by the message that
// opens it or that a queue has added: as much as it can where the message says so, else as
// the session does. What works for another session follows that one's orders, which no
// person wrote.
func (h *turnHost) thinkFor(content []protocol.Block) {
	h.t.view.thinking, h.t.view.said = "", ""
	h.thinkMore(content)
}

// thinkMore raises the level where a message says so, for the rest of the turn.
func (h *turnHost) thinkMore(content []protocol.Block) {
	t := h.t
	t.view.said = said(t.view.said, content)
	if t.config.Above != nil || t.view.thinking != "" || !saysThink(content) {
		return
	}
	info := t.config.Models.Main.Info()
	most := info.Level(model.ThinkingMax)
	if most == model.ThinkingOff {
		h.l.notices.Notify("", "info", thinkWord+": "+info.Ref+" has no thinking levels, so nothing changes.")
		return
	}
	t.view.thinking = model.ThinkingMax // a fallback has levels of its own
	if most != info.Level(t.config.Models.Thinking) {
		h.l.notices.Notify("", "info", thinkWord+": the thinking level is "+string(most)+" for this turn.")
	}
}

// maxSaid is how much of a message is kept to find tools for it, in bytes.
const maxSaid = 1000

// said adds the texts of a message to what was said before, and keeps the last of it.
func said(before string, content []protocol.Block) string {
	for _, b := range content {
		if b.Type == protocol.BlockText {
			text := b.Text
			if len(text) > maxSaid {
				text = strings.ToValidUTF8(text[:maxSaid], "")
			}
			before += "\n" + text
		}
	}
	if len(before) > maxSaid {
		before = strings.ToValidUTF8(before[len(before)-maxSaid:], "")
	}
	return before
}

// saysThink reports whether a text of a message has the word outside of code and of what
// it quotes.
func saysThink(content []protocol.Block) bool {
	for _, b := range content {
		if b.Type == protocol.BlockText && hasThinkWord(b.Text) {
			return true
		}
	}
	return false
}

// hasThinkWord reports whether text has the word, in any case, outside of fenced and
// indented blocks, of quoted lines, and of backticks and quotation marks within a line.
func hasThinkWord(text string) bool {
	if len(text) < len(thinkWord) {
		return false
	}
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if mark := fenceOf(trimmed); mark != "" {
			fence = mark
			continue
		}
		if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(trimmed, ">") {
			continue
		}
		if hasWord(unquoted(line)) {
			return true
		}
	}
	return false
}

// fenceOf returns the marks that begin a fenced block, "" where a line begins none.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && (mark == "~" || !strings.Contains(line[n:], mark)) {
			return line[:n]
		}
	}
	return ""
}

// quotes are the marks that end what others begin.
var quotes = map[rune]rune{'`': '`', '"': '"', '“': '”', '„': '“', '«': '»'}

// unquoted returns a line without what is between backticks or quotation marks. A mark
// without its end counts as text.
func unquoted(line string) string {
	var out strings.Builder
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		end, ok := quotes[r]
		if !ok {
			out.WriteString(line[i : i+n])
			i += n
			continue
		}
		at := strings.IndexRune(line[i+n:], end)
		if at < 0 {
			out.WriteString(line[i:])
			break
		}
		out.WriteByte(' ')
		i += n + at + utf8.RuneLen(end)
	}
	return out.String()
}

// hasWord reports whether the word is in a line, with neither letters nor what joins names
// and paths beside it.
func hasWord(line string) bool {
	line = strings.ToLower(line)
	for at := 0; ; {
		i := strings.Index(line[at:], thinkWord)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(line[:at])
		at += len(thinkWord)
		after, n := utf8.DecodeRuneInString(line[at:])
		next, _ := utf8.DecodeRuneInString(line[at+n:])
		joined := joins(after) || after == '.' && joins(next) || after == '/'
		if !joins(before) && !strings.ContainsRune("/.@#$", before) && !joined {
			return true
		}
	}
}

// joins reports whether a character continues a name; there is none at the end of a text.
func joins(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}
