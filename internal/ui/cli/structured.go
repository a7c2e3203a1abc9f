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
		if next.Options != nil && (next.Options.MaxSteps < 0 || next.Options.MaxBudgetUSD < 0) {
			return o.spent(run.Result)
		}
		return run.Message(ctx, next)
	})
}

// left returns the options of a further turn, with what the run has left of its limits;
// below 0 is nothing.
func (o *promptOptions) left(options *protocol.TurnOptions, res *headless.Result) *protocol.TurnOptions {
	if o.maxTurns == 0 && o.maxBudget == 0 {
		return options
	}
	var next protocol.TurnOptions
	if options != nil {
		next = *options
	}
	if o.maxTurns > 0 {
		if next.MaxSteps = o.maxTurns - res.NumSteps; next.MaxSteps <= 0 {
			next.MaxSteps = -1
		}
	}
	if o.maxBudget > 0 {
		if next.MaxBudgetUSD = o.maxBudget - res.Usage.CostUSD; next.MaxBudgetUSD <= 0 {
			next.MaxBudgetUSD = -1
		}
	}
	return &next
}

// spent ends a run whose limits leave no further answer.
func (o *promptOptions) spent(res *headless.Result) error {
	res.Terminal = protocol.TerminalBudget
	res.Error = protocol.Errorf(protocol.CodeCostLimit, "The answer does not fit the JSON Schema, and the budget of the run is used up.")
	if o.maxTurns > 0 && res.NumSteps >= o.maxTurns {
		res.Terminal = protocol.TerminalMaxSteps
		res.Error = protocol.Errorf(protocol.CodeStepLimit, "The answer does not fit the JSON Schema, and the run has made its %d model calls.", o.maxTurns)
	}
	return nil
}
