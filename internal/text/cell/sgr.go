package cell

import "strings"

// look is what SGR sequences have set: for each kind of attribute the arguments that set
// it, "" where it is as it is by itself.
type look [looks]string

// The kinds of attributes of a [look].
const (
	weight = iota
	faint
	slant
	underline
	blink
	reverse
	conceal
	strike
	foreground
	background
	lineColour
	looks
)

// maxArg bounds an argument that is kept, in bytes: each line begins with what is on.
const maxArg = 40

// kindOf returns what an argument of SGR sets, and whether it takes that back; -1 for one
// that is not known.
func kindOf(arg string) (kind int, off bool) {
	name, _, _ := strings.Cut(arg, ":")
	switch name {
	case "1":
		return weight, false
	case "2":
		return faint, false
	case "3":
		return slant, false
	case "4", "21":
		return underline, arg == "4:0"
	case "5", "6":
		return blink, false
	case "7":
		return reverse, false
	case "8":
		return conceal, false
	case "9":
		return strike, false
	case "23":
		return slant, true
	case "24":
		return underline, true
	case "25":
		return blink, true
	case "27":
		return reverse, true
	case "28":
		return conceal, true
	case "29":
		return strike, true
	case "38":
		return foreground, false
	case "39":
		return foreground, true
	case "48":
		return background, false
	case "49":
		return background, true
	case "58":
		return lineColour, false
	case "59":
		return lineColour, true
	}
	switch {
	case len(arg) == 2 && arg[0] == '3', len(arg) == 2 && arg[0] == '9':
		return foreground, false
	case len(arg) == 2 && arg[0] == '4', len(arg) == 3 && arg[:2] == "10":
		return background, false
	}
	return -1, false
}

// sgr takes the arguments of a sequence in.
func (l *look) sgr(args string) {
	parts := strings.Split(args, ";")
	for i := 0; i < len(parts); i++ {
		arg := strings.TrimLeft(parts[i], "0")
		switch arg {
		case "":
			*l = look{}
			continue
		case "22":
			l[weight], l[faint] = "", ""
			continue
		}
		kind, off := kindOf(arg)
		if kind < 0 || len(arg) > maxArg {
			continue
		}
		if arg == "38" || arg == "48" || arg == "58" { // the colour is in the arguments after it
			n := 0
			switch {
			case i+2 < len(parts) && parts[i+1] == "5":
				n = 2
			case i+4 < len(parts) && parts[i+1] == "2":
				n = 4
			default:
				return
			}
			arg = strings.Join(parts[i:i+n+1], ";")
			i += n
		}
		if off {
			arg = ""
		}
		l[kind] = arg
	}
}

// String returns the sequence that sets all of it.
func (l *look) String() string {
	if *l == (look{}) {
		return ""
	}
	var b strings.Builder
	for _, arg := range l {
		if arg == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("\x1b[")
		} else {
			b.WriteByte(';')
		}
		b.WriteString(arg)
	}
	b.WriteByte('m')
	return b.String()
}

// style returns the sequence that sets what is on at the end of a line.
func style(line string) string {
	var on look
	for {
		_, rest, found := strings.Cut(line, "\x1b[")
		if !found {
			return on.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
		if end < 0 {
			return on.String()
		}
		if rest[end] == 'm' {
			on.sgr(rest[:end])
		}
		line = rest[end+1:]
	}
}
