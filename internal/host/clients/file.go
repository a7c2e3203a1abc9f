package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/protocol"
)

// Bounds of the list.
const (
	MaxEntries = 256
	MaxLabel   = 64        // characters of a label
	maxFile    = 256 << 10 // bytes; 256 entries with long labels have about 110,000
)

// keySize is the length of an X25519 public key in bytes.
const keySize = 32

// Entry is one entry that may come in. ClientID is derived from PublicKey (see
// [protocol.ClientIDOf]). Times are in Unix milliseconds; LastSeen is 0 for one
// that never came.
type Entry struct {
	ClientID  protocol.ClientID `json:"clientId"`
	PublicKey []byte            `json:"publicKey"`
	Label     string            `json:"label"`
	Grant     protocol.Grant    `json:"grant"`
	AddedAt   int64             `json:"addedAt"`
	LastSeen  int64             `json:"lastSeen,omitempty"`
}

// file is the list as it is stored, in the order in which entries were added.
type file struct {
	Version int     `json:"version"`
	Entries []Entry `json:"entries"`
}

// parse reads the file's bytes; nil (no file) is an empty list. It fails for whatever this
// package would not have written: the list decides who comes in, so nothing of it
// is guessed.
func parse(data []byte) (file, error) {
	if data == nil {
		return file{Version: 1}, nil
	}
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("it is no list of entries: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f, errors.New("something follows the list")
	}
	if f.Version != 1 {
		return f, fmt.Errorf("it has version %d, this program knows 1", f.Version)
	}
	if len(f.Entries) > MaxEntries {
		return f, fmt.Errorf("it has %d entries; at most %d are possible", len(f.Entries), MaxEntries)
	}
	seen := make(map[protocol.ClientID]bool, len(f.Entries))
	for _, e := range f.Entries {
		switch {
		case len(e.PublicKey) != keySize || protocol.ClientIDOf(e.PublicKey) != e.ClientID:
			return f, errors.New("an entry's id is not that of its key")
		case seen[e.ClientID]:
			return f, fmt.Errorf("%s is in it twice", e.ClientID)
		case e.Label == "" || e.Label != CleanLabel(e.Label):
			return f, fmt.Errorf("the label of %s has characters that cannot be shown", e.ClientID)
		}
		if err := e.Grant.Check(); err != nil {
			return f, err
		}
		seen[e.ClientID] = true
	}
	return f, nil
}

func (f file) marshal() ([]byte, error) {
	data, err := json.MarshalIndent(f, "", "  ")
	return append(data, '\n'), err
}

func (f file) find(id protocol.ClientID) int {
	for i := range f.Entries {
		if f.Entries[i].ClientID == id {
			return i
		}
	}
	return -1
}

// CleanLabel makes a label safe to show on one line: runs of white space become
// one space, what is not printable goes, and it is cut to [MaxLabel] characters.
func CleanLabel(label string) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(label) {
		word = strings.Map(func(r rune) rune {
			if r == utf8.RuneError || !unicode.IsPrint(r) { // bidi marks and controls are not
				return -1
			}
			return r
		}, word)
		if word == "" {
			continue
		}
		if n > 0 {
			word = " " + word
		}
		for _, r := range word {
			if n == MaxLabel {
				return strings.TrimRight(b.String(), " ")
			}
			b.WriteRune(r)
			n++
		}
	}
	return b.String()
}
