package permission

import (
	"strings"
	"testing"
)

func TestAlternativesAreCounted(t *testing.T) {
	for pattern, want := range map[string]int{
		"":                           1,
		"a,b":                        1,
		"*.{go,ts,js}":               3,
		"{a,b}/{c,d,e}":              6,
		"{a,{b,c}}":                  4,
		`\{a,b\}`:                    1,
		strings.Repeat("{a,aa}", 60): MaxAlternatives + 1,
		strings.Repeat("{a,", 200) + "b" + strings.Repeat("}", 200): MaxAlternatives + 1,
	} {
		if got := Alternatives(pattern); got != want {
			t.Errorf("%.30q: %d, want %d", pattern, got, want)
		}
	}
}

func TestAProjectsRulesCannotStopTheJudge(t *testing.T) {
	for _, deny := range [][]string{
		{"Read(" + strings.Repeat("{a,aa}", 40) + "b)"},
		strings.Split(strings.Repeat("Read(**/a/**)\n", maxRules)+"Read(b)", "\n"),
		{strings.Repeat("Read(**/a/**),", maxRules) + "Read(b)"},
	} {
		_, err := Compile(Config{UID: 1, Home: testHome, Root: testRoot, Layers: []Layer{{Name: "p.toml", Scope: ScopeProject, Deny: deny}}})
		if err == nil || !strings.HasPrefix(err.Error(), "p.toml") || !strings.Contains(err.Error(), "more than 1000") {
			t.Errorf("%.60q: %v", deny, err)
		}
	}
	granted := Layer{Scope: ScopeSession, Allow: []string{strings.Repeat("Read(a),", 2*maxRules)}}
	if _, err := compile(t, Default).With(granted); err != nil {
		t.Errorf("what people answered: %v", err)
	}
}
