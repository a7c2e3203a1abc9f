package clients

import (
	"bytes"
	"testing"
	"unicode"
	"unicode/utf8"

	"scorel/protocol"
)

func TestALabelIsOneShortLineOfWhatCanBeShown(t *testing.T) {
	for label, want := range map[string]string{
		"phone":                   "phone",
		"  my \n\t phone ":        "my phone",
		"a\x1b[31mred":            "a[31mred",
		"left\u202eright":         "leftright",
		"\xff\xfe":                "",
		"Bürotelefon 電話":          "Bürotelefon 電話",
		string(make([]byte, 100)): "",
	} {
		if got := CleanLabel(label); got != want {
			t.Errorf("%q became %q, not %q", label, got, want)
		}
	}
	if got := CleanLabel(string(bytes.Repeat([]byte("ä"), 100))); utf8.RuneCountInString(got) != MaxLabel {
		t.Errorf("a long one has %d characters", utf8.RuneCountInString(got))
	}
}

// FuzzTheListIsReadAsItWouldBeWritten: whatever is read as a list gives, written
// and read again, the same list, and holds only entries that are in order.
func FuzzTheListIsReadAsItWouldBeWritten(f *testing.F) {
	key := bytes.Repeat([]byte{1}, keySize)
	one, err := file{1, []Entry{{ClientID: protocol.ClientIDOf(key), PublicKey: key, Label: "phone", Grant: protocol.GrantView, AddedAt: 1}}}.marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(one)
	f.Add([]byte(`{"version":1,"entries":[]}`))
	f.Add([]byte(`{"version":1,"entries":[{}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parse(data)
		if err != nil {
			return
		}
		for _, e := range list.Entries {
			if protocol.ClientIDOf(e.PublicKey) != e.ClientID || e.Grant.Check() != nil || e.Label == "" || utf8.RuneCountInString(e.Label) > MaxLabel {
				t.Errorf("let in: %+v", e)
			}
			for _, r := range e.Label {
				if !unicode.IsPrint(r) {
					t.Errorf("the label %q cannot be shown", e.Label)
				}
			}
		}
		first, err := list.marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse(first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		second, err := again.marshal()
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\n%s", err, first, second)
		}
	})
}
