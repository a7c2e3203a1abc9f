package keyboard

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestKeysAreSentAsTerminalsSendThem(t *testing.T) {
	for want, k := range map[string]tea.Key{
		"a":          {Code: 'a', Text: "a"},
		"A":          {Code: 'a', ShiftedCode: 'A', Text: "A", Mod: tea.ModShift},
		"é":          {Code: 'é', Text: "é"},
		" ":          {Code: tea.KeySpace, Text: " "},
		"\x1b":       {Code: tea.KeyEscape},
		"\r":         {Code: tea.KeyEnter},
		"\t":         {Code: tea.KeyTab},
		"\x7f":       {Code: tea.KeyBackspace},
		"\x01":       {Code: 'a', Mod: tea.ModCtrl},
		"\x00":       {Code: tea.KeySpace, Mod: tea.ModCtrl},
		"\x1f":       {Code: '_', Mod: tea.ModCtrl},
		"\x1bx":      {Code: 'x', Mod: tea.ModAlt},
		"\x1b\x18":   {Code: 'x', Mod: tea.ModAlt | tea.ModCtrl},
		"\x1bX":      {Code: 'x', Mod: tea.ModAlt | tea.ModShift},
		"\x1b\r":     {Code: tea.KeyEnter, Mod: tea.ModAlt},
		"\x1b\x7f":   {Code: tea.KeyBackspace, Mod: tea.ModAlt},
		"\x1b[Z":     {Code: tea.KeyTab, Mod: tea.ModShift},
		"\x1b[13;2u": {Code: tea.KeyEnter, Mod: tea.ModShift},
		"\x1b[13;5u": {Code: tea.KeyEnter, Mod: tea.ModCtrl},
		"\x1b[97;6u": {Code: 'a', Mod: tea.ModCtrl | tea.ModShift},
		"\x1b[A":     {Code: tea.KeyUp},
		"\x1b[B":     {Code: tea.KeyKpDown},
		"\x1b[1;5C":  {Code: tea.KeyRight, Mod: tea.ModCtrl},
		"\x1b[1;3D":  {Code: tea.KeyLeft, Mod: tea.ModAlt},
		"\x1b[5~":    {Code: tea.KeyPgUp},
		"\x1b[3;5~":  {Code: tea.KeyDelete, Mod: tea.ModCtrl},
		"\x1bOP":     {Code: tea.KeyF1},
		"\x1b[1;2P":  {Code: tea.KeyF1, Mod: tea.ModShift},
		"\x1b[24~":   {Code: tea.KeyF12},
		"":           {Code: tea.KeyMediaPlay},
	} {
		if got := Sequence(k); got != want {
			t.Errorf("%s (%+v): %q, want %q", k.Keystroke(), k, got, want)
		}
	}
}

func TestKeysReadsWhatSequenceWrites(t *testing.T) {
	for _, k := range []tea.Key{{Code: 'j', Text: "j"}, {Code: 'é', Text: "é"}, {Code: tea.KeyLeft}, {Code: tea.KeyDelete}, {Code: tea.KeyEnter}, {Code: tea.KeyEscape}, {Code: tea.KeyBackspace},
		{Code: 'a', Mod: tea.ModCtrl}, {Code: tea.KeyTab, Mod: tea.ModShift}, {Code: tea.KeyUp, Mod: tea.ModCtrl}, {Code: 'b', Mod: tea.ModAlt}} {
		keys := Keys(Sequence(k))
		if len(keys) != 1 || keys[0].Keystroke() != tea.KeyPressMsg(k).Keystroke() || keys[0].Text != k.Text {
			t.Errorf("%q is %+v, not %+v", Sequence(k), keys, k)
		}
	}
	if keys := Keys("ab\x1b[C"); len(keys) != 3 {
		t.Errorf("%+v", keys)
	}
	if keys := Keys("\x1b]0;title\x07\x1b[200~"); len(keys) != 0 {
		t.Errorf("what is not a key is %+v", keys)
	}
}
