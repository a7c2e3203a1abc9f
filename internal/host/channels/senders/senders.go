package senders

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"path/filepath"
	"slices"
	"time"

	crand "crypto/rand"

	"scorel/internal/platform/disk"
)

// Bounds of the file.
const (
	MaxSenders = 256
	MaxOpen    = 3  // codes of one channel that are open; a further sender gets none
	maxCodes   = 32 // of all channels
	MaxTold    = 2  // times that a sender is told its code
	MaxID      = 256
	maxFile    = 1 << 20
	// CodeTime is how long a code counts.
	CodeTime = time.Hour
)

// Sender is somebody who may write through a channel, or who has asked to. Times are in Unix
// milliseconds.
type Sender struct {
	Channel string `json:"channel"` // the server's name
	Server  string `json:"server"`  // stands for the server's entry as it is written
	ID      string `json:"id"`
	Since   int64  `json:"since"`
}

// Open is a code that nobody has entered yet.
type Open struct {
	Sender
	Code    string `json:"code"`
	Expires int64  `json:"expires"`
	Told    int    `json:"told"`
}

// over reports whether the code counts no longer. One that ends later than any that is made now
// is of a clock that was ahead, and would count for as long; twice the time leaves room for a
// clock that was set back a little.
func (o Open) over(now time.Time) bool {
	left := time.UnixMilli(o.Expires).Sub(now)
	return left <= 0 || left > 2*CodeTime
}

type contents struct {
	Version int      `json:"version"`
	Senders []Sender `json:"senders"`
	Codes   []Open   `json:"codes,omitempty"`
}

// Store is the file.
type Store struct {
	FS   disk.FS
	File string
	Now  func() time.Time
	Rand io.Reader
}

// File is where the senders of a user's folder are kept.
func File(dir string) string { return filepath.Join(dir, "channels.json") }

// ErrNoCode reports that no open code is the one that was entered.
var ErrNoCode = errors.New("there is no such code; codes count for an hour, and scorel channels list shows who has asked")

// ErrNobody reports that no such sender is paired.
var ErrNobody = errors.New("no such sender is paired; scorel channels list shows who is")

func (s Store) read() (contents, error) {
	data, err := disk.ReadFile(s.FS, s.File, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return contents{Version: 1}, nil
	}
	if err != nil {
		return contents{}, fmt.Errorf("the senders of channels cannot be read: %w", err)
	}
	return s.parse(data)
}

// parse reads the bytes of the file. Whatever this package would not have written is an error:
// the file decides who is listened to.
func (s Store) parse(data []byte) (contents, error) {
	var f contents
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil || f.Version != 1 || dec.More() {
		return contents{}, fmt.Errorf("%s is damaged, so nobody is listened to; correct it, or move it away and pair again", s.File)
	}
	return f, nil
}

func (s Store) change(do func(*contents) error) error {
	if err := s.FS.MkdirAll(filepath.Dir(s.File)); err != nil {
		return fmt.Errorf("the senders of channels are not changed: %w", err)
	}
	err := disk.Update(s.FS, s.File, maxFile, func(old []byte) ([]byte, error) {
		f := contents{Version: 1}
		if old != nil {
			var err error
			if f, err = s.parse(old); err != nil {
				return nil, err
			}
		}
		now := s.Now()
		f.Codes = slices.DeleteFunc(f.Codes, func(o Open) bool { return o.over(now) })
		if err := do(&f); err != nil {
			return nil, err
		}
		data, err := json.MarshalIndent(f, "", "  ")
		return append(data, '\n'), err
	})
	if err != nil && !errors.Is(err, ErrNoCode) && !errors.Is(err, ErrNobody) {
		return fmt.Errorf("the senders of channels are not changed: %w", err)
	}
	return err
}

func (a Sender) same(b Sender) bool {
	return a.Channel == b.Channel && a.Server == b.Server && a.ID == b.ID
}

// Knows reports whether a sender is paired.
func (s Store) Knows(who Sender) (bool, error) {
	f, err := s.read()
	return slices.ContainsFunc(f.Senders, who.same), err
}

// Asked returns the code of a sender that is not paired, a new one when it has none, and
// whether it may be told it once more. With an empty code there is none for it, because too
// many are open.
func (s Store) Asked(who Sender) (code string, tell bool, err error) {
	if who.ID == "" || len(who.ID) > MaxID {
		return "", false, fmt.Errorf("the name of a sender has 1 to %d bytes", MaxID)
	}
	err = s.change(func(f *contents) error {
		own := 0
		for i := range f.Codes {
			o := &f.Codes[i]
			if o.same(who) {
				code, tell = o.Code, o.Told < MaxTold
				if tell {
					o.Told++
				}
				return nil
			}
			if o.Channel == who.Channel {
				own++
			}
		}
		if own >= MaxOpen || len(f.Codes) >= maxCodes {
			return nil
		}
		if code, err = s.generate(f); err != nil {
			return err
		}
		now := s.Now()
		who.Since, tell = now.UnixMilli(), true
		f.Codes = append(f.Codes, Open{who, code, now.Add(CodeTime).UnixMilli(), 1})
		return nil
	})
	if err != nil {
		return "", false, err
	}
	return code, tell, nil
}

// generate returns a code that no other sender has.
func (s Store) generate(f *contents) (string, error) {
	for {
		n, err := crand.Int(s.Rand, big.NewInt(1_000_000))
		if err != nil {
			return "", err
		}
		code := fmt.Sprintf("%06d", n)
		if !slices.ContainsFunc(f.Codes, func(o Open) bool { return o.Code == code }) {
			return code, nil
		}
	}
}

// Pair pairs the sender that has a code. The error is [ErrNoCode] where nobody has it.
func (s Store) Pair(code string) (who Sender, err error) {
	err = s.change(func(f *contents) error {
		i := slices.IndexFunc(f.Codes, func(o Open) bool { return o.Code == code })
		if i < 0 {
			return ErrNoCode
		}
		if len(f.Senders) >= MaxSenders {
			return fmt.Errorf("%d senders are paired, which is the most; revoke one first", MaxSenders)
		}
		who = f.Codes[i].Sender
		who.Since = s.Now().UnixMilli()
		f.Codes = slices.Delete(f.Codes, i, i+1)
		f.Senders = append(f.Senders, who)
		return nil
	})
	return who, err
}

// Revoke forgets a sender of a channel, or all of them with an empty id, and their open codes.
// The error is [ErrNobody] where there is none.
func (s Store) Revoke(channel, id string) (gone []Sender, err error) {
	err = s.change(func(f *contents) error {
		gone = nil
		meant := func(a Sender) bool { return a.Channel == channel && (id == "" || a.ID == id) }
		for _, a := range f.Senders {
			if meant(a) {
				gone = append(gone, a)
			}
		}
		f.Senders = slices.DeleteFunc(f.Senders, meant)
		n := len(f.Codes)
		f.Codes = slices.DeleteFunc(f.Codes, func(o Open) bool { return meant(o.Sender) })
		if len(gone) == 0 && n == len(f.Codes) {
			return ErrNobody
		}
		return nil
	})
	return gone, err
}

// List returns who is paired, and who has an open code, in the order in which they came.
func (s Store) List() (paired []Sender, open []Open, err error) {
	f, err := s.read()
	now := s.Now()
	return f.Senders, slices.DeleteFunc(f.Codes, func(o Open) bool { return o.over(now) }), err
}
