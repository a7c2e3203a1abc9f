package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/engine/fetch"
	"scorel/internal/engine/permission"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

//go:embed websearch.md
var webSearchText string

const webHits = 5 // results without count

type webSearchTool struct {
	search *fetch.Searcher
}

// With implements [Needy].
func (t webSearchTool) With(g Setting, _ Session) Tool {
	t.search = g.Search
	return t
}

type webSearchInput struct {
	Query   string   `json:"query"`
	Count   int      `json:"count"`
	Allowed []string `json:"allowed_domains"`
	Blocked []string `json:"blocked_domains"`
}

// webSearchInfo is what the tool means to others.
var webSearchInfo = protocol.ToolInfo{Name: "WebSearch", Kind: protocol.ToolSends, View: protocol.ViewResults, TitleField: "query"}

// domainList begins the schema of a list of domains, up to its description.
const domainList = `{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":253,"pattern":"^[A-Za-z0-9._*-]+$"},"description":`

// webSearchSchema is the JSON Schema of its input.
var webSearchSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":400,"description":"What to search for."},` +
		`"count":{"type":"integer","minimum":1,"maximum":10,"description":"How many results at most; 5 without it."},` +
		`"allowed_domains":` + domainList + `"Only results of these domains, as in example.com."},` +
		`"blocked_domains":` + domainList + `"No results of these domains."}},` +
		`"required":["query"],"additionalProperties":false}`)

// Spec implements [Tool].
func (webSearchTool) Spec() Spec {
	return Spec{ToolInfo: webSearchInfo, Needs: NeedsSearch, Description: webSearchText, Parallel: true, Schema: webSearchSchema}
}

// Prepare implements [Tool].
func (t webSearchTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[webSearchInput](call)
	if err != nil {
		return nil, err
	}
	if t.search == nil {
		return nil, errors.New("there is no search service here; the user can configure one with search.provider")
	}
	if strings.TrimSpace(in.Query) == "" {
		return nil, errors.New("the query holds no words")
	}
	if in.Count == 0 {
		in.Count = webHits
	}
	return &webSearchCall{t, in}, nil
}

type webSearchCall struct {
	tool webSearchTool
	in   webSearchInput
}

// Action implements [Prepared].
func (c *webSearchCall) Action() permission.Action {
	return permission.Action{Tool: webSearchInfo.Name, Kind: webSearchInfo.Kind, Host: c.tool.search.Host()}
}

// Snapshots implements [Prepared].
func (*webSearchCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (*webSearchCall) Close() {}

// Run implements [Prepared].
func (c *webSearchCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	hits, err := c.tool.search.Search(ctx, fetch.Query{Text: c.in.Query, Count: c.in.Count, Allowed: c.in.Allowed, Blocked: c.in.Blocked})
	if err != nil {
		return Result{}, err
	}
	if len(hits) == 0 {
		return textResult("[Nothing was found.]"), nil
	}
	var list strings.Builder
	var d protocol.ToolDetails
	for i, h := range hits {
		d.Links = append(d.Links, protocol.Link{Title: h.Title, URL: h.URL})
		fmt.Fprintf(&list, "%d. %s\n   %s\n", i+1, h.Title, h.URL)
		if about := strings.TrimSpace(strings.Join([]string{h.Date, h.Snippet}, " ")); about != "" {
			fmt.Fprintf(&list, "   %s\n", about)
		}
	}
	head, text, tail := promptsafe.Parts("web_search", "", strings.TrimRight(list.String(), "\n"))
	return shownResult(d, head, text, tail+"\n"+notInstructions), nil
}
