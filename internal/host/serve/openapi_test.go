package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"scorel/protocol"
)

// described is docs/protocol/openapi.json, as far as it is looked at here.
type described struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Ref  string `json:"$ref"`
			Name string `json:"name"`
			In   string `json:"in"`
		} `json:"parameters"`
		RequestBody struct {
			Content map[string]struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
		Responses map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas json.RawMessage `json:"schemas"`
	} `json:"components"`
}

func openAPI(t *testing.T) (d described) {
	t.Helper()
	data, err := os.ReadFile("../../../docs/protocol/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.ReplaceAll(string(data), "#/components/schemas/", "#/$defs/"))
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTheOpenAPIDocumentHasTheTable: its paths, their methods and parameters, and the
// fields of their bodies are those that the server takes.
func TestTheOpenAPIDocumentHasTheTable(t *testing.T) {
	d := openAPI(t)
	rows := append(table(), row{method: "GET", path: "/healthz"})
	for _, spec := range protocol.Specs() {
		if !spec.Subscribes {
			rows = append(rows, row{method: "POST", path: "/v1/requests/" + spec.Name, request: spec.Name, body: true, session: spec.Scope != protocol.ScopeDevice})
		}
	}
	n := 0
	for _, r := range rows {
		if r.path == "/v1/requests/{request}" {
			continue
		}
		n++
		o, ok := d.Paths[r.path][strings.ToLower(r.method)]
		if !ok {
			t.Errorf("the document lacks %s %s", r.method, r.path)
			continue
		}
		var query, known, want []string
		for _, p := range o.Parameters {
			switch p.In {
			case "query":
				query = append(query, p.Name)
			case "path":
				if !strings.Contains(r.path, "{"+p.Name+"}") {
					t.Errorf("%s %s has no %s in its path", r.method, r.path, p.Name)
				}
			}
		}
		for _, p := range r.query {
			want = append(want, p.name)
		}
		if r.request != "" && !slices.Equal(query, want) {
			t.Errorf("%s %s takes the parameters %v, and the document says %v", r.method, r.path, want, query)
		}
		if !r.body {
			continue
		}
		var body struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(o.RequestBody.Content["application/json"].Schema, &body); err != nil {
			t.Fatal(err)
		}
		for name := range body.Properties {
			known = append(known, name)
		}
		want = []string{"requestId"}
		for _, name := range protocol.MemberNames(protocol.SpecOf(r.request).New()) {
			if !strings.Contains(r.path, "{"+name+"}") {
				want = append(want, name)
			}
		}
		if r.session {
			want = append(want, "sessionId")
		}
		slices.Sort(known)
		slices.Sort(want)
		if !slices.Equal(known, want) {
			t.Errorf("the body of %s %s has the fields %v, and the document says %v", r.method, r.path, want, known)
		}
	}
	for path, methods := range d.Paths {
		if n -= len(methods); n < 0 {
			t.Errorf("the document has more than the table, such as %s", path)
		}
	}
}

func TestTheOpenAPIDocumentHasTheFieldsOfANewSession(t *testing.T) {
	var schemas map[string]struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(openAPI(t).Components.Schemas, &schemas); err != nil {
		t.Fatal(err)
	}
	got, want := schemas["NewSession"].Properties, protocol.MemberNames(&newSession{})
	if len(got) != len(want) {
		t.Errorf("the document has %d fields, not %v", len(got), want)
	}
	for _, name := range want {
		if got[name] == nil {
			t.Errorf("the document lacks %s", name)
		}
	}
}

func TestTheOpenAPIDocumentHasTheBoundsOfAStream(t *testing.T) {
	data, err := os.ReadFile("../../../docs/protocol/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, bound := range []string{fmt.Sprintf(`"maximum": %d`, protocol.MaxTail), fmt.Sprintf(`"maxItems": %d`, maxFollowed), fmt.Sprintf(`"maxLength": %d`, maxKey)} {
		if !strings.Contains(string(data), bound) {
			t.Errorf("the document lacks %s", bound)
		}
	}
}

// TestAnswersFitTheOpenAPIDocument goes through a session and validates what comes back.
func TestAnswersFitTheOpenAPIDocument(t *testing.T) {
	w := newWorld(t, setting{chunk: 2})
	c := w.script()
	d := openAPI(t)
	judge := func(what string, schema json.RawMessage, data string) {
		t.Helper()
		if len(schema) == 0 {
			t.Errorf("%s: the document has no schema of it", what)
			return
		}
		s := new(jsonschema.Schema)
		if err := json.Unmarshal(fmt.Appendf(nil, `{"$defs":%s,"properties":{"it":%s}}`, d.Components.Schemas, schema), s); err != nil {
			t.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%s: %v: %s", what, err, data)
		}
		if err := resolved.Validate(map[string]any{"it": v}); err != nil {
			t.Errorf("%s: %v\n%s", what, err, data)
		}
	}
	ask := func(status int, method, template, path, body string) string {
		t.Helper()
		data := c.want(status, nil, method, path, body)
		o := d.Paths[template][strings.ToLower(method)]
		if answer, ok := o.Responses[fmt.Sprint(status)]; ok {
			judge(method+" "+path, answer.Content["application/json"].Schema, data)
		} else {
			judge(method+" "+path, json.RawMessage(`{"$ref":"#/$defs/ProtocolError"}`), data)
		}
		return data
	}
	id := string(c.session(w))
	ask(http.StatusOK, "GET", "/v1/status", "/v1/status", "")
	ask(http.StatusOK, "GET", "/v1/projects", "/v1/projects", "")
	ask(http.StatusCreated, "POST", "/v1/sessions", "/v1/sessions", fmt.Sprintf(`{"workDir":%q,"name":"n"}`, w.project))
	ask(http.StatusCreated, "POST", "/v1/blobs", "/v1/blobs", "a payload")
	ask(http.StatusBadRequest, "POST", "/v1/sessions", "/v1/sessions", `{"workdir":"/"}`)

	r, err := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/events?session="+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = c.header
	stream, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	ask(http.StatusOK, "POST", "/v1/sessions/{sessionId}/messages", "/v1/sessions/"+id+"/messages", `{"content":"hi"}`)
	lines, seen := bufio.NewScanner(stream.Body), map[string]bool{}
	lines.Buffer(nil, protocol.MaxLine)
	for !seen["turn_end"] && lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			seen[name] = true
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			judge("an event", d.Paths["/v1/events"]["get"].Responses["200"].Content["text/event-stream"].Schema, data)
		}
	}
	for _, name := range []string{"resync", "live", "message", "text_delta", "turn_end"} {
		if !seen[name] {
			t.Errorf("no %s came", name)
		}
	}
	ask(http.StatusOK, "GET", "/v1/sessions", "/v1/sessions", "")
	ask(http.StatusOK, "GET", "/v1/sessions/{sessionId}", "/v1/sessions/"+id, "")
	for _, name := range []string{"get_path", "get_tree", "get_context", "get_usage", "list_tasks", "verify_session"} {
		ask(http.StatusOK, "POST", "/v1/requests/"+name, "/v1/requests/"+name, fmt.Sprintf(`{"sessionId":%q}`, id))
	}
	for _, name := range []string{"list_models", "list_entries", "list_commands", "list_skills", "list_agents", "list_hooks", "get_config", "ping"} {
		ask(http.StatusOK, "POST", "/v1/requests/"+name, "/v1/requests/"+name, "")
	}
	ask(http.StatusBadRequest, "POST", "/v1/requests/cancel", "/v1/requests/cancel", fmt.Sprintf(`{"sessionId":%q}`, id))
}
