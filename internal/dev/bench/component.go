package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// drawer is an extension that draws what is typed, and a list below it.
const drawer = `export default function (pi) {
  pi.registerCommand("drawn", { description: "Draws", handler: async (_args, ctx) => {
    await ctx.ui.custom((_tui, _theme, _keys, done) => {
      let typed = "";
      return {
        render: (width) => ["drawn here", typed].concat(Array.from({ length: 20 }, (_, i) => ("entry " + i + " ").padEnd(width - 1, "."))),
        handleInput(data) { if (data === "\x15") typed = ""; else typed += data; },
      };
    });
  } });
}
`

// components measures how long a key takes until what an extension draws for it is seen.
func components(ctx context.Context, b *bench, n int) ([]figure, error) {
	s, err := b.serveAfter(ctx, func(s *serving) error {
		file := filepath.Join(s.world.home, ".scorel", "extensions", "drawer.js")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(drawer), 0o600)
	})
	if err != nil {
		return nil, err
	}
	defer s.end()
	model, err := s.scripted("drawn", "{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"I am there."+endMark+"\"}]}\n")
	if err != nil {
		return nil, err
	}
	out := figure{Key: "tui.custom", Name: "a key to what an extension draws for it, p99", Unit: "ms", Goal: 15}
	var runs []series
	for range repeats(n) {
		if err := func() error {
			g, err := s.open("--model", model)
			if err != nil {
				return err
			}
			defer g.close()
			if _, err := g.await(ctx, editorMark); err != nil {
				return err
			}
			if _, err := g.press(ctx, "hello\r", endMark); err != nil {
				return err
			}
			if _, err := g.press(ctx, "/drawn\r", "drawn here"); err != nil {
				return err
			}
			if _, err := g.await(ctx, "twice closes it"); err != nil { // it takes keys
				return fmt.Errorf("the component takes no keys: %w", err)
			}
			time.Sleep(settling)
			times, err := g.echo(ctx)
			out.Values, runs = append(out.Values, times.quantile(0.99)), append(runs, times)
			return err
		}(); err != nil {
			return []figure{out}, err
		}
	}
	out.Runs = runs
	return []figure{out}, nil
}
