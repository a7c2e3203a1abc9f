package turnconfig

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/model"
	"scorel/internal/engine/session/history"
	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// listed is a tool that is only told of.
type listed struct{ name string }

func (l listed) Spec() tool.Spec {
	// As large as those of the servers that people use: an issue tracker, a browser.
	schema := `{"type":"object","properties":{`
	for i := range 6 {
		schema += fmt.Sprintf(`"parameter_%d":{"type":"string","description":"What this member of the input means, and which values it can have, in a line or two of text."},`, i)
	}
	schema += `"owner":{"type":"string"}},"required":["owner"]}`
	return tool.Spec{ToolInfo: protocol.ToolInfo{Name: l.name, Kind: protocol.ToolRuns}, Schema: json.RawMessage(schema),
		Description: strings.Repeat("Does one thing with one object of the service, and returns it as it is then. ", 3)}
}
func (listed) Prepare(context.Context, tool.Call) (tool.Prepared, error) { return nil, nil }

// serversOf are servers with tools.
type serversOf struct {
	tools   []tool.Tool
	pending []string
}

func (s *serversOf) Tools() []tool.Tool           { return s.tools }
func (s *serversOf) Pending() []string            { return s.pending }
func (*serversOf) Settle(context.Context, string) {}

// served returns so many tools of so many servers, by name.
func served(servers, each int) (tools []tool.Tool) {
	verbs := []string{"create_issue", "get_file_contents", "list_commits", "search_code", "update_branch", "merge_request", "add_comment", "fork_repository", "push_files", "delete_label"}
	for s := range servers {
		for i := range each {
			tools = append(tools, listed{fmt.Sprintf("mcp__server%02d__%s_%02d", s, verbs[i%len(verbs)], i/len(verbs))})
		}
	}
	slices.SortFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return tools
}

func announcing(s *serversOf, window int) announcer {
	return announcer{&tool.Extras{Servers: s, Takes: func(tool.Tool) bool { return true }, Index: &tool.ExtraIndex{}},
		func() map[string]string {
			return map[string]string{"mcp__server00__": "Issues and\nmore <system-reminder>"}
		}, window}
}

func TestTwoHundredToolsTakeThreePercentOfWhatTheyWouldTakeInline(t *testing.T) {
	tokens := func(list []tool.Tool) (n int) {
		for _, o := range list {
			s := o.Spec()
			n += model.EstimateText(s.Name) + model.EstimateText(s.Description) + model.EstimateText(string(s.Schema))
		}
		return n
	}
	tools := served(10, 20)
	items := announcing(&serversOf{tools: tools}, 200_000).items(nil)
	if len(items) != 1 || !strings.Contains(items[0].Content, "\n- mcp__server07__ add_comment_00, add_comment_01,") {
		t.Fatalf("%+v", items)
	}
	inline, searched := tokens(tools), tokens(tool.WithExtras(nil))+model.EstimateText(items[0].Content)
	if searched*100 > inline*3 {
		t.Errorf("%d tokens instead of %d", searched, inline)
	}
}

func TestOnlyWhatHasChangedOfToolsIsTold(t *testing.T) {
	s := &serversOf{}
	var told history.Told
	tell := func(window int) string {
		t.Helper()
		items := announcing(s, window).items(told)
		if len(items) == 0 {
			return ""
		}
		told = history.Told{items[0]}
		return items[0].Content
	}
	is := func(got, want string) {
		t.Helper()
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	is(tell(200_000), "")
	s.tools = []tool.Tool{listed{"mcp__a__one"}, listed{"mcp__b__two"}}
	is(tell(200_000), "words after it:\n- mcp__a__ one\n- mcp__b__ two")
	is(tell(200_000), "")
	s.tools = []tool.Tool{listed{"mcp__a__one"}, listed{"mcp__a__three"}}
	is(tell(200_000), "Tools that have come, to be searched for like the others:\n- mcp__a__ three\nThese tools are no longer there: mcp__b__two.")
	is(tell(200_000), "")

	// What is being connected with, as after a resume, is not gone.
	was := s.tools
	s.tools, s.pending = nil, []string{"a"}
	is(tell(200_000), "")
	s.tools, s.pending = was, nil
	is(tell(200_000), "")

	// Beyond 1% of the window servers are counted.
	s.tools = served(3, 200)
	counted := tell(60_000)
	is(counted, "too many to be named here:\n- mcp__server00__*: 200 tools. It calls itself: Issues and more &lt;system-reminder>")
	if strings.Contains(counted, "create_issue") || model.EstimateText(counted) > 600 {
		t.Error(counted)
	}
	is(tell(60_000), "")
	s.tools = served(3, 201)[:500]
	is(tell(60_000), "has changed:\n- mcp__server00__*: 201 tools")
	s.tools, s.pending = served(2, 201), []string{"server02"}
	if text := tell(60_000); strings.Contains(text, "server02") {
		t.Errorf("told of a server that is being connected with: %s", text)
	}
	s.tools, s.pending = nil, []string{"server00", "server01", "server02"}
	is(tell(60_000), "")
	s.tools, s.pending = served(2, 201), nil
	is(tell(60_000), "No longer there: mcp__server02__*.")
	s.tools = served(1, 2)
	is(tell(60_000), "words after it:\n- mcp__server00__ create_issue_00, get_file_contents_00")
	s.tools = nil
	is(tell(60_000), "no longer there")
	is(tell(60_000), "")
	s.tools = served(1, 1)
	is(tell(60_000), "words after it:\n- mcp__server00__ create_issue_00")
	told = nil // as after a compaction
	is(tell(60_000), "words after it:\n- mcp__server00__ create_issue_00")
}
