package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// maxRules bounds each list of a policy.
const maxRules = 1000

// Rule names servers by one of three things.
type Rule struct {
	Name    string   // of the server, "" for none
	Command []string // command and arguments, exactly; nil for none
	URL     string   // a pattern: * is any run of characters, in the host none with a /
}

// Policy is what one layer allows and denies.
type Policy struct {
	Layer    string // for people: a file
	Managed  bool   // it is the administrator's
	Limited  bool   // there is an allow list; what it does not have is not allowed
	Allowed  []Rule
	Denied   []Rule
	OnlyThis bool // of the administrator's: allow lists of other layers do not count
}

// Policies are those of all layers: each can deny, and each allow list has to allow.
type Policies []Policy

// Refusal is why a policy does not let a server be used.
type Refusal struct {
	Code  Code
	Layer string
}

// Error returns a sentence.
func (r *Refusal) Error() string {
	if r.Code == CodeDenied {
		return "it is denied by " + r.Layer
	}
	return "it is not among the servers that " + r.Layer + " allows"
}

// Check returns why an entry, which is expanded, may not be used; nil when it may. Deny
// rules are looked at before allow lists.
func (p Policies) Check(e Entry) *Refusal {
	for _, l := range p {
		if slices.ContainsFunc(l.Denied, func(r Rule) bool { return r.matches(e) }) {
			return &Refusal{CodeDenied, l.Layer}
		}
	}
	only := slices.ContainsFunc(p, func(l Policy) bool { return l.OnlyThis && l.Managed })
	for _, l := range p {
		if l.Limited && (!only || l.Managed) && !l.allows(e) {
			return &Refusal{CodeNotInAllowList, l.Layer}
		}
	}
	return nil
}

// allows reports whether the allow list has an entry. Where it names commands, a name
// alone lets no process be started, and where it names URLs, none be reached: whoever
// writes the entry chooses its name.
func (l Policy) allows(e Entry) bool {
	exact := func(r Rule) bool { return r.URL != "" }
	if e.Type == TypeStdio {
		exact = func(r Rule) bool { return r.Command != nil }
	}
	must := slices.ContainsFunc(l.Allowed, exact)
	return slices.ContainsFunc(l.Allowed, func(r Rule) bool { return (!must || exact(r)) && r.matches(e) })
}

func (r Rule) matches(e Entry) bool {
	switch {
	case r.Name != "":
		return r.Name == e.Name || cleanName(r.Name) == e.Name
	case r.Command != nil:
		return e.Type == TypeStdio && slices.Equal(r.Command, append([]string{e.Command}, e.Args...))
	case r.URL != "":
		return e.Type != TypeStdio && matchURL(r.URL, e.URL)
	}
	return false
}

// matchURL compares a URL with a pattern: scheme, host and the rest each for itself, so
// that no * of the host reaches into the path.
func matchURL(pattern, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		return false
	}
	i := strings.IndexAny(rest, "/?#")
	if i < 0 {
		i = len(rest)
	}
	host, path := strings.ToLower(rest[:i]), rest[i:]
	scheme = strings.ToLower(scheme)
	its := u.EscapedPath()
	if u.RawQuery != "" {
		its += "?" + u.RawQuery
	}
	if its == "" || its[0] == '?' {
		its = "/" + its
	}
	if path == "" || path[0] == '?' {
		path = "/" + path
	}
	return glob(scheme, strings.ToLower(u.Scheme)) && matchHost(host, strings.ToLower(u.Scheme), u) && glob(path, its)
}

// matchHost compares host and port; the usual port of a scheme may be left out.
func matchHost(pattern, scheme string, u *url.URL) bool {
	host, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	usual := map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[scheme]
	if port == "" {
		port = usual
	}
	return glob(pattern, host+":"+port) || port == usual && glob(pattern, host)
}

// glob reports whether a pattern with * fits a whole text. It takes time in proportion to
// the product of their lengths at most.
func glob(pattern, text string) bool {
	star, mark, i, j := -1, 0, 0, 0
	for j < len(text) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && pattern[i] == text[j]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}

// RuleOf makes a rule of its keys: exactly one of serverName, serverCommand and serverUrl.
func RuleOf(name string, command []string, address string) (Rule, error) {
	n := 0
	for _, there := range []bool{name != "", command != nil, address != ""} {
		if there {
			n++
		}
	}
	switch {
	case n != 1:
		return Rule{}, errors.New("a rule has exactly one of serverName, serverCommand and serverUrl")
	case command != nil && (len(command) == 0 || command[0] == ""):
		return Rule{}, errors.New("serverCommand is empty")
	case address != "" && !strings.Contains(address, "://"):
		return Rule{}, errors.New("serverUrl has no ://; write it as https://*.example.com/*")
	case len(name)+len(address) > maxText:
		return Rule{}, fmt.Errorf("a rule has more than %d bytes", maxText)
	}
	return Rule{name, command, address}, nil
}

// rules reads a list of rules. A faulty one is left out, which ok reports.
func (r *reader) rules(key string, n *node) (out []Rule, ok bool) {
	r.path, r.server = key, ""
	if n.kind != '[' || len(n.items) > maxRules {
		r.fault(n.line, "", false, "%s must be a list of at most %d rules", key, maxRules)
		return nil, false
	}
	ok = true
	for _, item := range n.items {
		var name, address string
		var command []string
		before := len(r.faults)
		if item.kind != '{' {
			r.fault(item.line, "", false, "a rule is an object")
		}
		for _, m := range item.members {
			switch m.key {
			case "serverName":
				r.text(&name, m.key, m.value)
			case "serverCommand":
				r.list(&command, m.key, m.value, maxArgs)
			case "serverUrl":
				r.text(&address, m.key, m.value)
			default:
				r.fault(m.line, "", false, "the key %s is unknown in a rule", quote(m.key))
			}
		}
		rule, err := RuleOf(name, command, address)
		if err != nil && len(r.faults) == before {
			r.fault(item.line, "", false, "%v", err)
		}
		if len(r.faults) > before || err != nil {
			ok = false
			continue
		}
		out = append(out, rule)
	}
	return out, ok
}
