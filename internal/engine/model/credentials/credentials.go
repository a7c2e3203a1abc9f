package credentials

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"scorel/internal/platform/disk"
)

// Bounds of the file.
const (
	MaxKey  = 4 << 10 // bytes of a key
	maxName = 256     // bytes of a provider's name
	maxKeys = 128
	maxFile = 16 << 20 // bytes
)

// Keys are the keys by provider, and the grants of sign-ins. The zero value holds none.
type Keys struct {
	by     map[string]string
	grants map[string]Grant
	inputs map[string]map[string]Input
}

// Get returns the key of a provider.
func (k Keys) Get(provider string) (string, bool) {
	key, ok := k.by[provider]
	return key, ok
}

// Values returns the keys and tokens themselves, in no order: for those who take them out of
// texts.
func (k Keys) Values() []string {
	values := slices.Collect(maps.Values(k.by))
	for _, g := range k.grants {
		for _, v := range []string{g.Access, g.Refresh, g.ClientSecret} {
			if v != "" {
				values = append(values, v)
			}
		}
	}
	return append(values, k.secretInputs()...)
}

// Len returns how many keys there are.
func (k Keys) Len() int { return len(k.by) }

// Format writes how many keys there are, whatever the verb: keys are printed
// nowhere.
func (k Keys) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "%d keys", len(k.by)) }

// DamagedError reports that the file cannot be read as keys. It holds nothing of them.
type DamagedError struct{ Name string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the file of keys %s is damaged; correct it, or move it away and enter the keys again", e.Name)
}

// contents are the keys as they are stored.
type contents struct {
	Version int               `json:"version"`
	Keys    map[string]string `json:"keys"`             // by provider
	Grants  map[string]Grant  `json:"grants,omitempty"` // by the name that they were given
	// Inputs are answers of people, by the name and the id that they were given.
	Inputs map[string]map[string]Input `json:"inputs,omitempty"`
}

// Load reads the keys of the file at name; a missing one holds none.
func Load(fsys disk.FS, name string) (Keys, error) {
	data, err := disk.ReadFile(fsys, name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Keys{}, nil
	}
	if err != nil {
		return Keys{}, fmt.Errorf("the keys cannot be read: %w", err)
	}
	f, ok := parse(data)
	if !ok {
		return Keys{}, &DamagedError{name}
	}
	return Keys{f.Keys, f.Grants, f.Inputs}, nil
}

// Set keeps the key of a provider, or forgets it when key is empty, in the file at
// name. The key must pass [Check].
func Set(fsys disk.FS, name, provider, key string) error {
	if provider == "" || len(provider) > maxName {
		return fmt.Errorf("the name of a provider has 1 to %d bytes", maxName)
	}
	if key == "" {
		keys, err := Load(fsys, name)
		if _, had := keys.Get(provider); err != nil || !had {
			return err // nothing is made for nothing
		}
	} else if err := Check(key); err != nil {
		return err
	}
	return update(fsys, name, func(f *contents) error {
		if f.Keys == nil {
			f.Keys = map[string]string{}
		}
		if key == "" {
			delete(f.Keys, provider)
		} else {
			f.Keys[provider] = key
		}
		if len(f.Keys) > maxKeys {
			return fmt.Errorf("there are %d keys already; forget one that is not needed", maxKeys)
		}
		return nil
	})
}

// update changes the file at name under its lock.
func update(fsys disk.FS, name string, change func(*contents) error) error {
	return disk.Update(fsys, name, maxFile, func(old []byte) ([]byte, error) {
		f := contents{Version: 1}
		if old != nil {
			var ok bool
			if f, ok = parse(old); !ok {
				return nil, &DamagedError{name}
			}
		}
		if err := change(&f); err != nil {
			return nil, err
		}
		return marshal(f)
	})
}

// Check returns why a text cannot be a key: it goes into a header as it is, so it is
// 1 to [MaxKey] printable ASCII characters without spaces. The error quotes nothing.
func Check(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("a key has 1 to %d characters", MaxKey)
	}
	for i := range len(key) {
		if c := key[i]; c <= ' ' || c > '~' {
			return errors.New("a key has printable ASCII characters only, without spaces and line ends; copy it again")
		}
	}
	return nil
}

// parse is false for what this package would not have written.
func parse(data []byte) (contents, bool) {
	var f contents
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if dec.Decode(&f) != nil || f.Version != 1 || len(f.Keys) > maxKeys || len(f.Grants) > maxGrants || !validInputs(f.Inputs) {
		return contents{}, false
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return contents{}, false
	}
	for provider, key := range f.Keys {
		if provider == "" || len(provider) > maxName || Check(key) != nil {
			return contents{}, false
		}
	}
	for name, g := range f.Grants {
		if name == "" || len(name) > maxName || !g.valid() {
			return contents{}, false
		}
	}
	return f, true
}

func marshal(f contents) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(f)
	return buf.Bytes(), err
}
