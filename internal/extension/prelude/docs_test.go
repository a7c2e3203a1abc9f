package prelude

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func apiPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/extensions/api.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEveryBlockOfCodeOnThePageIsAnExtensionThatLoads(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```ts\n(.*?)```").FindAllStringSubmatch(apiPage(t), -1)
	if len(blocks) < 4 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	for _, b := range blocks {
		ext, err := newDouble(t).tryLoad(b[1])
		if err != nil {
			t.Errorf("%v:\n%s", err, b[1])
			continue
		}
		if len(ext.reg.Unsupported) > 0 || len(ext.reg.Commands)+len(ext.reg.Tools)+len(ext.reg.Providers) == 0 {
			t.Errorf("unsupported %q, commands %v:\n%s", ext.reg.Unsupported, ext.reg.Commands, b[1])
		}
	}
}

func TestTheExamplesOfThePageDoWhatItSays(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```ts\n(.*?)```").FindAllStringSubmatch(apiPage(t), -1)
	d := newDouble(t)
	words := d.loadSource(blocks[0][1])
	if got, err := words.tool("count_words", `{"text":"one two  three"}`); err != nil || got.Content[0].Text != "3 words" {
		t.Errorf("count_words: %v, %v", got, err)
	}
	if got := words.answer("tool_call", `{"toolName":"Bash","toolCallId":"c","input":{"command":"git push"}}`); !strings.Contains(got, "People push.") {
		t.Errorf("git push: %s", got)
	}
	d.user("one")
	d.assistant("two")
	d.user("three")
	forget := d.loadSource(blocks[1][1])
	forget.run("forget")
	equal(t, "behind /forget", d.context(forget), []string{"three"})
}

func TestThePageNamesExactlyTheEventsThatThereAre(t *testing.T) {
	page := apiPage(t)
	_, table, _ := strings.Cut(page, "### Events")
	table, _, _ = strings.Cut(table, "Handlers run in load order.")
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(table, -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	declared := membersIn(body(t, typesText(t), "export interface Events {"))
	equal(t, "the events on the page", named, declared)

	_, native, _ := strings.Cut(page, "**`hooks()`**")
	native, _, _ = strings.Cut(native, "When `beforeToolCall` fails")
	for _, name := range membersIn(body(t, typesText(t), "export interface NativeHooks ")) {
		if !strings.Contains(native, "`"+name+"`") {
			t.Errorf("the page does not name the hook %s", name)
		}
	}

	_, never, _ := strings.Cut(page, "**Events** that never come")
	never, _, _ = strings.Cut(never, "What handlers of")
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(never, -1) {
		ext := newDouble(t).loadSource(`export default (pi) => pi.on("` + m[1] + `", () => {})`)
		if len(ext.reg.Unsupported) != 1 || strings.Contains(ext.reg.Unsupported[0], "no event of this name") {
			t.Errorf("%s: %q", m[1], ext.reg.Unsupported)
		}
	}
}
