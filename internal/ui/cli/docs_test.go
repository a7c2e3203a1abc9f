package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// pages returns the README and the pages of docs, by their paths from here.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names := []string{"../../../README.md", "../../../CHANGELOG.md", "../../../AGENTS.md"}
	err := filepath.WalkDir("../../../docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

// commandLines returns the command lines of scorel in a page: what is in code, up to
// the end of the line, the code, or a pipe.
func commandLines(text string) [][]string {
	var lines [][]string
	for _, found := range regexp.MustCompile("(?m)(?:^|[`(|$] ?|^ +|&& )(?:bin/)?scorel ([-a-z][^`\n|)]*)").FindAllStringSubmatch(text, -1) {
		line, _, _ := strings.Cut(found[1], " #")
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// said returns the command lines of scorel that texts of the program and of the page name, by
// the file: what is in backquotes.
func said(t *testing.T) map[string][][]string {
	t.Helper()
	all := map[string][][]string{}
	quoted := regexp.MustCompile("`scorel ([-a-z][^`\n]*)`")
	for _, root := range []string{"../../../cmd", "../../../client", "../../../internal", "../../../protocol", "../../../web/src"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(name); err != nil || d.IsDir() || ext != ".go" && ext != ".ts" && ext != ".tsx" || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			for _, found := range quoted.FindAllStringSubmatch(string(text), -1) {
				all[name] = append(all[name], strings.Fields(found[1]))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestTheDocumentationAndTheProgramNameOnlyCommandsAndFlagsThatExist(t *testing.T) {
	n, name := 0, regexp.MustCompile(`^[a-z]+$`) // of a command
	all := said(t)
	if len(all) < 5 {
		t.Errorf("only %d files of the program name a command", len(all))
	}
	for page, text := range pages(t) {
		all[page] = commandLines(text)
	}
	for page, lines := range all {
		for _, words := range lines {
			cmd := (&app{}).command()
			cmd.InitDefaultHelpFlag()
			n++
			named := true // the words so far are names of commands
			for _, word := range words {
				word = strings.TrimRight(word, ",.:;…")
				if flag, ok := strings.CutPrefix(word, "--"); ok && flag != "" {
					flag, _, _ = strings.Cut(flag, "=")
					if flag != "help" && cmd.Flags().Lookup(flag) == nil && cmd.InheritedFlags().Lookup(flag) == nil {
						t.Errorf("%s: %s has no flag --%s", page, cmd.CommandPath(), flag)
					}
				}
				sub := child(cmd, word)
				switch {
				case !named:
				case sub != nil:
					cmd = sub
				case cmd.HasSubCommands() && name.MatchString(word):
					t.Errorf("%s: there is no %q in: scorel %s", page, word, strings.Join(words, " "))
					fallthrough
				default:
					named = false
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d command lines were looked at", n)
	}
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

func TestEveryLinkOfTheDocumentationLeadsToAFile(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)"`)
	for page, text := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			to := found[1] + found[2]
			if strings.Contains(to, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), to)); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
