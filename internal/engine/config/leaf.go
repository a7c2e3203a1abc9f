package config

// Leaf is a value of a TOML file, with the line that it is in.
type Leaf struct {
	Path  []string
	Value any // string, int64, float64, bool, []any, or a map for an empty table
	Line  int // from 1
}

// Leaves returns the values of a TOML file in the order of their lines, for files of the
// user's other than the configuration. It has the bounds of one. The error is a
// sentence with the file and the line.
func Leaves(f File) ([]Leaf, error) {
	entries, err := parseTOML(f)
	if err != nil {
		return nil, err
	}
	var all []Leaf
	for _, e := range entries {
		all = append(all, Leaf{Path: e.path, Value: e.value, Line: e.line})
	}
	return all, nil
}
