package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WithEnvFile returns an expanded entry with the variables of its EnvFile below those of
// Env, and without EnvFile. That of a project's entry must be in the workspace at root,
// links included. The error is a sentence; a missing file is one.
func (e Entry) WithEnvFile(root string) (Entry, error) {
	if e.EnvFile == "" {
		return e, nil
	}
	var f File
	if e.OfProject() {
		f = readInside(root, e.EnvFile)
	} else {
		f = ReadFile(e.EnvFile)
	}
	switch {
	case f.Err != nil:
		return e, fmt.Errorf("read envFile %s: %w", e.EnvFile, f.Err)
	case f.Data == nil:
		return e, fmt.Errorf("read envFile %s: there is no such file", e.EnvFile)
	}
	vars, err := parseEnv(string(f.Data))
	if err != nil {
		return e, fmt.Errorf("read envFile %s: %w", e.EnvFile, err)
	}
	maps.Copy(vars, e.Env)
	e.Env, e.EnvFile = vars, ""
	return e, nil
}

// readInside reads a file of a workspace; one that is, or leads, elsewhere is not read.
func readInside(root, name string) File {
	rel, err := filepath.Rel(root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return File{Name: name, Err: fmt.Errorf("it is not in the workspace %s", root)}
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return File{Name: name, Err: cause(err)}
	}
	defer dir.Close()
	return readWith(name, func() (*os.File, error) { return dir.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
}

// parseEnv reads lines NAME=VALUE. A value may be in quotes; in double quotes \n, \t, \"
// and \\ are what they are in Go, and a line whose first character is # does not count.
func parseEnv(text string) (map[string]string, error) {
	out := map[string]string{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !variableName(name) {
			return nil, fmt.Errorf("line %d is not NAME=VALUE", n)
		}
		switch quote := value[:min(1, len(value))]; {
		case quote == `"` || quote == "'":
			end := strings.LastIndex(value[1:], quote)
			if end < 0 {
				return nil, fmt.Errorf("line %d has no closing quote", n)
			}
			if rest := strings.TrimSpace(value[end+2:]); rest != "" && rest[0] != '#' {
				return nil, fmt.Errorf("line %d has text after the closing quote", n)
			}
			if value = value[1 : end+1]; quote == `"` {
				value = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(value)
			}
		default:
			if i := strings.Index(value, " #"); i >= 0 {
				value = strings.TrimSpace(value[:i])
			}
		}
		switch {
		case len(value) > maxText || strings.ContainsRune(value, 0):
			return nil, fmt.Errorf("the value in line %d has a NUL, or more than %d bytes", n, maxText)
		case len(out) == maxVars:
			return nil, fmt.Errorf("there are more than %d variables", maxVars)
		}
		out[name] = value
	}
	return out, nil
}
