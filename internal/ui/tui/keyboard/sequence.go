package keyboard

import (
	"strconv"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// functional are the keys that a terminal sends as CSI 1 and a letter, and numbered those
// that it sends as CSI, a number and a tilde, as in xterm.
var (
	functional = map[rune]byte{
		tea.KeyUp: 'A', tea.KeyDown: 'B', tea.KeyRight: 'C', tea.KeyLeft: 'D', tea.KeyHome: 'H', tea.KeyEnd: 'F', tea.KeyBegin: 'E',
		tea.KeyKpUp: 'A', tea.KeyKpDown: 'B', tea.KeyKpRight: 'C', tea.KeyKpLeft: 'D', tea.KeyKpHome: 'H', tea.KeyKpEnd: 'F', tea.KeyKpBegin: 'E',
		tea.KeyF1: 'P', tea.KeyF2: 'Q', tea.KeyF3: 'R', tea.KeyF4: 'S',
	}
	numbered = map[rune]int{
		tea.KeyInsert: 2, tea.KeyDelete: 3, tea.KeyPgUp: 5, tea.KeyPgDown: 6,
		tea.KeyKpInsert: 2, tea.KeyKpDelete: 3, tea.KeyKpPgUp: 5, tea.KeyKpPgDown: 6,
		tea.KeyF5: 15, tea.KeyF6: 17, tea.KeyF7: 18, tea.KeyF8: 19, tea.KeyF9: 20, tea.KeyF10: 21, tea.KeyF11: 23, tea.KeyF12: 24,
	}
)

// Sequence returns a key as a terminal sends it: the bytes that all terminals send where
// there are such, else those of the kitty keyboard protocol (CSI u); "" for a key that sends
// nothing by itself. Whoever reads it need not know which terminal the person has.
func Sequence(k tea.Key) string {
	if k.Text != "" && k.Mod&^tea.ModShift == 0 {
		return k.Text
	}
	mods := int(k.Mod & (tea.ModShift | tea.ModAlt | tea.ModCtrl | tea.ModMeta))
	if letter, ok := functional[k.Code]; ok {
		switch {
		case mods != 0:
			return "\x1b[1;" + strconv.Itoa(mods+1) + string(letter)
		case letter >= 'P':
			return "\x1bO" + string(letter)
		}
		return "\x1b[" + string(letter)
	}
	if n, ok := numbered[k.Code]; ok {
		if mods != 0 {
			return "\x1b[" + strconv.Itoa(n) + ";" + strconv.Itoa(mods+1) + "~"
		}
		return "\x1b[" + strconv.Itoa(n) + "~"
	}
	code := k.Code
	if code == tea.KeyKpEnter {
		code = tea.KeyEnter
	}
	alt := ""
	if k.Mod&tea.ModAlt != 0 {
		alt = "\x1b"
	}
	switch plain := k.Mod &^ tea.ModAlt; {
	case code > 0x10ffff || code < 0:
		return "" // a key of media, or a modifier by itself
	case plain == 0:
		return alt + string(code)
	case plain == tea.ModShift && code == tea.KeyTab:
		return alt + "\x1b[Z"
	case plain == tea.ModShift && k.ShiftedCode > ' ':
		return alt + string(k.ShiftedCode)
	case plain == tea.ModShift && code >= 'a' && code <= 'z':
		return alt + string(code-'a'+'A')
	case plain == tea.ModCtrl && (code >= 'a' && code <= 'z' || code >= '[' && code <= '_' || code == '@'):
		return alt + string(code&0x1f)
	case plain == tea.ModCtrl && code == tea.KeySpace:
		return alt + "\x00"
	}
	return "\x1b[" + strconv.Itoa(int(code)) + ";" + strconv.Itoa(mods+1) + "u"
}

// Bracketed returns pasted text as a terminal sends it.
func Bracketed(text string) string { return pasteBegins + text + pasteEnds }

// maxDecoded bounds the keys of one sequence.
const maxDecoded = 256

// Keys returns the keys that a terminal sends as a sequence; what is none is left out.
func Keys(sequence string) []tea.KeyPressMsg {
	var decoder uv.EventDecoder
	var keys []tea.KeyPressMsg
	for rest := []byte(sequence); len(rest) > 0 && len(keys) < maxDecoded; {
		n, event := decoder.Decode(rest)
		if n <= 0 {
			break
		}
		if k, ok := event.(uv.KeyPressEvent); ok {
			keys = append(keys, tea.KeyPressMsg(k))
		}
		rest = rest[n:]
	}
	return keys
}
