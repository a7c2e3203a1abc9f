package skill

import (
	"strings"
	"testing"
)

func TestTheContextOfASkillIsForkOrInline(t *testing.T) {
	for text, want := range map[string]string{
		"context: fork\nagent: explore": "true explore",
		"context: fork":                 "true ",
		"context: inline":               "false ",
		"agent: explore":                "false explore",
		"context: forked":               `line 2: context is "forked"; it can be fork`,
		"context: [fork]":               "line 2: context must be one text",
		"context: fork\nagent: " + strings.Repeat("x", maxLabel+1): "line 3: agent has more than 100 bytes",
	} {
		s, _, err := parse([]byte("---\n" + text + "\n---\nbody"))
		got := "false "
		if s.Fork {
			got = "true "
		}
		if got += s.Agent; err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
