package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"mcp__slack__send_message":                "slack send messag",
		"CronCreate":                              "cron creat",
		"HTTPServer2 parseJSON":                   "http server2 pars json",
		"Lists the open queries, running classes": "list open query run class",
		"发送消息 now":                                "发 送 发送 消 送消 息 消息 now",
		"Straße größer":                           "straße größer",
		"":                                        "",
	} {
		got := Words(in)
		if in == "发送消息 now" {
			if !slices.Contains(got, "消息") || !slices.Contains(got, "发") || !slices.Contains(got, "now") {
				t.Errorf("%q: %q", in, got)
			}
			continue
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func tools() *Index {
	return New([]Document{
		{"CronCreate", "", "Plans a message for a time."},
		{"CronList", "", "Lists what is planned."},
		{"mcp__slack__send_message", "chat post", "Sends a message to a channel or a person."},
		{"mcp__slack__list_channels", "", "Lists the channels."},
		{"mcp__github__create_issue", "bug report", "Opens an issue in a repository."},
		{"mcp__github__list_issues", "", "Lists issues of a repository."},
		{"mcp__wechat__send", "", "发送消息给联系人"},
		{"mcp__github__create_issue", "", "a second of that name"},
	}, ToolWeights())
}

func names(hits []Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Name)
	}
	return strings.Join(out, " ")
}

func TestQueriesFindWhatFits(t *testing.T) {
	x := tools()
	if x.Len() != 7 {
		t.Errorf("%d documents", x.Len())
	}
	for query, first := range map[string]string{
		"send a message to slack": "mcp__slack__send_message",
		"report a bug":            "mcp__github__create_issue",
		"cron create":             "CronCreate",
		"sending messages":        "mcp__slack__send_message",
		"发消息":                     "mcp__wechat__send",
		"iss":                     "mcp__github__list_issues",
		"discover: channels":      "mcp__slack__list_channels",
	} {
		hits, _ := x.Find(Parse(query), 5)
		if len(hits) == 0 || hits[0].Name != first && !(query == "iss" && hits[0].Name == "mcp__github__create_issue") {
			t.Errorf("%q finds %v, want %s first", query, hits, first)
		}
		for _, h := range hits {
			if h.Rank < Least || h.Rank > 1.0001 {
				t.Errorf("%q: %v", query, h)
			}
		}
	}
	if hits, _ := x.Find(Parse("+github list"), 5); names(hits) != "mcp__github__list_issues mcp__github__create_issue" {
		t.Errorf("a word that must be there: %v", hits)
	}
	if hits, _ := x.Find(Parse("list"), 1); len(hits) != 1 {
		t.Errorf("more than was asked for: %v", hits)
	}
	if hits, _ := x.Find(Parse("helicopter"), 5); len(hits) > 0 {
		t.Errorf("nothing fits, and there is %v", hits)
	}
	if got := x.Nearest(Parse("slacking"), 20); !slices.Equal(got, []string{"mcp__slack__list_channels", "mcp__slack__send_message"}) {
		t.Errorf("nearest: %q", got)
	}
}

func TestASelectionIsInItsOrderAndNamesWhatThereIsNot(t *testing.T) {
	hits, unknown := tools().Find(Parse("Select: cronlist, MCP__slack__send_message,nothing, CronList,"), 1)
	if names(hits) != "CronList mcp__slack__send_message" || !slices.Equal(unknown, []string{"nothing"}) {
		t.Errorf("%v, %q", hits, unknown)
	}
	if hits, unknown := tools().Find(Parse("select:"), 5); len(hits)+len(unknown) > 0 {
		t.Errorf("%v, %q", hits, unknown)
	}
}

func TestTheOrderDoesNotDependOnThatOfTheDocuments(t *testing.T) {
	docs := many(200)
	want, _ := New(docs, ToolWeights()).Find(Parse("create a report of the calendar"), 10)
	if len(want) == 0 {
		t.Fatal("nothing is found")
	}
	for range 5 {
		rand.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		if got, _ := New(docs, ToolWeights()).Find(Parse("create a report of the calendar"), 10); names(got) != names(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// many makes documents as servers have them.
func many(n int) []Document {
	verbs := []string{"list", "create", "delete", "update", "search", "read", "send", "export"}
	things := []string{"issue", "calendar", "message", "report", "user", "channel", "table", "query", "invoice", "picture", "ticket", "file"}
	docs := make([]Document, n)
	for i := range docs {
		v, th := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		docs[i] = Document{Name: fmt.Sprintf("mcp__server%d__%s_%s", i/96, v, th),
			Description: fmt.Sprintf("Will %s the %s of the account %d. Use this when the person asks for a %s, and give its id, page, order and filter as they were told.", v, th, i, th)}
	}
	return docs
}

func FuzzFind(f *testing.F) {
	f.Add("mcp__a__b", "some words 发送", "+select: words")
	f.Fuzz(func(t *testing.T, name, text, query string) {
		x := New([]Document{{Name: name, Description: text}, {Name: "CronList", Hint: text}}, SkillWeights())
		hits, _ := x.Find(Parse(query), 5)
		for _, h := range hits {
			if h.Rank < 0 || h.Rank > 1.0001 {
				t.Fatalf("%+v", h)
			}
		}
		for _, w := range Words(text) {
			if w == "" || len(w) > maxWord || utf8.ValidString(text) && !utf8.ValidString(w) {
				t.Fatalf("%q", w)
			}
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	docs := many(5000)
	for b.Loop() {
		New(docs, ToolWeights())
	}
}

func BenchmarkFind(b *testing.B) {
	x := New(many(5000), ToolWeights())
	q := Parse("create a report of the calendar for a user")
	for b.Loop() {
		x.Find(q, 5)
	}
}

// TestACommonWordSuggestsNothing: a text that is no query is met by names, not by the best
// that there is.
func TestACommonWordSuggestsNothing(t *testing.T) {
	x := New([]Document{
		{Name: "mcp__db__query", Description: "Runs an SQL query on the orders."},
		{Name: "mcp__mail__send", Description: "Sends a message with a text to somebody."},
	}, ToolWeights())
	for text, want := range map[string]string{
		"Query the db for open orders of last week": "mcp__db__query",
		"Correct the text of the error message":     "",
		"":                                          "",
	} {
		got := ""
		for _, h := range x.Suggest(text, 3) {
			got += h.Name
		}
		if got != want {
			t.Errorf("%q suggests %q, want %q", text, got, want)
		}
	}
	if hits, _ := x.Find(Parse("Correct the text of the error message"), 1); len(hits) == 0 {
		t.Error("a search finds nothing")
	}
}
