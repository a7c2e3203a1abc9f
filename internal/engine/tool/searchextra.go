package tool

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"slices"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool/search"
	"scorel/protocol"
)

//go:embed searchextra.md
var searchExtraText string

const (
	// foundTools is how many tools a search returns that names no number.
	foundTools = 5
	// maxNearest is how many names are told where nothing was found.
	maxNearest = 20
)

// WithExtras returns tools with the two for the tools that a model is not sent among them,
// sorted by name; the list that it is given stays as it is.
func WithExtras(tools []Tool) []Tool {
	tools = append(slices.Clone(tools), searchExtraTool{}, executeExtraTool{})
	slices.SortStableFunc(tools, byName)
	return tools
}

// ExtraNames are the names of the tools that [WithExtras] adds.
func ExtraNames() []string { return []string{executeExtraName, searchExtraName} }

const searchExtraName = "SearchExtraTools"

type searchExtraTool struct{ extras *Extras }

// With implements [Needy].
func (t searchExtraTool) With(g Setting, _ Session) Tool {
	t.extras = g.Extras
	return t
}

type searchExtraInput struct {
	Query string `json:"query"`
	Max   int    `json:"max_results"`
}

// searchExtraInfo is what the tool means to others.
var searchExtraInfo = protocol.ToolInfo{Name: searchExtraName, Kind: protocol.ToolOwn, TitleField: "query"}

// searchExtraSchema is the JSON Schema of its input.
var searchExtraSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":1000,"description":"Words, or one of the other forms."},` +
		`"max_results":{"type":"integer","minimum":1,"maximum":25,"description":"5 without it."}},` +
		`"required":["query"],"additionalProperties":false}`)

// Spec implements [Tool].
func (searchExtraTool) Spec() Spec {
	return Spec{ToolInfo: searchExtraInfo, Needs: NeedsExtras, Preset: ReadOnly, Description: searchExtraText, Parallel: true, Schema: searchExtraSchema}
}

// Prepare implements [Tool].
func (t searchExtraTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[searchExtraInput](call)
	if err != nil {
		return nil, err
	}
	return searchExtraCall{t.extras, in}, nil
}

type searchExtraCall struct {
	extras *Extras
	in     searchExtraInput
}

// Action implements [Prepared].
func (searchExtraCall) Action() permission.Action {
	return permission.Action{Tool: searchExtraName, Kind: searchExtraInfo.Kind}
}

// Snapshots implements [Prepared].
func (searchExtraCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (searchExtraCall) Close() {}

// Run implements [Prepared].
func (c searchExtraCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	if c.extras == nil {
		return textResult("There are no other tools than those that you have."), nil
	}
	q := search.Parse(c.in.Query)
	f := c.extras.find(ctx, q, cmp.Or(c.in.Max, foundTools))
	return textResult(f.text(q.Discover)), ctx.Err()
}
