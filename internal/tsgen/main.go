package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// target is where the files are, relative to the module.
const target = "web/src/protocol"

func run(root string, check bool) error {
	files, err := generate(filepath.Join(root, "protocol"))
	if err != nil {
		return err
	}
	dir := filepath.Join(root, target)
	stale, err := differs(dir, files)
	switch {
	case err != nil || len(stale) == 0:
		return err
	case check:
		return fmt.Errorf("%s: %s differ from the Go package protocol; run make generate", target, strings.Join(stale, ", "))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range stale {
		path := filepath.Join(dir, name)
		if text, ok := files[name]; ok {
			err = os.WriteFile(path, text, 0o644)
		} else {
			err = os.Remove(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// differs names the files of dir that are not as they should be: changed, missing,
// or of an earlier run and not wanted any more. What a person wrote beside them is
// left alone.
func differs(dir string, files map[string][]byte) (names []string, err error) {
	there, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range there {
		if _, ok := files[e.Name()]; ok || !strings.HasSuffix(e.Name(), ".ts") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(text, []byte(head)) {
			names = append(names, e.Name())
		}
	}
	for name, text := range files {
		if have, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(have, text) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// generate gives the files by name, from the source of the package at dir.
func generate(dir string) (map[string][]byte, error) {
	m, err := build(dir)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, file := range slices.Sorted(maps.Keys(m.files())) {
		out[file+".ts"] = m.emit(file)
	}
	out["index.ts"] = m.index()
	return out, nil
}

// build reads the source of the package at dir into declarations.
func build(dir string) (*module, error) {
	src, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	return translate(src)
}
