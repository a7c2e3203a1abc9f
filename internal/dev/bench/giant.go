package main

import (
	"context"
	"os"
)

// The giant session: 1 GB that was never compacted, a fourth of its events results of
// 30 KB.
const (
	giantEvents = 128_000
	giantResult = 30_000
)

// giant measures how much memory it takes to show a session of 1 GB, and to go on in it,
// with a model that sees a small part of it, so that it is compacted before.
func giant(ctx context.Context, b *bench, n int) ([]figure, error) {
	id, file, err := b.world.sessionOf(b.load.giant, giantResult, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file) }()
	tree := figure{Key: "giant", Name: "a session of 1 GB, its tree: resident memory", Unit: "MB", Goal: 300}
	turn := figure{Key: "giant.turn", Name: "the same, compaction and a turn: resident memory", Unit: "MB", Goal: 300}
	all := func() []figure { return []figure{tree, turn} }
	if err := b.server.load(ctx, "{\"script\":1}\n{\"again\":true,\"do\":[{\"text\":\"It is done.\"}]}\n", true); err != nil {
		return all(), err
	}
	for range repeats(n) {
		for _, run := range []struct {
			task task
			to   *figure
		}{
			{task{name: tree.Name, args: []string{"sessions", "show", "--tree", id}, stdout: "returns before"}, &tree},
			{task{name: turn.Name, args: []string{"-p", "--model", "usual", "--session", id, "Go on."}, stdout: "It is done.", log: file}, &turn},
		} {
			settle()
			p, err := b.once(ctx, run.task)
			if err != nil {
				return all(), err
			}
			run.to.Values = append(run.to.Values, p.MaxRSS/mega)
			all, _ := run.to.Runs.([]process)
			run.to.Runs = append(all, p)
		}
	}
	return all(), nil
}
