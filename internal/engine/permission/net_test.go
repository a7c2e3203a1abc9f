package permission

import (
	"testing"

	"scorel/protocol"
)

func fetch(host string, exact bool) Action {
	return Action{Tool: "WebFetch", Kind: Net, Host: host, Exact: exact}
}

func TestThisMachineAndUnusualPortsHaveToBeNamed(t *testing.T) {
	const a, q, d = protocol.DecisionAllow, protocol.DecisionAsk, protocol.DecisionDeny
	for _, c := range []struct {
		mode Mode
		rule string // that allows
		act  Action
		want protocol.Decision
	}{
		{Default, "WebFetch", fetch("example.com", false), a},
		{Default, "WebFetch", fetch("localhost:3000", true), q},
		{Default, "WebFetch", fetch("localhost", true), q},
		{Default, "WebFetch", fetch("example.com:8080", true), q},
		{Default, "WebFetch(domain:localhost)", fetch("localhost", true), a},
		{Default, "WebFetch(domain:localhost)", fetch("localhost:3000", true), q},
		{Default, "WebFetch(domain:localhost:3000)", fetch("localhost:3000", true), a},
		{Default, "WebFetch(domain:localhost:3000)", fetch("localhost:3001", true), q},
		{Default, "WebFetch(domain:localhost:3000)", fetch("127.0.0.1:3000", true), q},
		{Default, "WebFetch(domain:*.localhost:3000)", fetch("app.localhost:3000", true), q},
		{Default, "WebFetch(domain:*.example.com)", fetch("x.example.com:8080", true), q},
		{Default, "WebFetch(domain:example.com:8080)", fetch("example.com:8080", true), a},
		{Default, "WebFetch(domain:example.com:8080)", fetch("example.com", false), q},
		{Default, "WebFetch(domain:[::1]:3000)", fetch("[::1]:3000", true), a},
		{Bypass, "", fetch("example.com", false), a},
		{Bypass, "WebFetch", fetch("localhost:3000", true), q},
		{Bypass, "WebFetch(domain:localhost:3000)", fetch("localhost:3000", true), a},
		{DontAsk, "WebFetch", fetch("localhost:3000", true), d},
		{DontAsk, "WebFetch(domain:localhost:3000)", fetch("localhost:3000", true), a},
		{Plan, "WebFetch(domain:localhost:3000)", fetch("localhost:3000", true), d},
		{Plan, "WebFetch", fetch("example.com", false), d},
	} {
		var layers []Layer
		if c.rule != "" {
			layers = append(layers, Layer{Scope: ScopeUser, Allow: []string{c.rule}})
		}
		if v := compile(t, c.mode, layers...).Judge(c.act); v.Decision != c.want {
			t.Errorf("%s, %s allowed, %s: %s, want %s", c.mode, c.rule, c.act.Host, v.Decision, c.want)
		}
	}
}

func TestAProjectNeverOpensThisMachine(t *testing.T) {
	if _, err := Compile(Config{Layers: []Layer{{Name: "p", Scope: ScopeProject, Allow: []string{"WebFetch(domain:localhost:3000)"}}}}); err == nil {
		t.Error("a project may allow this machine")
	}
	p := compile(t, Default, Layer{Scope: ScopeUser, Allow: []string{"WebFetch(domain:localhost:3000)"}},
		Layer{Scope: ScopeProject, Deny: []string{"WebFetch(domain:localhost)"}})
	if v := p.Judge(fetch("localhost:3000", true)); v.Decision != protocol.DecisionDeny {
		t.Errorf("a project cannot close a port: %+v", v)
	}
}

func TestRulesThatTightenCoverEveryPortOfTheirHost(t *testing.T) {
	p := compile(t, Bypass, Layer{Deny: []string{"WebFetch(domain:example.com)", "WebFetch(domain:*.go.dev)", "WebFetch(domain:x.test:8080)", "WebFetch(domain:bücher.test)"}})
	const a, d = protocol.DecisionAllow, protocol.DecisionDeny
	for host, want := range map[string]protocol.Decision{
		"example.com": d, "example.com:8080": d, "www.example.com:8080": d, "pkg.go.dev:81": d, "go.dev:81": a, "x.test:8080": d, "x.test": a, "x.test:8081": a,
		"xn--bcher-kva.test": d, "xn--bcher-kva.test:81": d, "notexample.com": a,
	} {
		if v := p.Judge(fetch(host, false)); v.Decision != want {
			t.Errorf("%s: %s, want %s", host, v.Decision, want)
		}
	}
}

func TestASearchIsAllowedByItsOwnRuleOnly(t *testing.T) {
	search := Action{Tool: "WebSearch", Kind: Net, Host: "api.tavily.com"}
	p := compile(t, Default, Layer{Allow: []string{"WebFetch", "WebFetch(domain:api.tavily.com)"}})
	v := p.Judge(search)
	if v.Decision != protocol.DecisionAsk || len(v.Suggestions) != 3 || v.Suggestions[1].Rule != "WebSearch" {
		t.Errorf("%+v", v)
	}
	if v := compile(t, Default, Layer{Allow: []string{"WebSearch"}}).Judge(search); v.Decision != protocol.DecisionAllow {
		t.Errorf("%+v", v)
	}
}

func TestAQuestionForThisMachineOffersTheRuleThatNamesIt(t *testing.T) {
	v := compile(t, Default).Judge(fetch("localhost:3000", true))
	if v.Decision != protocol.DecisionAsk || len(v.Suggestions) != 3 || v.Suggestions[2].Rule != "WebFetch(domain:localhost:3000)" {
		t.Errorf("%+v", v)
	}
}
