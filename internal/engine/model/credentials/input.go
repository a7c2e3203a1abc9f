package credentials

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"scorel/internal/platform/disk"
)

// Bounds of what people were asked for.
const (
	MaxInput     = 4 << 10 // bytes of an answer
	maxInputs    = 100     // answers for one name
	maxInputSets = 200     // names
)

// Input is what a person has answered to a question of a configuration.
type Input struct {
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"` // it was typed unseen
}

// Format writes nothing of an answer, whatever the verb.
func (Input) Format(s fmt.State, _ rune) { fmt.Fprint(s, "an answer") }

// Inputs returns the answers that are kept under a name, by their ids. It may be changed.
func (k Keys) Inputs(name string) map[string]Input { return maps.Clone(k.inputs[name]) }

// SetInput keeps an answer under a name and an id in the file, or forgets it when in is nil.
func SetInput(fsys disk.FS, file, name, id string, in *Input) error {
	if name == "" || id == "" || len(name) > maxName || len(id) > maxName {
		return fmt.Errorf("a name and an id have 1 to %d bytes", maxName)
	}
	if in != nil && !in.valid() {
		return fmt.Errorf("an answer has at most %d bytes of text", MaxInput)
	}
	return update(fsys, file, func(f *contents) error {
		if in == nil {
			delete(f.Inputs[name], id)
			if len(f.Inputs[name]) == 0 {
				delete(f.Inputs, name)
			}
			return nil
		}
		if f.Inputs == nil {
			f.Inputs = map[string]map[string]Input{}
		}
		if f.Inputs[name] == nil {
			f.Inputs[name] = map[string]Input{}
		}
		f.Inputs[name][id] = *in
		if len(f.Inputs) > maxInputSets || len(f.Inputs[name]) > maxInputs {
			return errors.New("there are too many answers already; scorel mcp remove forgets those of a server")
		}
		return nil
	})
}

// ForgetInputs forgets all answers that are kept under a name.
func ForgetInputs(fsys disk.FS, file, name string) error {
	keys, err := Load(fsys, file)
	if err != nil || len(keys.inputs[name]) == 0 {
		return err // nothing is made for nothing
	}
	return update(fsys, file, func(f *contents) error {
		delete(f.Inputs, name)
		return nil
	})
}

func (in Input) valid() bool { return len(in.Value) <= MaxInput && utf8.ValidString(in.Value) }

// validInputs reports whether all answers of a file can be some.
func validInputs(all map[string]map[string]Input) bool {
	if len(all) > maxInputSets {
		return false
	}
	for name, set := range all {
		if name == "" || len(name) > maxName || len(set) > maxInputs {
			return false
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(set)), func(in Input) bool { return !in.valid() }) {
			return false
		}
	}
	return true
}

// secretInputs returns the answers that were typed unseen.
func (k Keys) secretInputs() (values []string) {
	for _, set := range k.inputs {
		for _, in := range set {
			if in.Secret && in.Value != "" {
				values = append(values, in.Value)
			}
		}
	}
	return values
}
