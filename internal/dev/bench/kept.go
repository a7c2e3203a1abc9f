package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// kept measures what an answer costs while it streams in slowly: all of it is written to
// a file as it comes, so that a kill of the host loses little of it.
func kept(ctx context.Context, b *bench, n int) ([]figure, error) {
	cpu := figure{Key: "kept", Name: "answer of 57 KB over 3 s, kept as it comes: processor time", Unit: "ms", Goal: 400}
	const piece = "and so on it goes. "
	file := filepath.Join(b.world.root, "slow.jsonl")
	script := fmt.Sprintf("{\"script\":1,\"chunk\":%d,\"delayMs\":1}\n{\"again\":true,\"do\":[{\"text\":%q,\"times\":3000}]}\n", len(piece), piece)
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return nil, err
	}
	t := task{name: cpu.Name, args: []string{"-p", "--model", "script:" + file, "Tell me all."}, stdout: piece}
	for range max(3, n/4) {
		settle()
		p, err := b.once(ctx, t)
		if err != nil {
			return []figure{cpu}, err
		}
		cpu.Values = append(cpu.Values, p.CPUMS)
		runs, _ := cpu.Runs.([]process)
		cpu.Runs = append(runs, p)
	}
	return []figure{cpu}, nil
}
