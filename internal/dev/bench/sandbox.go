package main

import (
	"context"
	"fmt"
)

// confinedCalls is how many commands one run makes, each in a step of its own.
const confinedCalls = 20

// confinement measures what the sandbox costs a command: runs with it and without
// it take turns, and their difference is shared out among the commands.
func confinement(ctx context.Context, b *bench, n int) ([]figure, error) {
	var answers []string
	for i := range confinedCalls {
		answers = append(answers, fmt.Sprintf(`{"call":"Bash","id":"c%d","input":{"command":"true %d"}}`, i, i))
	}
	answers = append(answers, `{"text":"All ran."}`)
	args := []string{"-p", "Run them.", "--allowed-tools", "Bash"}
	with := task{name: "a run of commands", args: args, script: inOrder(0, answers...), requests: confinedCalls + 1, messages: 2*confinedCalls + 1, stdout: "All ran."}
	without := with
	without.args = append(args[:len(args):len(args)], "--sandbox", "off")
	for _, t := range []task{with, without} {
		if err := b.check(ctx, t); err != nil {
			return nil, err
		}
	}
	if err := b.server.load(ctx, with.script, false); err != nil {
		return nil, err
	}
	extra := figure{Key: "sandbox", Name: "a command in the sandbox over one without", Unit: "ms", Goal: 10}
	plain := figure{Key: "sandbox.off", Name: "a step with a command without the sandbox", Unit: "ms"}
	for range max(5, n/2) {
		var took [2]float64
		for i, t := range []task{with, without} {
			settle()
			p, err := b.once(ctx, t)
			if err != nil {
				return []figure{extra, plain}, err
			}
			took[i] = p.WallMS
		}
		extra.Values = append(extra.Values, (took[0]-took[1])/confinedCalls)
		plain.Values = append(plain.Values, took[1]/confinedCalls)
	}
	return []figure{extra, plain}, nil
}
