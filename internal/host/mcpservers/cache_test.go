package mcpservers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// sent is what a vendor compares with the requests before: the tools as they are, and each
// message without the marks that move.
func sent(t *testing.T, body []byte) (tools []byte, messages []string) {
	t.Helper()
	var r struct {
		Tools                     json.RawMessage
		Messages, Input, Contents []any
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]any{r.Messages, r.Input, r.Contents} {
		for _, m := range list {
			text, err := json.Marshal(unmarked(m))
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, string(text))
		}
	}
	if len(messages) == 0 {
		t.Fatalf("no messages in %.300s", body)
	}
	return r.Tools, messages
}

func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		for key := range v {
			v[key] = unmarked(v[key])
		}
	case []any:
		for i := range v {
			v[i] = unmarked(v[i])
		}
	}
	return v
}

func TestRequestsExtendEachOtherWhileServersComeGoAndChange(t *testing.T) {
	const turns = 50
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			var lines []string
			for i := range turns {
				switch i {
				case 5, 25:
					lines = append(lines, through("mcp__notes__exit", `{"text":""}`))
				case 15:
					lines = append(lines, through("mcp__grow__more", `{"text":"extra"}`))
				case 17:
					lines = append(lines, through("mcp__grow__wider", `{"text":"fresh"}`))
				case 20:
					lines = append(lines, through("mcp__late__echo", `{"text":"hi"}`))
				case 30, 40:
					lines = append(lines, through("mcp__notes__echo", `{"text":"back"}`))
				case 35:
					lines = append(lines, through("mcp__nobody__knows", `{}`), find("say it again"))
				}
				lines = append(lines, done)
			}
			// Rules of the caller would have the first turn wait for these servers.
			s := hosttest.Setting{API: api, Tables: "[permissions]\nallow = ['mcp__notes', 'mcp__grow', 'mcp__late']\n"}
			w := hosttest.New(t, s, append(lines, `{"again":true,"do":[{"text":"done"}]}`)...)
			configure(w, entry("notes", ``), entry("late", ``), entry("grow", ``), entry("first", `,"alwaysLoad":true`))
			e := w.Begin(false)
			for i := range turns {
				switch i {
				case 10:
					w.File("late", "")
				case 45:
					configure(w, entry("other", ``))
				}
				text := fmt.Sprintf("turn %d", i)
				if i > 46 {
					text = "Echo this."
				}
				if end := e.Say(text); end.Reason != protocol.EndCompleted {
					t.Fatalf("turn %d: %+v", i, end)
				}
			}
			w.Eventually("the prompt and the resource that were added are known", func() bool {
				commands := hosttest.AsText(t, hosttest.Call[*protocol.CommandList](t, e.C, e.ID, &protocol.ListCommands{}))
				return strings.Contains(commands, "mcp__grow__fresh") && !strings.Contains(commands, "mcp__grow__fails")
			})
			w.Eventually("the tool that was added is told", func() bool {
				e.Say("more")
				bodies := w.Bodies()
				return bytes.Contains(bodies[len(bodies)-1], []byte("- mcp__grow__ extra"))
			})
			if told := strings.Join(promptItems(w, e.ID), "\n"); !strings.Contains(told, "Prompts of MCP servers that have come, to be used like the others:\n- mcp__grow__fresh\nThese prompts are no longer there: mcp__grow__fails.") {
				t.Errorf("told of prompts: %s", told)
			}
			bodies := w.Bodies()
			tools, before := sent(t, bodies[0])
			for i, b := range bodies[1:] {
				now, messages := sent(t, b)
				if !bytes.Equal(now, tools) {
					t.Fatalf("request %d has other tools:\n%s\nbefore\n%s", i+1, now, tools)
				}
				for k, m := range before {
					if k >= len(messages) || messages[k] != m {
						t.Fatalf("request %d does not extend the one before: message %d is\n%s\nand was\n%s", i+1, k, messages[min(k, len(messages)-1)], m)
					}
				}
				before = messages
			}
			if got := discoveries(w, e.ID); len(got) == 0 || !strings.Contains(got[0], "- mcp__notes__echo: [notes says] says it again") {
				t.Errorf("suggested %q", got)
			}
			if !strings.Contains(string(tools), "mcp__first__echo") || strings.Contains(string(tools), "mcp__late") {
				t.Errorf("the tools are %s", tools)
			}
			var texts []string
			for _, r := range results(w, e.ID) {
				_, text, _ := strings.Cut(r, ": ")
				texts = append(texts, text)
			}
			for _, want := range []string{"one more", "you said hi", "you said back", "There is no tool \"mcp__nobody__knows\"", "mcp__first__echo"} {
				if (want == "mcp__first__echo") == strings.Contains(strings.Join(texts, "\n"), want) {
					t.Errorf("%q in the results: %q", want, texts)
				}
			}
		})
	}
}

func TestAfterACompactionAllNamesAreToldAgain(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), find("say"), `{"if":{"kind":"compact"},"again":true,"do":[{"text":"a summary"}]}`, `{"again":true,"do":[{"text":"done"}]}`)
	configure(w, entry("notes", ``))
	e := w.Begin(false)
	e.Say("go")
	e.Say("go on")
	e.Compact()
	e.Say("after")
	e.Say("and again")
	bodies := w.Bodies()
	if n := strings.Count(string(bodies[len(bodies)-1]), "- mcp__notes__ echo, exit, secret"); n != 1 {
		t.Errorf("told %d times: %s", n, bodies[len(bodies)-1])
	}
}
