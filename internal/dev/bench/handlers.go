package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// handled is an extension whose handler of the context gives back what it gets as a new
// list: the host holds all of the conversation for it, and its answer.
const handled = `import type { ExtensionAPI } from "scorel";
export default function (pi: ExtensionAPI) {
  pi.on("context", (event) => ({ messages: event.messages.slice() }));
}
`

// handlers measures how much memory a turn in a session of 10,000 messages (7 MB of log)
// takes without and with a handler of the context. The child with the extension is not part
// of it.
func handlers(ctx context.Context, b *bench, n int) ([]figure, error) {
	without := figure{Key: "handlers.none", Name: "a turn behind 10,000 messages: the most resident memory", Unit: "MB"}
	with := figure{Key: "handlers", Name: "the same with a context handler of an extension", Unit: "MB"}
	all := func() []figure { return []figure{without, with} }
	if err := b.server.load(ctx, "{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"It is done.\"}]}\n", true); err != nil {
		return all(), err
	}
	file := filepath.Join(b.world.home, ".scorel", "extensions", "handled.ts")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return all(), err
	}
	defer func() { _ = os.Remove(file) }()
	for i := range repeats(n) {
		for extended, f := range map[bool]*figure{false: &without, true: &with} {
			if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
				return all(), err
			}
			if extended {
				if err := os.WriteFile(file, []byte(handled), 0o600); err != nil {
					return all(), err
				}
			}
			id, log, err := b.world.session(b.load.long+4*(2*i+len(f.Key)), false)
			if err != nil {
				return all(), err
			}
			settle()
			p, err := b.once(ctx, task{name: f.Name, args: []string{"-p", "--model", "usual", "--session", id, "Go on."}, stdout: "It is done.", log: log})
			if err != nil {
				return all(), fmt.Errorf("%s: %w", f.Name, err)
			}
			f.Values = append(f.Values, p.MaxRSS/mega)
			if err := os.Remove(log); err != nil {
				return all(), err
			}
		}
	}
	return all(), nil
}
