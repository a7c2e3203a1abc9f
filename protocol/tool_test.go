package protocol

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestToolsAreFoundByTheirNamesAndByThoseOfOldLogs(t *testing.T) {
	names := map[string]bool{}
	for _, want := range Tools() {
		for _, name := range append([]string{want.Name}, want.Aliases...) {
			if names[name] {
				t.Errorf("two tools are called %s", name)
			}
			names[name] = true
			if got := FindTool(name); got.Name != want.Name {
				t.Errorf("FindTool(%s) is %q", name, got.Name)
			}
			if got := ToolTells([]byte(name)); got != want.Tells {
				t.Errorf("results of %s tell %q, not %q", name, got, want.Tells)
			}
		}
		if other := want.RuleName; other != "" && FindTool(other).Rule != want.Rule {
			t.Errorf("rules for %s are offered as those for %s, which have another form", want.Name, other)
		}
		if other := want.AlsoRuledBy; other != "" && FindTool(other).Name != other {
			t.Errorf("%s names %s, which there is not", want.Name, other)
		}
	}
	if got := FindTool("no_such_tool"); got.Name != "" || ViewOf("no_such_tool") != ViewText {
		t.Errorf("a tool that there is not is %v", got)
	}
	if !slices.IsSortedFunc(Tools(), func(a, b ToolInfo) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the tools are not sorted by name")
	}
}

func TestTheTextOfAResultForPeople(t *testing.T) {
	code, long := 1, strings.Repeat("x", maxModelOnly+1)
	for name, c := range map[string]struct {
		tool, text string
		details    ToolDetails
		want       string
	}{
		"what the details say":          {"Bash", "out\n[exit code 1]", ToolDetails{ExitCode: &code, Shown: &ShownText{Tail: 13, Whole: 17}}, "out\n"},
		"what looks like prose stays":   {"Bash", "out\n[exit code 1]", ToolDetails{ExitCode: &code, Shown: &ShownText{Whole: 17}}, "out\n[exit code 1]"},
		"a hook has changed the text":   {"Bash", "changed", ToolDetails{Shown: &ShownText{Tail: 3, Whole: 17}}, "changed"},
		"more than there is":            {"Bash", "out", ToolDetails{Shown: &ShownText{Head: 2, Tail: 2, Whole: 3}}, "out"},
		"less than nothing":             {"Bash", "out", ToolDetails{Shown: &ShownText{Head: -1, Whole: 3}}, "out"},
		"too much for the model alone":  {"Bash", long + "x", ToolDetails{Shown: &ShownText{Head: len(long), Whole: len(long) + 1}}, long + "x"},
		"no tool of Scorel's own":       {"mcp__a__b", "out", ToolDetails{Shown: &ShownText{Tail: 3, Whole: 3}}, "out"},
		"a head and a tail":             {"WebFetch", "<p>\nx\n</p>", ToolDetails{Shown: &ShownText{Head: 4, Tail: 5, Whole: 10}}, "x"},
		"an old command":                {"Bash", "out\n[exit code 1]", ToolDetails{ExitCode: &code}, "out\n"},
		"an old command without a code": {"Bash", "out\n[exit code 1]", ToolDetails{}, "out\n[exit code 1]"},
		"an old agent":                  {"Task", "done\n[agent general, session ses_1]", ToolDetails{}, "done\n"},
		"an old page":                   {"WebFetch", "<web_page url=\"u\">\ntext\n</web_page>\n[note]", ToolDetails{}, "text"},
		"old matches":                   {"Grep", "a.go\n[Files 1 to 1 of 2.]", ToolDetails{}, "a.go\n"},
		"a tool of an extension":        {"mine", "x\n[exit code 1]", ToolDetails{ExitCode: &code}, "x\n[exit code 1]"},
	} {
		details, err := json.Marshal(c.details)
		if err != nil {
			t.Fatal(err)
		}
		m := Message{Role: RoleToolResult, ToolName: c.tool, Content: []Block{Text(c.text)}, Details: details}
		if got := m.TextForPeople(); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

func TestWhyACallDidNotComeToItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		m    Message
		want ToolOutcome
	}{
		"by its details":            {ToolRefused("c", "Bash", "no", OutcomeNotRun), OutcomeNotRun},
		"an ended command":          {Message{Role: RoleToolResult, IsError: true, Details: json.RawMessage(`{"cancelled":true}`)}, OutcomeCancelled},
		"in an old log, not run":    {ToolError("c", "Bash", "Not run: a rule denies it."), OutcomeNotRun},
		"in an old log, cancelled":  {ToolError("c", "Bash", "Cancelled by user"), OutcomeCancelled},
		"a failure":                 {ToolError("c", "Bash", "no such file"), ""},
		"a success that sounds so":  {Message{Role: RoleToolResult, Content: []Block{Text("Not run: x")}}, ""},
		"details of another's kind": {Message{Role: RoleToolResult, Details: json.RawMessage(`{"files":"none","outcome":7}`)}, ""},
	} {
		if got := c.m.Outcome(); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

func TestLinksOfASearchComeFromTheDetailsOrAnOldText(t *testing.T) {
	want := []Link{{"One", "https://a"}, {"Two", "https://b"}}
	details, _ := json.Marshal(ToolDetails{Links: want})
	for _, m := range []Message{
		{Role: RoleToolResult, ToolName: "WebSearch", Content: []Block{Text("other words")}, Details: details},
		{Role: RoleToolResult, ToolName: "WebSearch", Content: []Block{Text("<web_search>\n1. One\n   https://a\n   about\n2. Two\n   https://b\n</web_search>\n[note]")}},
	} {
		if got := m.Links(); !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	}
}
