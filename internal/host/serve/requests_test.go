package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// samples returns, for each request that needs fields, these with values that fit.
func samples(project *protocol.Project, folder string, id protocol.SessionID) map[string]string {
	dir, _ := json.Marshal(folder)
	sha := strings.Repeat("ab", 32)
	event, text := "evt_0000000000000000", `"content":[{"type":"text","text":"hi"}]`
	return map[string]string{
		"create_session": fmt.Sprintf(`"projectId":%q,"meta":{"workDir":%s,"name":"n","model":"mock","thinkingLevel":"low"}`, project.ProjectID, dir),
		"check_session":  `"meta":{"workDir":` + string(dir) + `}`,
		"clone_session":  fmt.Sprintf(`"fromSessionId":%q`, id), "import_session": fmt.Sprintf(`"blobs":[%q],"workDir":%s`, sha, dir),
		"export_session": `"format":"jsonl"`, "update_info": `"changes":{"name":"n"}`, "set_label": fmt.Sprintf(`"targetEventId":%q,"label":"l"`, event),
		"send_message": text + `,"whenBusy":"reject","options":{"allow":["Read"]}`, "steer": text, "follow_up": text,
		"rewrite_queue": `"queue":"follow_up","items":[{"content":[{"type":"text","text":"hi"}]}]`, "cancel": `"turnId":"trn_0000000000000000"`,
		"set_mode": `"mode":"plan"`, "rewind_to": fmt.Sprintf(`"targetEventId":%q`, event), "branch_to": fmt.Sprintf(`"leafEventId":%q`, event),
		"get_blob": fmt.Sprintf(`"sha256":%q,"offset":0,"length":10`, sha), "put_blob": `"uploadId":"u","offset":0,"data":"aGk=","last":true`,
		"answer_permission": `"permissionId":"prm_0000000000000000","choice":-1`, "answer_ui": `"uiId":"ui_0000000000000000","value":null`,
		"render_entry":      fmt.Sprintf(`"eventId":%q,"width":80`, event),
		"enable_mcp_server": `"name":"n","enabled":false,"workDir":` + string(dir), "reconnect_mcp_server": `"name":"n"`, "get_mcp_log": `"name":"n"`,
		"set_mcp_input": `"name":"n","id":"i","value":"v","workDir":` + string(dir), "begin_mcp_login": `"name":"n","workDir":` + string(dir),
		"await_mcp_login": `"loginId":"l"`, "cancel_mcp_login": `"loginId":"l"`, "expand_command": `"name":"help","args":"","workDir":` + string(dir),
		"run_tool": `"toolName":"Read","input":{"path":"a"}`, "list_builtin_tools": `"preset":"readonly","workDir":` + string(dir),
		"complete_input": `"before":"see #1"`, "editor_input": `"source":"modal","editor":"one","width":80,"data":["x"]`,
		"take_ui": `"uiId":"ui_0000000000000000","width":80,"height":24`, "ui_input": `"uiId":"ui_0000000000000000","rev":1,"data":["x"]`,
		"register_project": `"workDir":` + string(dir), "remove_project": `"projectId":"prj_0000000000000000"`,
		"list_files": fmt.Sprintf(`"projectId":%q`, project.ProjectID), "get_trust": fmt.Sprintf(`"projectId":%q`, project.ProjectID),
		"get_file":      fmt.Sprintf(`"projectId":%q,"path":"a"`, project.ProjectID),
		"trust_project": fmt.Sprintf(`"projectId":%q,"trusted":false`, project.ProjectID), "set_config": `"key":"model.thinking","value":"low"`,
		"set_credential": `"provider":"anthropic","key":""`, "check_extension": `"path":"/does/not/exist"`, "enable_extension": `"id":"x","enabled":false`,
		"rename_entry": `"clientId":"cli_00000000000000000000000000","label":"l"`, "set_grant": `"clientId":"cli_00000000000000000000000000","grant":"view"`,
		"confirm_entry": `"clientId":"cli_00000000000000000000000000"`, "await_pairing": `"pairingId":"par_0000000000000000"`, "cancel_pairing": `"pairingId":"par_0000000000000000"`,
		"set_push": `"endpoint":"https://push.example/x","key":"k"`, "note_pushed": fmt.Sprintf(`"sessionIds":[%q]`, id),
		"revoke_entry": `"clientId":"cli_00000000000000000000000000"`, "search_sessions": `"words":["hi"]`, "run_shell": `"command":"true"`,
		"leave_session": `"reason":"new"`, "stop_shell": fmt.Sprintf(`"eventId":%q`, event), "stop_task": `"taskId":"t"`, "get_task_output": `"taskId":"t"`, "add_endpoint": `"baseUrl":"http://127.0.0.1:1/v1","api":"openai-completions","model":"m"`, "add_memory": `"scope":"daily","text":"hi"`,
		"complete_command": `"name":"compact","args":""`, "run_command": `"name":"help"`, "get_process_log": `"operationId":"tool-c1"`,
		"create_job": `"template":"t","workDir":` + string(dir), "list_job_templates": `"workDir":` + string(dir), "set_proactive": `"on":false`,
		"create_schedule": `"when":"every 1h","prompt":"hi","target":"session"`, "plan_schedule": `"when":"every 1h","prompt":"hi","target":"session"`, "get_schedule": `"scheduleId":"sch_0000000000000000"`, "set_schedule": `"scheduleId":"sch_0000000000000000","paused":true`,
		"delete_schedule": `"scheduleId":"sch_0000000000000000"`, "run_schedule": `"scheduleId":"sch_0000000000000000"`, "cancel_run": `"runId":"run_0000000000000000"`,
		"list_foreign_rules": `"workDir":` + string(dir), "import_rules": `"rules":["Bash(make test)"],"workDir":` + string(dir),
	}
}

// variant is a request with something wrong in it, or with nothing.
type variant struct {
	name, what string
	session    protocol.SessionID
	fields     map[string]json.RawMessage
	field      string // that is wrong; "" is none
	refused    bool   // it must be, with the field's name
	unknown    bool   // the field is none of the request's, or none of one of its objects
	text       bool   // the field is not text that can be stored
	bytes      bool   // and not even UTF-8, which ends a WebSocket connection
}

// line returns the message of a variant.
func (v variant) line(id protocol.RequestID) []byte {
	all := map[string]json.RawMessage{"type": quoted(v.name), "requestId": quoted(string(id))}
	if v.session != "" {
		all["sessionId"] = quoted(string(v.session))
	}
	for k, f := range v.fields {
		all[k] = f
	}
	data, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return data
}

// variants returns a request with each of its fields missing, null, of another type,
// empty and huge, and without its session.
func variants(t *testing.T, name, sample string, id protocol.SessionID) (all []variant) {
	t.Helper()
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+sample+"}"), &whole); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	req := protocol.SpecOf(name).New()
	session := func() protocol.SessionID {
		switch {
		case req.Spec().Scope == protocol.ScopeNew || name == "delete_session":
			return protocol.NewSessionID(time.Now(), rand.Reader)
		case req.Spec().Scope == protocol.ScopeDevice:
			return ""
		}
		return id
	}
	add := func(what, field string, refused bool, value json.RawMessage) {
		fields := map[string]json.RawMessage{}
		for k, v := range whole {
			fields[k] = v
		}
		if delete(fields, field); value != nil {
			fields[field] = value
		}
		all = append(all, variant{name: name, what: what, session: session(), fields: fields, field: field, refused: refused})
	}
	unknown := func(what, field string, value json.RawMessage) {
		add(what, field, true, value)
		all[len(all)-1].unknown = true
	}
	all = append(all, variant{name: name, what: "as it should be", session: session(), fields: whole})
	scope := req.Spec().Scope
	all = append(all, variant{name: name, what: "no session", fields: whole, field: "sessionId", refused: scope == protocol.ScopeSession || scope == protocol.ScopeNew})
	all = append(all, variant{name: name, what: "a wrong session", session: "ses_../../../etc/passwd", fields: whole, field: "sessionId", refused: true})
	unknown("a field of a newer version", "zz", json.RawMessage("1"))
	huge := func(field string) json.RawMessage {
		if field == "args" { // which may have more than other fields
			return quoted(strings.Repeat("x", max(hugeText, protocol.MaxArgs+1)))
		}
		return quoted(strings.Repeat("x", hugeText))
	}
	for _, field := range protocol.MemberNames(req) {
		_, needed := whole[field]
		typ := fieldType(t, req, field)
		text := typ.Kind() == reflect.String
		required := needed && demanded(req, field)
		add("no "+field, field, (required && typ.Kind() != reflect.Struct), nil)
		add(field+" is null", field, required && (text || typ.Kind() == reflect.Int || typ.Kind() == reflect.Bool), json.RawMessage("null"))
		add(field+" is an empty text", field, false, quoted(""))
		add(field+" is empty", field, false, json.RawMessage(map[bool]string{true: "[]", false: "{}"}[typ.Kind() == reflect.Slice]))
		add(field+" is huge", field, text, huge(field))
		add(field+" is an object of nonsense", field, text, json.RawMessage(`{"a":[{"b":null}]}`))
		add(field+" is a list of nonsense", field, text, json.RawMessage(`[{},null,{"type":"video"},"x",-1]`))
		add(field+" is a number", field, text, json.RawMessage("-1"))
		add(field+" is a large number", field, text, json.RawMessage("1e400"))
		add(field+" is a truth", field, text, json.RawMessage("true"))
		add(field+" is deep", field, text, json.RawMessage(strings.Repeat("[", 5000)+strings.Repeat("]", 5000)))
		add(field+" is half a character", field, true, json.RawMessage(`"\u0000\ud800"`))
		all[len(all)-1].text = true
		add(field+" is not UTF-8", field, true, json.RawMessage("\"\xff\xfe\""))
		all[len(all)-1].text, all[len(all)-1].bytes = true, true
		switch at := objectIn(typ); {
		case at == nil:
		case typ.Kind() == reflect.Slice:
			unknown(field+" has an entry with a field of a newer version", field, json.RawMessage(`[{"zz":1}]`))
		default:
			unknown(field+" has a field of a newer version", field, json.RawMessage(`{"zz":1}`))
		}
		if _, ok := whole[field]; ok { // as json.Unmarshal would read it
			fields := map[string]json.RawMessage{}
			for k, v := range whole {
				fields[k] = v
			}
			delete(fields, field)
			upper := strings.ToUpper(field[:1]) + field[1:]
			fields[upper] = whole[field]
			all = append(all, variant{name: name, what: field + " is written " + upper, session: session(), fields: fields, field: upper, refused: true, unknown: true})
		}
	}
	return all
}

// objectIn returns the struct that a value is, or that its entries are; nil for any other.
func objectIn(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

func fieldType(t *testing.T, req protocol.Request, name string) reflect.Type {
	t.Helper()
	typ := reflect.TypeOf(req).Elem()
	for i := range typ.NumField() {
		if n, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); n == name {
			return typ.Field(i).Type
		}
	}
	t.Fatalf("%s has no field %s", req.Spec().Name, name)
	return nil
}

// demanded reports whether a field is always written.
func demanded(req protocol.Request, name string) bool {
	typ := reflect.TypeOf(req).Elem()
	for i := range typ.NumField() {
		if n, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); n == name {
			return !strings.Contains(options, "omitempty")
		}
	}
	return false
}

// goWords are words of Go, and hints of the command line, that no client is told.
var goWords = regexp.MustCompile(`cannot unmarshal|json:|invalid character|unexpected end|strconv|Go (value|struct)|struct field|nil pointer|runtime error|context canceled| --[a-z]|` + "`?scorel [a-z]+ ")

// judge looks at an answer.
func (v variant) judge(t *testing.T, way string, err *protocol.Error) {
	t.Helper()
	if err == nil {
		if v.refused {
			t.Errorf("%s: %s with %s is taken", way, v.name, v.what)
		}
		return
	}
	if err.Code == protocol.CodeInternalError || err.Message == "" || goWords.MatchString(err.Message) {
		t.Errorf("%s: %s with %s: %s: %.300s", way, v.name, v.what, err.Code, err.Message)
	}
	if !v.refused {
		return
	}
	var d protocol.FieldDetails
	_ = json.Unmarshal(err.Details, &d)
	if v.unknown && !strings.Contains(err.Message, "This host does not know the field") {
		t.Errorf("%s: %s with %s: %.300s", way, v.name, v.what, err.Message)
	}
	if err.Code != protocol.CodeInvalidRequest || d.Field != v.field && !strings.HasPrefix(d.Field, v.field+".") && !strings.HasPrefix(d.Field, v.field+"[") {
		t.Errorf("%s: %s with %s: %s about %q: %.300s", way, v.name, v.what, err.Code, d.Field, err.Message)
	}
}

// TestNoRequestHoweverWrongEndsTheHost sends every request with every field missing, of
// another type, null, empty and huge, over WebSocket, HTTP and an embedded connection.
func TestNoRequestHoweverWrongEndsTheHost(t *testing.T) {
	w := newWorld(t, setting{answers: []string{`{"again":true,"do":[{"text":"Hello."}]}`}})
	p := w.connect(dialling{})
	id := p.session(w)
	project, ok := p.call("", &protocol.RegisterProject{WorkDir: w.project}).Data.(*protocol.Project)
	if !ok {
		t.Fatal("the project was not registered")
	}
	known := samples(project, w.project, id)
	var all []variant
	for _, spec := range protocol.Specs() {
		name := spec.Name
		sample, ok := known[name]
		if !ok && needsFields(spec.New()) {
			t.Errorf("%s needs fields; give it a sample here", name)
			continue
		}
		all = append(all, variants(t, name, sample, id)...)
	}
	t.Logf("%d requests", len(all))
	i := 0
	all = slices.DeleteFunc(all, func(variant) bool { i++; return i%everyVariant != 0 })
	embedded, err := w.host.Connect(t.Context(), protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf([]byte("embedded"))}, protocol.GrantControl)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = embedded.Close() }()
	go func() { // ends with the connection
		for {
			select {
			case <-embedded.Frames():
			case <-embedded.Done():
				return
			}
		}
	}()
	lines := w.parent()
	for _, v := range all {
		if !v.bytes {
			p.raw(string(v.line(protocol.NewRequestID(rand.Reader))))
			v.judge(t, "WebSocket", p.error())
		}
		requestID := protocol.NewRequestID(rand.Reader)
		lines.write(string(v.line(requestID)))
		v.judge(t, "stdin", errorOf(t, lines.until(func(m map[string]any) bool { return m["requestId"] == string(requestID) })))
		refusal, mine := v.embedded(t, embedded.Call)
		mine.judge(t, "embedded", refusal)
	}
	if r := p.call("", &protocol.Ping{}); r.Err != nil {
		t.Fatal(r.Err)
	}
	w.wrongHTTP(t, all, id)
	p = w.connect(dialling{}) // who reads nothing for as long as that takes is dropped
	if r := p.call("", &protocol.ListSessions{Subagents: true}); r.Err != nil {
		t.Fatal(r.Err)
	}
	if err := w.host.Close(); err != nil { // what a request left half done would be met here
		t.Error(err)
	}
}

func needsFields(req protocol.Request) bool {
	for _, name := range protocol.MemberNames(req) {
		if demanded(req, name) {
			return true
		}
	}
	return false
}

// error reads answers and returns the error of the next.
func (p *peer) error() *protocol.Error {
	p.t.Helper()
	for {
		ctx, stop := context.WithTimeout(p.t.Context(), harness.Timeout)
		_, data, err := p.ws.Read(ctx)
		stop()
		if err != nil {
			p.t.Fatalf("read: %v", err)
		}
		var m struct {
			Type    string
			Code    protocol.Code
			Message string
			Details json.RawMessage
		}
		if err := json.Unmarshal(data, &m); err != nil {
			p.t.Fatal(err)
		}
		switch m.Type {
		case "response":
			return nil
		case "error":
			return &protocol.Error{Code: m.Code, Message: m.Message, Details: m.Details}
		}
	}
}

// errorOf returns the error that a message is, nil for a response.
func errorOf(t *testing.T, m map[string]any) *protocol.Error {
	t.Helper()
	if m["type"] != "error" {
		return nil
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	e := &protocol.Error{}
	if err := json.Unmarshal(data, e); err != nil {
		t.Fatal(err)
	}
	return e
}

// embedded makes the call of a variant as a program would that holds the types: nothing
// has parsed it. What does not fit the types cannot be said so.
func (v variant) embedded(t *testing.T, call func(context.Context, protocol.Call) (protocol.Reply, error)) (*protocol.Error, variant) {
	t.Helper()
	req := protocol.SpecOf(v.name).New()
	data, err := json.Marshal(v.fields)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, req); err != nil {
		return protocol.NotJSON(err, "request", data, req), v
	}
	if v.unknown || v.text { // the types have no such fields, and such texts were read before
		v.refused, v.unknown = false, false
	}
	if _, there := v.fields[v.field]; v.refused && (!there || string(v.fields[v.field]) == "null") && v.field != "sessionId" {
		v.refused = false // what is missing is a value here
	}
	session := v.session
	if session.Check() == nil && req.Spec().Scope == protocol.ScopeNew {
		session = protocol.NewSessionID(time.Now(), rand.Reader)
	}
	reply, err := call(t.Context(), protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: session, Request: req})
	if err != nil {
		t.Fatal(err)
	}
	return reply.Err, v
}

// wrongHTTP sends what the table of HTTP takes.
func (w *world) wrongHTTP(t *testing.T, all []variant, id protocol.SessionID) {
	t.Helper()
	c := w.unixHTTP()
	rows := map[string]row{"create_session": {method: http.MethodPost, path: "/v1/sessions"}}
	for _, r := range table() {
		if r.body {
			rows[r.request] = r
		}
	}
	for _, v := range all {
		if !protocol.SpecOf(v.name).Subscribes {
			w.wrongByName(t, c, v)
		}
		r, ok := rows[v.name]
		if !ok {
			continue
		}
		body := map[string]json.RawMessage{}
		for k, f := range v.fields {
			body[k] = f
		}
		path := strings.NewReplacer("{sessionId}", string(id), "{permissionId}", "prm_0000000000000000", "{scheduleId}", "sch_0000000000000000", "{runId}", "run_0000000000000000").Replace(r.path)
		if v.session != "" && v.field == "sessionId" {
			path = strings.NewReplacer("{sessionId}", "ses_wrong", "{permissionId}", "x").Replace(r.path)
		}
		for _, field := range []string{"permissionId", "scheduleId", "runId"} { // they stand in the path
			delete(body, field)
		}
		if v.name == "create_session" {
			delete(body, "meta")
			if v.field != "" && v.fields["projectId"] != nil {
				body["name"] = body["projectId"] // what is wrong with it
			}
		}
		e := sendWrong(t, c, v, r.method, path, body)
		v.refused = v.refused && v.field == "zz" // the path and short forms say other things than the message
		v.judge(t, "HTTP", e)
	}
}

// wrongByName sends a variant to the path of the request's name, where all says what it
// says in a message.
func (w *world) wrongByName(t *testing.T, c *http.Client, v variant) {
	t.Helper()
	body := map[string]json.RawMessage{}
	for k, f := range v.fields {
		body[k] = f
	}
	session := v.session
	if session.Check() == nil && protocol.SpecOf(v.name).Scope == protocol.ScopeNew {
		session = protocol.NewSessionID(time.Now(), rand.Reader)
	}
	if session != "" {
		body["sessionId"] = quoted(string(session))
	}
	v.judge(t, "HTTP by name", sendWrong(t, c, v, http.MethodPost, "/v1/requests/"+v.name, body))
}

// sendWrong returns the error that a request is answered with, nil for none.
func sendWrong(t *testing.T, c *http.Client, v variant, method, path string, body map[string]json.RawMessage) *protocol.Error {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode < 300 {
		return nil
	}
	var e protocol.Error
	if json.Unmarshal(answer, &e) != nil || resp.StatusCode >= 500 && e.Code != protocol.CodeStorageError && e.Code != protocol.CodeProviderError {
		t.Errorf("HTTP: %s with %s: %d %.200s", v.name, v.what, resp.StatusCode, answer)
		return nil
	}
	return &e
}
