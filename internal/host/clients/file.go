package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"scorel/protocol"
)

// Bounds of the list.
const (
	MaxEntries = 256
	MaxLabel   = 64        // characters of a label
	maxFile    = 256 << 10 // bytes; 256 entries with long labels have about 110,000
	// MaxPending bounds those that wait to be confirmed, and PendingTime how long each
	// does: who asks a person and finds nobody asks again.
	MaxPending  = 8
	PendingTime = 10 * time.Minute
	maxAddress  = 64 // bytes of where a pending one came from
)

// keySize is the length of an X25519 public key in bytes.
const keySize = 32

// Entry is one entry that may come in. ClientID is derived from PublicKey (see
// [protocol.ClientIDOf]). Times are in Unix milliseconds; LastSeen is 0 for one
// that never came. Pending says that it waits to be confirmed, since AddedAt, and came
// from Address; Grant is what it gets then.
type Entry struct {
	ClientID  protocol.ClientID `json:"clientId"`
	PublicKey []byte            `json:"publicKey"`
	Label     string            `json:"label"`
	Grant     protocol.Grant    `json:"grant"`
	AddedAt   int64             `json:"addedAt"`
	LastSeen  int64             `json:"lastSeen,omitempty"`

	Pending bool   `json:"pending,omitempty"`
	Address string `json:"address,omitempty"`
}

// Granted returns what the entry may do now.
func (e Entry) Granted() protocol.Grant {
	if e.Pending {
		return protocol.GrantPending
	}
	return e.Grant
}

// PendingUntil returns when an entry that waits to be confirmed is taken off the list.
func (e Entry) PendingUntil() time.Time { return time.UnixMilli(e.AddedAt).Add(PendingTime) }

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
		return f, fmt.Errorf("it is not a list of entries: %w", err)
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
		case len(e.Address) > maxAddress || e.Address != CleanLabel(e.Address):
			return f, fmt.Errorf("the address of %s has characters that cannot be shown", e.ClientID)
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

// expire takes those off the list whom nobody has confirmed in time. Who would wait for longer
// than twice that has come while the clock was ahead.
func (f *file) expire(now time.Time) {
	f.Entries = slices.DeleteFunc(f.Entries, func(e Entry) bool {
		left := e.PendingUntil().Sub(now)
		return e.Pending && (left <= 0 || left > 2*PendingTime)
	})
}

func (f file) find(id protocol.ClientID) int {
	for i := range f.Entries {
		if f.Entries[i].ClientID == id {
			return i
		}
	}
	return -1
}

// free returns a label that no entry has: the one that is asked for, or that with a number, so
// that a person who takes one off the list takes the right one.
func (f *file) free(label string) string {
	taken := func(l string) bool {
		return slices.ContainsFunc(f.Entries, func(e Entry) bool { return e.Label == l })
	}
	next := label
	for n := 2; taken(next); n++ {
		number := fmt.Sprintf(" %d", n)
		first := []rune(label)
		next = string(first[:min(len(first), MaxLabel-len(number))]) + number
	}
	return next
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

// Listed returns the entry as clients are told of it; whether it is there is not known here.
func (e Entry) Listed() protocol.Entry {
	out := protocol.Entry{ClientID: e.ClientID, Label: e.Label, Grant: e.Grant, AddedAt: e.AddedAt, LastSeen: e.LastSeen, Pending: e.Pending, Address: e.Address}
	if e.Pending {
		out.ExpiresAt = e.PendingUntil().UnixMilli()
	}
	return out
}
