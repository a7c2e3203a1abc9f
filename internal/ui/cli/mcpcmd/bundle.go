package mcpcmd

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/mcp/mcpb"
	"scorel/internal/ui/exit"
	"scorel/protocol/display"
)

// isBundle reports whether the only word after a name is the file of a bundle.
func isBundle(rest []string, dash int) bool {
	return dash < 0 && len(rest) == 1 && !strings.Contains(rest[0], "://") && (strings.HasSuffix(rest[0], ".mcpb") || strings.HasSuffix(rest[0], ".dxt"))
}

// bundles is the folder in which bundles are unpacked.
func (f *files) bundles() string { return filepath.Join(f.home, ".scorel", "mcp-bundles") }

// addBundle shows what a bundle starts, asks, unpacks it and adds its server.
func (cs *commands) addBundle(ctx context.Context, scope mcp.Scope, name, file string, o addOptions) error {
	if err := checkName(name); err != nil {
		return err
	}
	f, err := cs.read(ctx)
	if err != nil {
		return err
	}
	if f.set.Managed {
		return f.allowed(mcp.Entry{Name: name}, mcp.Vars{})
	}
	sum, err := sumOf(file)
	if err != nil {
		return exit.Usagef("%s: %v", display.Line(file), err)
	}
	b, err := mcpb.Open(file)
	if err != nil {
		return exit.Usagef("%s: %v", display.Line(file), err)
	}
	defer b.Close()
	dir := filepath.Join(f.bundles(), name+"-"+sum[:16])
	e, left := b.Entry(name, dir, f.home)
	e.AlwaysLoad = o.always
	faults, ok := e.Check()
	if err := cs.faults(faults, ok); err != nil {
		return err
	}
	if err := f.allowed(e, f.vars); err != nil {
		return err
	}
	there, err := f.store.Has(scope, f.root, name)
	if err != nil {
		return err
	}
	if there && !o.force {
		return fmt.Errorf("the MCP server %q is in the %s configuration already; use --force to replace it", name, scope)
	}
	if agreed, err := cs.agreed(b, e, left, o); err != nil || !agreed {
		return err
	}
	if err := unpack(b, f.bundles(), dir); err != nil {
		return fmt.Errorf("%s: %w", display.Line(file), err)
	}
	old := f.entryOf(scope, name)
	if err := f.store.Add(scope, f.root, e, o.force); err != nil {
		return errors.Join(err, f.dropBundle(e))
	}
	if err := f.dropBundle(old); err != nil {
		return err
	}
	if o.json {
		return cs.printJSON(added{name, scope, e.Type, f.store.File})
	}
	fmt.Fprintf(cs.Stdout, "Added %s MCP server %s to %s config\nFile modified: %s\n", e.Type, name, scope, display.Line(f.store.File))
	if len(e.Inputs) > 0 {
		fmt.Fprintf(cs.Stdout, "It asks for something before it is used: scorel mcp inputs %s\n", name)
	}
	return nil
}

// agreed shows a bundle and asks whether it is added. A bundle runs as the person does.
func (cs *commands) agreed(b *mcpb.Bundle, e mcp.Entry, left []string, o addOptions) (bool, error) {
	fmt.Fprintf(cs.Stderr, "%s %s, %d files. It starts: %s\n", display.Line(b.Name), display.Line(b.Version), b.Files(), display.Line(e.Shown()))
	if b.Description != "" {
		fmt.Fprintf(cs.Stderr, "  %s\n", display.Line(b.Description))
	}
	for _, in := range e.Inputs {
		fmt.Fprintf(cs.Stderr, "  It asks for %s.\n", display.Line(in.ID))
	}
	if len(left) > 0 {
		fmt.Fprintf(cs.Stderr, "  Left out, because they are optional: %s.\n", display.Line(strings.Join(left, ", ")))
	}
	if o.yes {
		return true, nil
	}
	if o.json || !cs.Interactive() {
		fmt.Fprintln(cs.Stderr, "scorel: nobody is asked here, so nothing was changed; to add it: --yes")
		cs.Exit(exit.Unasked)
		return false, nil
	}
	fmt.Fprint(cs.Stderr, "Add it? [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(cs.Stdin, 64<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// sumOf returns the SHA-256 of a file, in hex.
func sumOf(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", errors.New("there is no such file, or it cannot be read")
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(in, mcpb.MaxSize+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unpack writes a bundle to dir, whole or not at all. What is there already has the same
// content, because the content names it.
func unpack(b *mcpb.Bundle, parent, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return err
	}
	if err = b.Unpack(temp); err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return nil
}

// entryOf returns the entry of a name in a scope, whether it counts or not; the zero Entry for
// none.
func (f *files) entryOf(scope mcp.Scope, name string) mcp.Entry {
	all := slices.Clone(f.set.Entries)
	for _, x := range f.set.Suppressed {
		all = append(all, x.Entry)
	}
	for _, e := range all {
		if e.Scope == scope && e.Name == name {
			return e
		}
	}
	return mcp.Entry{}
}

// dropBundle removes what was unpacked for an entry, unless another one uses it.
func (f *files) dropBundle(e mcp.Entry) error {
	for _, word := range slices.Concat([]string{e.Command}, e.Args, slices.Collect(maps.Values(e.Env))) {
		rest, ok := strings.CutPrefix(word, f.bundles()+string(filepath.Separator))
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		if !ok || name == "" || name == "." || name == ".." {
			continue
		}
		dir := filepath.Join(f.bundles(), name)
		file := mcp.ReadFile(f.store.File)
		if file.Err != nil {
			return file.Err
		}
		if strings.Contains(string(file.Data), dir) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("the folder %s of the bundle is left: %w", dir, err)
		}
	}
	return nil
}
