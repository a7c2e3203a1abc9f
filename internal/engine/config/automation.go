package config

// Bounds of limits: a year, and more tokens than any day has.
const (
	maxMinutes = 366 * 24 * 60
	maxTokens  = 1_000_000_000_000
)

// automationKeys are those of the table [automation].
func automationKeys() []key {
	of := func(name, what, without, doc string, set func(*Automation, entry) error) key {
		return key{Key{"automation." + name, what, without, ScopeUser, doc}, false, func(c *Config, e entry) error { return set(&c.Automation, e) }}
	}
	return []key{
		of("enabled", "boolean", "true", "Whether sessions begin work by themselves, on schedules and the like.",
			func(a *Automation, e entry) error { return boolean(&a.Enabled, e) }),
		of("maxParallel", "integer", "2", "How many automated runs work at once; further ones wait.",
			func(a *Automation, e entry) error { return integer(&a.MaxParallel, e, 1, 16) }),
		of("maxRunUSD", "number", "0", "What one automated run may cost in US dollars; 0 means no limit.",
			func(a *Automation, e entry) error { return number(&a.MaxRunUSD, e) }),
		of("maxDayUSD", "number", "0", "What all automated runs of a day may cost in US dollars; 0 means no limit.",
			func(a *Automation, e entry) error { return number(&a.MaxDayUSD, e) }),
		of("maxRunTokens", "integer", "0", "How many tokens models may read and write in one automated run, those of the cache too; 0 means no limit.",
			func(a *Automation, e entry) error { return integer(&a.MaxRunTokens, e, 0, maxTokens) }),
		of("maxDayTokens", "integer", "0", "How many tokens models may read and write in all automated runs of a day; 0 means no limit.",
			func(a *Automation, e entry) error { return integer(&a.MaxDayTokens, e, 0, maxTokens) }),
		of("maxRunMinutes", "number", "0", "How many minutes one automated run may take, without waits for answers; 0 means no limit.",
			func(a *Automation, e entry) error { return minutes(&a.MaxRunMinutes, e) }),
		of("quietHours", "HH:MM-HH:MM", "", "The hours in which no automated run begins, in local time, as 22:00-07:00; what is due runs once at their end.",
			quietHours),
		of("onQuestion", "deny or wait", "deny", "What becomes of a question in an automated run: denied at once, or asked of who comes.",
			func(a *Automation, e entry) error { return choose(&a.OnQuestion, e, "deny", "wait") }),
		of("catchUp", "one or none", "one", "Whether what was due while the host was down runs once afterwards.",
			func(a *Automation, e entry) error { return choose(&a.CatchUp, e, "one", "none") }),
		of("proactiveTickSeconds", "integer", "30", "Seconds from the end of a turn to the next tick of a proactive session.",
			func(a *Automation, e entry) error { return integer(&a.ProactiveTickSeconds, e, 5, 3600) }),
	}
}

// minutes takes a limit of time, at most a year.
func minutes(to *float64, e entry) error {
	var m float64
	if err := number(&m, e); err != nil || m > maxMinutes {
		return wrong(e, "a number of minutes from 0 to 527040")
	}
	*to = m
	return nil
}

// turnMinutes takes how long a turn may take, of a project only what is shorter.
func turnMinutes(c *Config, e entry) error {
	var m float64
	if err := minutes(&m, e); err != nil {
		return err
	}
	if now := c.Limits.MaxTurnMinutes; e.source.Kind == SourceProject && (m == 0 || now > 0 && m > now) {
		return errWidens
	}
	c.Limits.MaxTurnMinutes = m
	return nil
}

// quietHours takes a span of local time, over midnight too; "" is none.
func quietHours(a *Automation, e entry) error {
	s, ok := e.value.(string)
	if !ok || s != "" && !isSpan(s) {
		return wrong(e, "two different times of a day, as 22:00-07:00, or empty for none")
	}
	a.QuietHours = s
	return nil
}

// isSpan reports whether s is two different times of a day as HH:MM-HH:MM.
func isSpan(s string) bool {
	return len(s) == len("22:00-07:00") && s[5] == '-' && isTime(s[:5]) && isTime(s[6:]) && s[:5] != s[6:]
}

// isTime reports whether s is a time from 00:00 to 23:59.
func isTime(s string) bool {
	for _, i := range []int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s[2] == ':' && s[:2] <= "23" && s[3:] <= "59"
}
