package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the folder of the module")
	check := flag.Bool("check", false, "only say whether the files are current")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "tsgen:", err)
		os.Exit(1)
	}
}

// Where the source is, and where its TypeScript and its documents go, relative to the module.
const (
	wire      = "protocol"
	target    = "web/src/protocol"
	reference = "docs/protocol"
	history   = "internal/engine/session/history"
)

// folder is the files that are generated into one folder, by their names.
type folder struct {
	name  string // relative to the module
	files map[string][]byte
}

func run(root string, check bool) error {
	folders, err := generate(filepath.Join(root, wire))
	if err != nil {
		return err
	}
	for _, f := range folders {
		if err := renew(root, f, check); err != nil {
			return err
		}
	}
	return nil
}

// generate returns all that is made from the source of the package at dir.
func generate(dir string) ([]folder, error) {
	s, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	m, err := translate(s)
	if err != nil {
		return nil, err
	}
	tools, err := readTools(filepath.Join(dir, toolDir))
	if err != nil {
		return nil, err
	}
	if err := m.describe(tools, s); err != nil {
		return nil, err
	}
	toolTable, err := tools.table()
	if err != nil {
		return nil, err
	}
	toolList, err := tools.list()
	if err != nil {
		return nil, err
	}
	types, err := typescript(m)
	if err != nil {
		return nil, err
	}
	documents, err := documents(m)
	if err != nil {
		return nil, err
	}
	registry, err := s.registry()
	if err != nil {
		return nil, err
	}
	handlers, err := s.handlers()
	if err != nil {
		return nil, err
	}
	checks, err := s.checks()
	if err != nil {
		return nil, err
	}
	return []folder{
		{target, types},
		{wire, map[string][]byte{"specs_gen.go": s.table(), "events_gen.go": registry, "checks_gen.go": checks, "tools_gen.go": toolTable}},
		{filepath.Join(wire, toolDir), map[string][]byte{"tools_gen.go": toolList}},
		{reference, documents},
		{history, map[string][]byte{"handlers_gen.go": handlers}},
	}, nil
}

// documents returns the contract for those who write clients of their own.
func documents(m *module) (map[string][]byte, error) {
	c, err := contract(m)
	if err != nil {
		return nil, err
	}
	schema, err := schemaJSON(c)
	if err != nil {
		return nil, err
	}
	openapi, err := openapiJSON(c)
	if err != nil {
		return nil, err
	}
	pages := markdown(c)
	pages["schema.json"], pages["openapi.json"] = schema, openapi
	return pages, nil
}
