package repository

import (
	"errors"
	"strings"
)

// setting is one line of a configuration: the key with section and name in lower case
// and the subsection as it is written, and its value.
type setting struct{ key, value string }

var errConfig = errors.New("it is not a configuration that is read with certainty")

// readConfig reads a configuration file. A missing one is an error that is fs.ErrNotExist.
func readConfig(name string) ([]setting, error) {
	data, err := ReadSmall(name, maxConfig)
	if err != nil {
		return nil, err
	}
	return parseConfig(string(data))
}

// parseConfig reads the syntax of git-config(1). Whatever Git could read differently is
// an error.
func parseConfig(text string) ([]setting, error) {
	p := configParser{text: strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")}
	for {
		p.space()
		switch c := p.next(); {
		case c == 0:
			if p.at > len(p.text) {
				return p.out, nil
			}
			return nil, errConfig
		case c == '\n':
		case c == '#' || c == ';':
			p.comment()
		case c == '[':
			if !p.header() {
				return nil, errConfig
			}
		case letter(c):
			p.at--
			if !p.variable() {
				return nil, errConfig
			}
		default:
			return nil, errConfig
		}
	}
}

type configParser struct {
	text    string
	at      int
	section string // with the dot at its end
	out     []setting
}

// next returns the next byte and 0 at the end, where at is beyond the text.
func (p *configParser) next() byte {
	p.at++
	if p.at > len(p.text) {
		return 0
	}
	return p.text[p.at-1]
}

func (p *configParser) peek() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *configParser) space() {
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
}

func (p *configParser) comment() {
	for c := p.peek(); p.at < len(p.text) && c != '\n'; c = p.peek() {
		p.at++
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func nameByte(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '-' }

// header reads [section], [section.sub] or [section "sub"] after the bracket.
func (p *configParser) header() bool {
	from := p.at
	for nameByte(p.peek()) || p.peek() == '.' {
		p.at++
	}
	name := strings.ToLower(p.text[from:p.at])
	if name == "" {
		return false
	}
	if p.peek() == ']' {
		p.at++
		p.section = name + "."
		return true
	}
	if p.peek() != ' ' && p.peek() != '\t' {
		return false
	}
	p.space()
	if p.next() != '"' {
		return false
	}
	var sub strings.Builder
	for {
		c := p.next()
		switch c {
		case 0, '\n':
			return false
		case '"':
			p.section = name + "." + sub.String() + "."
			return p.next() == ']'
		case '\\':
			if c = p.next(); c == 0 || c == '\n' {
				return false
			}
		}
		sub.WriteByte(c)
	}
}

// variable reads a name and its value; a name alone is true.
func (p *configParser) variable() bool {
	from := p.at
	for nameByte(p.peek()) {
		p.at++
	}
	s := setting{key: p.section + strings.ToLower(p.text[from:p.at])}
	if p.section == "" {
		return false
	}
	p.space()
	switch c := p.next(); c {
	case '\n', 0:
		s.value = "true"
	case '=':
		var ok bool
		if s.value, ok = p.value(); !ok {
			return false
		}
	default:
		return false
	}
	p.out = append(p.out, s)
	return true
}

// value reads a value up to the end of its line.
func (p *configParser) value() (string, bool) {
	p.space()
	var b strings.Builder
	quoted, keep := false, 0 // what is kept when spaces at the end are cut
	for {
		c := p.next()
		switch {
		case c == 0 && p.at > len(p.text), c == '\n':
			return b.String()[:keep], !quoted
		case c == 0:
			return "", false
		case (c == '#' || c == ';') && !quoted:
			p.comment()
			continue
		case c == '"':
			quoted = !quoted
			keep = b.Len()
			continue
		case c == '\\':
			switch c = p.next(); c {
			case '\n':
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return "", false
			}
			b.WriteByte(c)
			keep = b.Len()
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			keep = b.Len()
		}
	}
}
