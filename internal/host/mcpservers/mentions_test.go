package mcpservers_test

import (
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/internal/host/mcpservers"
	"scorel/protocol"
)

func TestAResourceThatAMessageNamesIsReadWithIt(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__offers"), again)
	configure(w, entry("offers", ``))
	e := w.Begin(false)
	e.Say("what of @offers:day://1, and mail@offers:day://2 or @nobody:day://3?")
	said := e.Messages()[0]
	if len(said.Content) != 2 || said.Content[1].Text != "<mcp-resource server=\"offers\" uri=\"day://1\">\nthe text of day://1 &lt;/mcp-resource>\n</mcp-resource>" {
		t.Errorf("%+v", said.Content)
	}
	for _, test := range [][2]string{{"OFFERS:notes", "notes://all notes://long"}, {"ll", "notes://all"}, {"day", ""}, {"nothing", ""}} {
		query, want := test[0], test[1]
		found := func() string {
			var got []string
			for _, r := range hosttest.Call[*protocol.MCPResourceList](t, e.C, e.ID, &protocol.ListMCPResources{Query: query}).Resources {
				got = append(got, r.URI)
			}
			return strings.Join(got, " ")
		}
		w.Eventually("the server has listed its resources", func() bool { return found() == want }) // nobody has waited for its list
	}
	e.Say("@offers:notes://long")
	if last := e.Said(); !strings.Contains(last[len(last)-1], "bytes left out; the whole is kept as blob:") {
		t.Errorf("%.200q", last[len(last)-1])
	}
}

func TestAMessageWhoseResourceCannotBeReadIsNotSent(t *testing.T) {
	for name, test := range map[string]struct {
		over       host.Overrides
		text, want string
	}{
		"no such resource": {host.Overrides{Allow: []string{"mcp__offers"}}, "@offers:nothing://x", "The message was not sent, because @offers:nothing://x cannot be read"},
		"a broken server":  {host.Overrides{Allow: []string{"mcp__broken"}}, "@broken:day://1", "cannot be read: its process ended with status 1"},
		"no rule":          {host.Overrides{}, "@offers:day://1", "nobody answered; allow it with a permission rule, such as mcp__offers."},
		"denied":           {host.Overrides{Deny: []string{"mcp__*"}}, "@offers:day://1", "a rule denies the MCP server."},
		"too many asked":   {host.Overrides{}, "@offers:a://1 @offers:a://2 @offers:a://3 @offers:a://4 @offers:a://5 @offers:a://6 @offers:a://7 @offers:a://8 @offers:a://9 @offers:a://10 @offers:a://11", "at most 10 are taken"},
		"too many":         {host.Overrides{Allow: []string{"mcp__offers"}}, "@offers:a://1 @offers:a://2 @offers:a://3 @offers:a://4 @offers:a://5 @offers:a://6 @offers:a://7 @offers:a://8 @offers:a://9 @offers:a://10 @offers:a://11", "at most 10 are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Overrides: test.over}, again)
			configure(w, entry("offers", ``), entry("broken", ``))
			e := w.Begin(false)
			_, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text(test.text)})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
			if said := e.Messages(); len(said) > 0 {
				t.Errorf("it was sent: %+v", said)
			}
		})
	}
}

func TestAPersonIsAskedWhetherAResourceGoesIntoTheMessage(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true}, again)
	configure(w, entry("offers", ``))
	e := w.Begin(true)
	sent := make(chan error, 1)
	go func() { // ends with the request
		_, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("@offers:day://1")})
		sent <- err
	}()
	d := e.Dialog()
	if !strings.HasPrefix(d.Data.Message, "@offers:day://1") {
		t.Errorf("%+v", d)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: []byte("true")})
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	e.End()
	if said := e.Messages()[0]; len(said.Content) != 2 {
		t.Errorf("%+v", said)
	}
}

// FuzzMentions: whatever a message says, what is taken for a resource has a server and an
// address, once.
func FuzzMentions(f *testing.F) {
	f.Add("look at @notes:notes://all, and (@a:b:c)")
	f.Add("@a: @:b @@a:b:c @a:b\u202e:c `@a:b:c`")
	f.Fuzz(func(t *testing.T, text string) {
		found := mcpservers.Mentions(hosttest.Text(text))
		for i, m := range found {
			if m.Server == "" || m.URI == "" || strings.ContainsAny(m.Server+m.URI, " \n\x1b") || slices.Contains(found[:i], m) || !strings.Contains(text, "@"+m.Server+":"+m.URI) {
				t.Errorf("%+v", m)
			}
		}
	})
}
