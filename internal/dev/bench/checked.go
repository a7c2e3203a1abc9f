package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"scorel/internal/engine/session"
)

// checkedEvents make a log of 105 MB.
const checkedEvents = 125_000

// opens is what openCommand prints, in milliseconds.
type opens struct {
	Bytes   int64  `json:"bytes"`
	Checked series `json:"checked"`
	Bare    series `json:"bare"` // the same log without checksums
}

// openCommand opens a long log, with its checksums and without.
func openCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("bench open", flag.ContinueOnError)
	parent := f.String("parent", "", "where the scratch folder is made")
	events := f.Int("events", checkedEvents, "how many events, a multiple of four")
	n := f.Int("n", 20, "how often")
	if err := f.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(*parent, "scorel-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	out, err := measureOpens(ctx, dir, *events, *n)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func measureOpens(ctx context.Context, dir string, events, n int) (opens, error) {
	store, err := session.OpenStore(session.Config{Dir: dir})
	if err != nil {
		return opens{}, err
	}
	checked, err := write(ctx, store, "/", events, false)
	if err != nil {
		return opens{}, err
	}
	bare, err := writeNumber(ctx, store, "/", 1, events, 0, false)
	if err != nil {
		return opens{}, firstOf(err, checked.Close())
	}
	out := opens{Bytes: checked.Index().Size()}
	if err := firstOf(checked.Close(), bare.Close()); err != nil {
		return opens{}, err
	}
	name := filepath.Join(dir, "sessions", string(bare.ID())+".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		return opens{}, err
	}
	data = regexp.MustCompile(`,"prev":[0-9]+|,"crc":"[0-9a-f]{8}"`).ReplaceAll(data, nil)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return opens{}, err
	}
	for range n { // in turns, so that both see the same machine
		for _, o := range []struct {
			log   *session.Log
			times *series
		}{{checked, &out.Checked}, {bare, &out.Bare}} {
			at := time.Now()
			log, report, err := store.Open(ctx, o.log.ID())
			if err != nil {
				return opens{}, err
			}
			took := time.Since(at)
			if err := log.Close(); err != nil {
				return opens{}, err
			}
			if !report.Clean() || log.Index().Len() != events {
				return opens{}, fmt.Errorf("%d events were opened: %v", log.Index().Len(), report.Sentences())
			}
			*o.times = append(*o.times, milliseconds(took))
		}
	}
	return out, nil
}

func checkedOpen(ctx context.Context, b *bench, n int) ([]figure, error) {
	var o opens
	if err := b.child(ctx, &o, "open", "-parent", b.world.root, "-n", fmt.Sprint(n)); err != nil {
		return nil, err
	}
	return []figure{
		{Key: "open.checked", Name: fmt.Sprintf("open a log of %d MB, every line checked", o.Bytes/1_000_000), Unit: "ms", Values: o.Checked},
		{Key: "open.bare", Name: "the same without checksums", Unit: "ms", Values: o.Bare},
	}, nil
}
