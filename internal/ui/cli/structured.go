package cli

import (
	"context"

	"scorel/internal/ui/headless"
	"scorel/protocol"
)

// structured sends a prompt, or runs the command that it is, and asks until the answer fits
// the schema. A prompt brings the schema with it. What a command says to the model is its
// own, so the model is told the schema after its answer.
func (a *app) structured(ctx context.Context, run *headless.Run, o *promptOptions, message *protocol.SendMessage, command *protocol.RunCommand) error {
	var err error
	if command == nil {
		first := *message
		first.Content = append(append([]protocol.Block(nil), message.Content...), protocol.Text(o.parsed.Demand()))
		err = run.Message(ctx, &first)
	} else {
		command.Options = message.Options
		_, err = run.Command(ctx, command)
	}
	if err != nil {
		return err
	}
	return run.Structured(ctx, o.parsed, command == nil, func(ctx context.Context, text string) error {
		next := &protocol.SendMessage{Content: []protocol.Block{protocol.Text(text)}, WhenBusy: message.WhenBusy, Options: o.left(message.Options, run.Result)}
		if w := next.Options; w != nil && (w.MaxSteps < 0 || w.MaxBudgetUSD < 0 || w.MaxTokens < 0 || w.MaxMinutes < 0) {
			return o.spent(run.Result)
		}
		return run.Message(ctx, next)
	})
}

// left returns the options of a further turn, with what the run has left of its limits;
// below 0 is nothing.
func (o *promptOptions) left(options *protocol.TurnOptions, res *headless.Result) *protocol.TurnOptions {
	if o.maxTurns == 0 && o.most == (spending{}) {
		return options
	}
	var next protocol.TurnOptions
	if options != nil {
		next = *options
	}
	next.MaxSteps = leftOf(o.maxTurns, res.NumSteps)
	next.MaxBudgetUSD = leftOf(o.most.usd, res.Usage.CostUSD)
	next.MaxTokens = leftOf(o.most.tokens, res.Usage.ContextTokens())
	next.MaxMinutes = leftOf(o.most.minutes, res.Elapsed().Minutes())
	return &next
}

// leftOf returns what is left of a limit, 0 where there is none and -1 for nothing.
func leftOf[T int | float64](limit, used T) T {
	switch {
	case limit <= 0:
		return 0
	case used >= limit:
		return -1
	}
	return limit - used
}

// spent ends a run whose limits leave no further answer.
func (o *promptOptions) spent(res *headless.Result) error {
	res.Terminal = protocol.TerminalBudget
	res.Error = protocol.Errorf(protocol.CodeCostLimit, "The answer does not fit the JSON Schema, and the budget of the run is used up.")
	switch {
	case o.most.tokens > 0 && res.Usage.ContextTokens() >= o.most.tokens:
		res.Error.Code = protocol.CodeTokenLimit
	case o.most.minutes > 0 && res.Elapsed().Minutes() >= o.most.minutes:
		res.Error.Code = protocol.CodeTimeLimit
	}
	if o.maxTurns > 0 && res.NumSteps >= o.maxTurns {
		res.Terminal = protocol.TerminalMaxSteps
		res.Error = protocol.Errorf(protocol.CodeStepLimit, "The answer does not fit the JSON Schema, and the run has made its %d model calls.", o.maxTurns)
	}
	return nil
}
