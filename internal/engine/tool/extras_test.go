package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/tool/search"
	"scorel/protocol"
)

// fakeExtra is a tool that nobody runs.
type fakeExtra struct{ name, text, schema string }

func (f fakeExtra) Spec() Spec {
	return Spec{ToolInfo: protocol.ToolInfo{Name: f.name, Kind: protocol.ToolRuns}, Description: f.text, Schema: json.RawMessage(f.schema)}
}
func (fakeExtra) Prepare(context.Context, Call) (Prepared, error) { return nil, nil }

// slowServers have their tools after a time.
type slowServers struct {
	tools []Tool
	after time.Time
}

func (s *slowServers) there() bool { return !time.Now().Before(s.after) }
func (s *slowServers) Tools() []Tool {
	if s.there() {
		return s.tools
	}
	return nil
}
func (s *slowServers) Pending() []string {
	if s.there() {
		return nil
	}
	return []string{"db"}
}
func (s *slowServers) Settle(ctx context.Context, _ string) {
	select {
	case <-time.After(time.Until(s.after)):
	case <-ctx.Done():
	}
}

func extrasOf(s ExtraServers, fixed ...Tool) *Extras {
	return &Extras{Servers: s, Fixed: fixed, Takes: func(t Tool) bool { return t.Spec().Name != "mcp__db__drop" }, Direct: []string{"Read"}, Index: &ExtraIndex{}}
}

func TestASearchWaitsForServersTenSecondsAtMost(t *testing.T) {
	tools := []Tool{fakeExtra{"mcp__db__drop", "drops a table", `{}`}, fakeExtra{"mcp__db__query", "asks the database", `{}`}}
	for after, want := range map[time.Duration]string{9 * time.Second: "mcp__db__query\nasks the database", 11 * time.Second: "Still being connected with, so their tools are not known yet: db."} {
		synctest.Test(t, func(t *testing.T) {
			x := extrasOf(&slowServers{tools, time.Now().Add(after)})
			began := time.Now()
			text := x.find(t.Context(), search.Parse("database table"), 5).text(false)
			if !strings.Contains(text, want) || strings.Contains(text, "drop") {
				t.Errorf("after %s: %s", after, text)
			}
			if took := time.Since(began); took != min(after, 10*time.Second) {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestOnlyToolsThatTheTurnMayHaveAreFound(t *testing.T) {
	x := extrasOf(nil, fakeExtra{"mcp__db__drop", "drops", `{}`}, fakeExtra{"mcp__db__query", "asks", `{}`}, fakeExtra{"Read", "reads", `{}`})
	if names := Names(x.All()); !slices.Equal(names, []string{"mcp__db__query"}) {
		t.Errorf("%v", names)
	}
	for query, want := range map[string]string{
		"select:mcp__db__drop,READ": "You have these already; call them directly: Read.\nThere is no tool of these names: mcp__db__drop.",
		"+drops":                    "No tool was found.",
		"drop":                      "No tool was found.",
		"select:mcp__db__querry":    "There is no tool of these names: mcp__db__querry.\nNames that are near: mcp__db__query.",
	} {
		if text := x.find(t.Context(), search.Parse(query), 5).text(false); !strings.Contains(text, want) {
			t.Errorf("%s: %s", query, text)
		}
	}
	execute := executeExtraTool{}.With(Setting{Extras: x}, Session{}).(executeExtraTool)
	for name, want := range map[string]string{"mcp__db__drop": "that can be used here", "Read": "call it directly", "ExecuteExtraTool": "cannot call itself"} {
		if _, _, err := execute.Target(t.Context(), json.RawMessage(fmt.Sprintf(`{"tool_name":%q,"params":{}}`, name))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if execute.Behind("mcp__db__drop") != nil || execute.Behind("mcp__db__query") == nil {
		t.Error("a tool is behind the search that may not be, or is not that may be")
	}
	var none *Extras
	if none.All() != nil || none.Named("x") != nil || none.await(t.Context(), "x") != nil {
		t.Error("without extras there are some")
	}
}

func TestALongSchemaIsShownShorterAndStaysJSON(t *testing.T) {
	var deep strings.Builder
	for i := range 200 {
		fmt.Fprintf(&deep, `,"p%d":{"type":"object","description":%q,"properties":{"description":{"type":"string","description":"kept is the property, not the text"}}}`, i, strings.Repeat("long ", 40))
	}
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}` + deep.String() + `},"required":["a"]}`)
	var v struct {
		Properties map[string]struct {
			Type       string
			Properties map[string]any
		}
		Required []string
	}
	text := shownSchema(schema)
	if err := json.Unmarshal([]byte(text), &v); err != nil || len(text) > maxShownSchema {
		t.Fatalf("%d bytes: %v", len(text), err)
	}
	if len(v.Properties) != 201 || v.Properties["a"].Type != "string" || !slices.Equal(v.Required, []string{"a"}) {
		t.Errorf("%.300s", text)
	}
	small := fakeExtra{"x", "text", `{"type":"object","description":"kept"}`}
	if text := (extrasFound{tools: []Tool{small}}).text(false); !strings.Contains(text, `{"type":"object","description":"kept"}`) {
		t.Error(text)
	}
	if text := (extrasFound{tools: []Tool{small}}).text(true); strings.Contains(text, "kept") {
		t.Error(text)
	}
}
