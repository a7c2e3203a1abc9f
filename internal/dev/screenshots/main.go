package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "embed"
)

// reviewers is an extension with a dialog that it draws itself.
//
//go:embed reviewers.ts
var reviewers []byte

// The size of the terminal, in cells.
const (
	columns = 92
	rows    = 27
)

// project is where the pictures are made; its name is in them.
const project = "/tmp/shop"

func main() {
	bin := flag.String("bin", "bin/scorel", "the program")
	out := flag.String("out", "docs/screens", "the folder for the pictures")
	flag.Parse()
	if err := run(*bin, *out); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(bin, out string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, c := range []colours{dark(), light()} {
		if err := tour(bin, out, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// Keys as a terminal sends them.
const (
	enter  = "\r"
	escape = "\x1b"
	up     = "\x1b[A"
	down   = "\x1b[B"
	clear  = "\x03"
	help   = "\x18h"
	tree   = "\x18r"
	full   = "\x18z" // the whole screen: what is above does not depend on what was
)

// step is what is typed, and what is on the screen then.
type step struct {
	keys string
	wait string // texts of the screen, a line each
	gone string // a text that is no longer there; "" for none
	name string // of the picture; "" for none
}

// tour goes through the main screens.
func tour(bin, out string, c colours) error {
	home, err := os.MkdirTemp("", "scr") // the path of the host's socket is short
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	extensions := filepath.Join(home, ".scorel", "extensions")
	if err := os.MkdirAll(extensions, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(extensions, "reviewers.ts"), reviewers, 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(project, 0o755); err != nil {
		return fmt.Errorf("the project of the pictures: %w; move it away", err)
	}
	defer os.RemoveAll(project)
	t, err := open(bin, home, project, c)
	if err != nil {
		return err
	}
	defer t.close()
	for _, s := range []step{
		{"", "How would you like to start?", "", "first-run"},
		{up + enter, "A check of this project fails", "How do you want", ""},
		{enter, "Run this command?\nesc no", "", "permission"},
		{"2", "Edit tally?\nesc no", "Run this command?", "edit"},
		{"2", "That was a demo", "Edit tally?", ""},
		{full, "That was a demo", "a small project with a fault", "answer"}, // what was told goes by itself
		{"/", "/compact", "", "commands"},
		{clear, "ask something", "/compact", ""},
		{tree, "Tree", "ask something", "tree"},
		{escape, "ask something", "Tree", ""},
		{help, "Commands of this UI", "ask something", "help"},
		{escape, "ask something", "Commands of this UI", ""},
		{"/reviewers", "/reviewers", "ask something", ""},
		{enter, "Space: toggle\nEsc twice closes it", "ask something", ""},
		{down, "❯ [ ] tests", "", ""},
		{" ", "❯ [x] tests", "", "dialog"},
	} {
		if err := t.step(s); err != nil {
			return err
		}
		if s.name == "" {
			continue
		}
		name := filepath.Join(out, s.name+"-"+c.name+".svg")
		if err := os.WriteFile(name, []byte(t.picture(strings.ReplaceAll(s.name, "-", " "))), 0o644); err != nil {
			return err
		}
	}
	return nil
}
