package command

import (
	"embed"
	"strings"
	"sync"
)

//go:embed bundled/*.md
var bundledFiles embed.FS

// Bundled is the scope of the templates that are part of the program.
const Bundled = "builtin"

// bundled is what [BundledTemplates] returns, read once.
var bundled struct {
	once sync.Once
	list []Template
}

// BundledTemplates returns the templates that are part of the program, sorted by name. A
// file of the same name in a folder of commands, and any other command of that name,
// counts in the place of one. They have no shell lines. The caller changes nothing.
func BundledTemplates() []Template {
	bundled.once.Do(func() {
		entries, err := bundledFiles.ReadDir("bundled")
		if err != nil {
			panic(err) // they are in the binary
		}
		for _, e := range entries {
			name := strings.TrimSuffix(e.Name(), ".md")
			data, _ := BundledText(name)
			t := parse(data)
			t.Name = name
			bundled.list = append(bundled.list, t)
		}
	})
	return bundled.list
}

// BundledText returns the file of such a template, and reports whether there is one.
func BundledText(name string) ([]byte, bool) {
	data, err := bundledFiles.ReadFile("bundled/" + name + ".md")
	return data, err == nil
}
