package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) extensionsCommand() *cobra.Command {
	var asJSON bool
	var cwd string
	list := func(cmd *cobra.Command, _ []string) error { return a.listExtensions(cmd.Context(), cwd, asJSON) }
	cmd := &cobra.Command{Use: "extensions", Short: "List, check, create, enable and disable extensions",
		Long: `Extensions are files in ~/.scorel/extensions and, in a project that you trust, in
.scorel/extensions: a .ts, .js or .mjs file, a folder with an index.ts or a
package.json that names some, or a folder with a scorel.extension.json that names
a program in any language. They add tools, commands and hooks to your sessions.`,
		Args: args(cobra.NoArgs), RunE: list}
	sub := &cobra.Command{Use: "list", Short: "List the extensions of the user and of a project", Args: args(cobra.NoArgs), RunE: list}
	for _, c := range []*cobra.Command{cmd, sub} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
		c.Flags().StringVar(&cwd, "cwd", "", "the folder whose project counts; the current one without it")
	}
	cmd.AddCommand(sub, a.extensionCheckCommand(), a.extensionNewCommand(), a.extensionSwitchCommand("enable", true), a.extensionSwitchCommand("disable", false))
	return cmd
}

func (a *app) listExtensions(ctx context.Context, cwd string, asJSON bool) error {
	dir, err := workDir("--cwd", cwd)
	if err != nil {
		return err
	}
	return a.with(ctx, func(l *link) error {
		list, err := client.Call[*protocol.ExtensionList](ctx, l.Client, "", &protocol.ListExtensions{WorkDir: dir})
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(list)
		}
		for _, p := range list.Problems {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(p))
		}
		if len(list.Extensions) == 0 {
			fmt.Fprintln(a.stderr, "There are no extensions; scorel extensions new NAME creates one.")
			return nil
		}
		var rows [][]string
		for _, e := range list.Extensions {
			rows = append(rows, []string{e.ID, e.Scope, e.Kind, string(e.State), e.Path})
			if e.Problem != "" {
				rows = append(rows, []string{"", "", "", "", "  " + e.Problem})
			}
		}
		return plain.Table(a.stdout, rows)
	})
}

// checkPatience is the time after which people are told whom a check waits for.
const checkPatience = time.Second

func (a *app) extensionCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "check NAME|PATH", Short: "Load an extension and print what it registers",
		Long: `Loads an extension (its name in the list, or its file or folder) in a process of its
own, without a session, and prints what it registers or why it cannot be loaded. What it
uses and Scorel lacks is named with its file and line, and the exit code is 3. Its
code runs: check what you would run.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(l *link) error {
				path, off, err := a.extensionPath(cmd.Context(), l, args[0])
				if err != nil {
					return err
				}
				late := time.AfterFunc(checkPatience, func() {
					fmt.Fprintf(a.stderr, "scorel: %s has been started and does not answer yet; it has 30 s\n", display.Line(args[0]))
				})
				e, err := client.Call[*protocol.ExtensionInfo](cmd.Context(), l.Client, "", &protocol.CheckExtension{Path: path})
				late.Stop()
				if err != nil {
					return err
				}
				a.checkShortcuts(e)
				switch {
				case e.State != protocol.ExtensionLoaded:
					a.code = exit.Failed
				case len(e.Unsupported) > 0:
					a.code = exit.Lacks
				}
				if asJSON {
					return a.printJSON(e)
				}
				a.showExtension(e)
				if off != "" {
					fmt.Fprintf(a.stderr, "scorel: %s is switched off: sessions do not load it; scorel extensions enable %[1]s switches it on\n", display.Line(off))
				}
				return nil
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkShortcuts adds the shortcuts of an extension that do not count with the keys of this user.
func (a *app) checkShortcuts(e *protocol.ExtensionInfo) {
	dir, err := a.scorelDir()
	if err != nil {
		return // the default keys are not those of the user
	}
	keys, _ := keymap.Read(disk.OS(), filepath.Join(dir, "keys.toml"))
	for _, name := range e.Commands {
		text, ok := strings.CutPrefix(name, protocol.ShortcutPrefix)
		if !ok {
			continue
		}
		if _, why := keys.Shortcut(text); why != "" {
			e.Unsupported = append(e.Unsupported, fmt.Sprintf("The shortcut %s does not count in the terminal UI: it %s.", text, why))
		}
	}
}

// extensionPath returns the whole path of an extension that is named by its id in the
// working directory, or by its path; off is its id when it is switched off.
func (a *app) extensionPath(ctx context.Context, l *link, name string) (path, off string, err error) {
	list, err := a.extensionsHere(ctx, l)
	if err != nil {
		return "", "", err
	}
	if path, err = filepath.Abs(name); err != nil {
		return "", "", exit.Usagef("%s: %w", name, err)
	}
	named := func(e protocol.ExtensionInfo) bool {
		return e.ID == name || e.Path == path || extensionEntry(e.Path) == path
	}
	i := slices.IndexFunc(list, func(e protocol.ExtensionInfo) bool { return named(e) && e.State != protocol.ExtensionShadowed })
	if i < 0 {
		i = slices.IndexFunc(list, named)
	}
	if i < 0 {
		if _, err := os.Stat(path); err != nil && !strings.ContainsRune(name, '/') {
			return "", "", noExtension(name, list)
		}
		return path, "", nil
	}
	e := list[i]
	if e.State == protocol.ExtensionUntrusted {
		return "", "", fmt.Errorf("the extension %s of this project is not trusted, and to check it would run it: %s", display.Line(e.ID), display.Line(strings.TrimSuffix(e.Problem, ".")))
	}
	if e.State == protocol.ExtensionDisabled {
		off = e.ID
	}
	return extensionEntry(e.Path), off, nil
}

// extensionsHere returns the extensions of the working directory.
func (a *app) extensionsHere(ctx context.Context, l *link) ([]protocol.ExtensionInfo, error) {
	dir, err := workDir("", "")
	if err != nil {
		return nil, err
	}
	list, err := client.Call[*protocol.ExtensionList](ctx, l.Client, "", &protocol.ListExtensions{WorkDir: dir})
	if err != nil {
		return nil, err
	}
	return list.Extensions, nil
}

// extensionEntry returns the file or folder that is in a folder of extensions, of a
// file of an extension: of a package the folder, where its files belong together.
func extensionEntry(path string) string {
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if in := filepath.Dir(dir); filepath.Base(in) == "extensions" && filepath.Base(filepath.Dir(in)) == ".scorel" {
			return dir
		}
	}
	return path
}

// noExtension says that there is no extension of a name, and which there are.
func noExtension(name string, list []protocol.ExtensionInfo) error {
	var ids []string
	for _, e := range list {
		if id := display.Line(e.ID); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return exit.Usagef("there is no extension %s, and none at all; scorel extensions new NAME creates one", display.Line(name))
	}
	return exit.Usagef("there is no extension %s; there are: %s", display.Line(name), strings.Join(ids, ", "))
}

func (a *app) showExtension(e *protocol.ExtensionInfo) {
	if e.State != protocol.ExtensionLoaded {
		fmt.Fprintf(a.stderr, "scorel: %s cannot be loaded: %s\n", display.Line(e.ID), display.Text(e.Problem))
		return
	}
	fmt.Fprintln(a.stdout, strings.TrimSpace(display.Line(e.Name)+" "+display.Line(e.Version)))
	for _, part := range []struct {
		what  string
		names []string
	}{{"tools", e.Tools}, {"commands", e.Commands}, {"models", e.Models}, {"listens to", e.Hooks}} {
		if len(part.names) > 0 {
			fmt.Fprintf(a.stdout, "%s: %s\n", part.what, display.Line(strings.Join(part.names, ", ")))
		}
	}
	for _, u := range e.Unsupported {
		fmt.Fprintln(a.stderr, "scorel: "+display.Line(u))
	}
}

//go:embed extension_new.ts
var newExtension string

func (a *app) extensionNewCommand() *cobra.Command {
	var project bool
	cmd := &cobra.Command{Use: "new NAME", Short: "Create an extension in TypeScript, with one tool and one command",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.beginExtension(args[0], project) }}
	cmd.Flags().BoolVar(&project, "project", false, "in .scorel/extensions of the current folder instead of ~/.scorel/extensions")
	return cmd
}

// maxExtensionName bounds the name of a new extension, in bytes.
const maxExtensionName = 40

// isExtensionName reports whether a new extension can have a name.
func isExtensionName(name string) bool {
	if name == "" || name == "disabled" || len(name) > maxExtensionName || name[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
	})
}

// beginExtension writes the file of a new extension. What is there stays.
func (a *app) beginExtension(name string, project bool) error {
	if !isExtensionName(name) {
		return exit.Usagef("%s cannot be the name of an extension: use small letters, digits and dashes, at most %d", display.Line(name), maxExtensionName)
	}
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	if project {
		cwd, err := workDir("", "")
		if err != nil {
			return err
		}
		dir = filepath.Join(cwd, ".scorel")
	}
	dir = filepath.Join(dir, "extensions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of extensions: %w", err)
	}
	for _, other := range []string{name, name + ".ts", name + ".js", name + ".mjs"} {
		if _, err := os.Lstat(filepath.Join(dir, other)); err == nil {
			return exit.Usagef("%s is there already; choose another name", filepath.Join(dir, other))
		}
	}
	file := filepath.Join(dir, name+".ts")
	text := strings.NewReplacer("NAME", name, "TOOL", strings.ReplaceAll(name, "-", "_")).Replace(newExtension)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usagef("%s is there already; choose another name", file)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(file)
		return fmt.Errorf("write %s: %w", file, err)
	}
	fmt.Fprintln(a.stdout, file)
	if project {
		fmt.Fprintln(a.stderr, "It runs when the project is trusted; scorel trust shows its files and asks.")
	}
	return nil
}

func (a *app) extensionSwitchCommand(verb string, on bool) *cobra.Command {
	way := "on"
	if !on {
		way = "off"
	}
	return &cobra.Command{Use: verb + " ID", Short: "Switch an extension " + way + ", for all your sessions", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(l *link) error {
				list, err := a.extensionsHere(cmd.Context(), l)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(list, func(e protocol.ExtensionInfo) bool { return e.ID == args[0] }) {
					return noExtension(args[0], list)
				}
				if _, err := client.Call[*protocol.Done](cmd.Context(), l.Client, "", &protocol.EnableExtension{ID: args[0], Enabled: on}); err != nil {
					return err
				}
				fmt.Fprintf(a.stderr, "%s is switched %s; it applies to sessions that are opened from now on, and in open ones with /reload.\n", display.Line(args[0]), way)
				return nil
			})
		}}
}
