package lane

import "testing"

func TestTheThinkWordCountsOutsideOfCodeAndQuotes(t *testing.T) {
	for text, want := range map[string]bool{
		"ultrathink":                              true,
		"Please ULTRATHINK about it.":             true,
		"fix it (ultrathink)":                     true,
		"ultrathink: why?":                        true,
		"first line\nultrathink.\nlast":           true,
		"```go\ncode\n```\nultrathink":            true,
		"it's hard, don't stop; ultrathink":       true,
		"an open \" mark and ultrathink":          true,
		"":                                        false,
		"think hard":                              false,
		"ultrathinking":                           false,
		"my_ultrathink":                           false,
		"ultrathink-mode":                         false,
		"look at src/ultrathink.go":               false,
		"see ultrathink.go":                       false,
		"@ultrathink":                             false,
		"what does `ultrathink` do?":              false,
		"what does \"ultrathink\" do?":            false,
		"was heißt „ultrathink“?":                 false,
		"```\nultrathink\n```\nwhat is this?":     false,
		"~~~~\nultrathink\n~~~\n~~~~\nwhat?":      false,
		"```\nultrathink":                         false,
		"> ultrathink\n\nsays somebody":           false,
		"the log:\n\n    ultrathink\n\nexplain":   false,
		"``` ultrathink ``` stands there":         false,
		"\xff\xfeultrathink":                      true,
		"see /ultrathink/ and ultrathink/file.go": false,
	} {
		if got := hasThinkWord(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
