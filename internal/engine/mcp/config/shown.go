package config

import (
	"net/url"

	"scorel/internal/text/secret"
)

// Shown returns the command line or address of an entry as people see it: without what may
// be secret, and without the values of variables where the entry is not expanded.
func (e Entry) Shown() string {
	if e.Type == TypeStdio {
		return secret.Redact(e.Target())
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.User == nil && u.RawQuery == "" {
		return secret.Redact(e.URL)
	}
	if u.User != nil {
		u.User = url.User("redacted")
	}
	if u.RawQuery != "" {
		u.RawQuery = "redacted"
	}
	return secret.Redact(u.String())
}
