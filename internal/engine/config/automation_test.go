package config

import (
	"strings"
	"testing"
)

func TestAutomationTakesOnlyWhatItSays(t *testing.T) {
	for text, want := range map[string]string{
		"maxParallel = 0":             "automation.maxParallel must be an integer from 1 to 16",
		"maxParallel = 17":            "automation.maxParallel must be an integer from 1 to 16",
		"maxDayUSD = -1":              "automation.maxDayUSD must be a number that is not negative",
		"maxRunTokens = 1.5":          "automation.maxRunTokens must be an integer from 0 to",
		"maxRunMinutes = 600000":      "automation.maxRunMinutes must be a number of minutes from 0 to 527040",
		"maxRunMinutes = inf":         "automation.maxRunMinutes must be a number of minutes",
		"quietHours = '22:00'":        "automation.quietHours must be two different times of a day, as 22:00-07:00",
		"quietHours = '24:00-07:00'":  "automation.quietHours must be two different times",
		"quietHours = '22:60-07:00'":  "automation.quietHours must be two different times",
		"quietHours = '07:00-07:00'":  "automation.quietHours must be two different times",
		"quietHours = '2:00-07:00 '":  "automation.quietHours must be two different times",
		"quietHours = '22.00-07.00'":  "automation.quietHours must be two different times",
		"quietHours = 22":             "automation.quietHours must be two different times",
		"onQuestion = 'allow'":        "automation.onQuestion must be deny or wait",
		"catchUp = 'all'":             "automation.catchUp must be one or none",
		"proactiveTickSeconds = 4":    "automation.proactiveTickSeconds must be an integer from 5 to 3600",
		"proactiveTickSeconds = 3601": "automation.proactiveTickSeconds must be an integer from 5 to 3600",
		"enabled = 'yes'":             "automation.enabled must be true or false",
		"maxRunEUR = 1":               "Unsupported config key: automation.maxRunEUR",
	} {
		_, _, err := Parse(user("[automation]\n"+text), File{}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if c, _, err := Parse(user("automation.quietHours = ''"), File{}, nil); err != nil || c.Automation.QuietHours != "" {
		t.Errorf("no quiet hours: %+v %v", c.Automation, err)
	}
}

func TestAutomationOfAProjectIsNotReadAndItsFileIsNamed(t *testing.T) {
	f := project("[automation]\nenabled = false\nmaxDayUSD = 100\n")
	f.Trusted = true
	c, notices, err := Parse(user("automation.maxDayUSD = 2"), f, nil)
	if err != nil || !c.Automation.Enabled || c.Automation.MaxDayUSD != 2 {
		t.Fatalf("%+v %v", c.Automation, err)
	}
	if len(notices) != 2 || notices[0].Text != "Ignored in a project's file: automation.enabled (/p/.scorel/config.toml:2): only the user's own configuration may set it." {
		t.Errorf("%+v", notices)
	}
}

func TestAProjectOnlyLowersHowLongATurnTakes(t *testing.T) {
	for _, c := range []struct {
		user, project string
		want          float64
		ignored       bool
	}{
		{"", "limits.maxTurnMinutes = 5", 5, false},
		{"limits.maxTurnMinutes = 10", "limits.maxTurnMinutes = 5", 5, false},
		{"limits.maxTurnMinutes = 10", "limits.maxTurnMinutes = 11", 10, true},
		{"limits.maxTurnMinutes = 10", "limits.maxTurnMinutes = 0", 10, true},
	} {
		got, notices, err := Parse(user(c.user), project(c.project), nil)
		if err != nil || got.Limits.MaxTurnMinutes != c.want || (len(notices) == 1) != c.ignored {
			t.Errorf("%+v: %v %v %v", c, got.Limits.MaxTurnMinutes, notices, err)
		}
		if c.ignored && !strings.Contains(notices[0].Text, "may only tighten") {
			t.Errorf("%+v: %v", c, notices)
		}
	}
}
