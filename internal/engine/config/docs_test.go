package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheDocumentedKeysAreThoseThatThereAre(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n## Keys\n")
	if !found {
		t.Fatal("there is no table of keys")
	}
	documented := map[string]bool{} // whether there is such a key
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		group := ""
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			name := strings.TrimSuffix(strings.Trim(code[1], "[]"), ".…")
			if front, _, ok := cutLast(name); ok {
				group = front
			} else if group != "" {
				name = group + "." + name
			}
			documented[name] = false
		}
	}
	for _, k := range Keys() {
		known := false
		for name := range documented {
			if k.Name == name || strings.HasPrefix(k.Name, name+".") && strings.Contains(name, "<") || strings.TrimSuffix(k.Name, ".<name>") == name {
				documented[name], known = true, true
			}
		}
		if !known {
			t.Errorf("%s is not in docs/configuration.md", k.Name)
		}
	}
	for name, there := range documented {
		if !there {
			t.Errorf("docs/configuration.md names %s, which is not a key", name)
		}
	}
}

func cutLast(name string) (front, last string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

func TestTheDocumentedExamplesOfAModelAreAccepted(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^    \[model\]\n(?:    .*\n|\n    \[models.*\n)+`).FindAllString(string(page), -1)
	described := 0
	for _, text := range examples {
		c, _, err := Parse(user(regexp.MustCompile(`(?m)^    `).ReplaceAllString(text, "")), File{}, nil)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if c.Model.Name == DefaultAlias {
			described++
		}
	}
	if len(examples) < 4 || described != 2 {
		t.Errorf("the page has %d examples, of which %d describe a model: %q", len(examples), described, examples)
	}
}
