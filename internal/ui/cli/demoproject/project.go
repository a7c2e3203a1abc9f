// Package demoproject holds the small project that scorel demo shows an agent
// on: a Bash program with a fault, and a test script that finds it. It writes
// them into a folder and runs nothing.
package demoproject

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed files
var files embed.FS

// TestCommand runs the checks, in the project's folder.
const TestCommand = "bash test.sh"

// marker is the file by which a project is known: nothing in a demo changes it.
const marker = "test.sh"

// Names returns the files of the project, sorted.
func Names() ([]string, error) {
	entries, err := files.ReadDir("files")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Content returns a file of the project.
func Content(name string) ([]byte, error) { return files.ReadFile("files/" + name) }

// State is what is at a folder.
type State int

// The states of a folder.
const (
	Free    State = iota // nothing, or an empty folder
	Project              // a demo project, changed or not
	Other                // something else
)

// Look says what is at dir.
func Look(dir string) (State, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case os.IsNotExist(err) || err == nil && len(entries) == 0:
		return Free, nil
	case err != nil:
		return Other, err
	}
	have, err := os.ReadFile(filepath.Join(dir, marker))
	if os.IsNotExist(err) {
		return Other, nil
	}
	if err != nil {
		return Other, err
	}
	want, err := Content(marker)
	if err == nil && bytes.Equal(have, want) {
		return Project, nil
	}
	return Other, err
}

// Write puts the files of the project into dir, with the fault, over those of
// the same names. It makes dir when it is missing, and an empty Git repository
// in it, so that the folder is a workspace of its own inside another repository
// too.
func Write(dir string) error {
	for _, d := range []string{"", ".git/objects", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return fmt.Errorf("make the demo project: %w", err)
		}
	}
	for name, text := range repository() {
		if err := writeMissing(filepath.Join(dir, ".git", name), text); err != nil {
			return fmt.Errorf("make the demo project: %w", err)
		}
	}
	names, err := Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := Content(name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(data, []byte("#!")) {
			mode = 0o755
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, mode); err != nil {
			return fmt.Errorf("make the demo project: %w", err)
		}
		if err := os.Chmod(file, mode); err != nil { // it may have existed with another mode
			return fmt.Errorf("make the demo project: %w", err)
		}
	}
	return nil
}

// repository returns the files that git needs to see a repository
// (gitrepository-layout(5)).
func repository() map[string]string {
	return map[string]string{
		"HEAD":   "ref: refs/heads/main\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
	}
}

func writeMissing(file, text string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
