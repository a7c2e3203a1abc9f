package serve

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/protocol"
)

// script makes HTTP requests with the token.
type scriptClient struct {
	t      *testing.T
	client *http.Client
	base   string
	header http.Header
}

func (w *world) script() *scriptClient {
	return &scriptClient{w.t, w.unixHTTP(), "http://localhost", http.Header{"Authorization": {"Bearer " + testToken}}}
}

// do makes a request and returns status and body.
func (c *scriptClient) do(method, path, body string, header ...string) (*http.Response, string) {
	c.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, in)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(data)
}

// want makes a request whose answer has a status, and reads it into v.
func (c *scriptClient) want(status int, v any, method, path, body string, header ...string) string {
	c.t.Helper()
	resp, text := c.do(method, path, body, header...)
	if resp.StatusCode != status {
		c.t.Fatalf("%s %s: %s, not %d: %s", method, path, resp.Status, status, text)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			c.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return text
}

// session makes a session.
func (c *scriptClient) session(w *world) protocol.SessionID {
	c.t.Helper()
	var sum protocol.SessionSummary
	c.want(http.StatusCreated, &sum, "POST", "/v1/sessions", fmt.Sprintf(`{"workDir":%q}`, w.project))
	return sum.SessionID
}

func TestTheTableHoldsEveryPathOfTheProtocol(t *testing.T) {
	// What docs/http.md lists, but for /healthz, which asks for no token.
	want := []string{
		"DELETE /v1/schedules/{scheduleId}", "GET /metrics", "GET /v1/automation", "GET /v1/blobs/{sha256}", "GET /v1/events", "GET /v1/projects", "GET /v1/runs", "GET /v1/schedules", "GET /v1/schedules/{scheduleId}", "GET /v1/sessions", "GET /v1/sessions/{sessionId}",
		"GET /v1/sessions/{sessionId}/events", "GET /v1/sessions/{sessionId}/processes/{operationId}", "GET /v1/status", "HEAD /v1/blobs/{sha256}", "POST /v1/blobs", "POST /v1/projects", "POST /v1/requests/{request}",
		"POST /v1/runs/{runId}/cancel", "POST /v1/schedules", "POST /v1/schedules/{scheduleId}", "POST /v1/schedules/{scheduleId}/runs", "POST /v1/sessions",
		"POST /v1/sessions/{sessionId}/branch", "POST /v1/sessions/{sessionId}/cancel", "POST /v1/sessions/{sessionId}/compact",
		"POST /v1/sessions/{sessionId}/messages", "POST /v1/sessions/{sessionId}/permissions/{permissionId}",
		"POST /v1/sessions/{sessionId}/rewind", "POST /v1/sessions/{sessionId}/steer",
	}
	var got []string
	for _, r := range table() {
		got = append(got, r.method+" "+r.path)
		if (r.request == "") == (r.handle == nil) {
			t.Errorf("%s %s has a request and a handler, or neither", r.method, r.path)
		}
		if r.request == "" {
			continue
		}
		known := protocol.MemberNames(protocol.SpecOf(r.request).New())
		var fields []string
		for _, p := range r.query {
			fields = append(fields, p.name)
		}
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(r.path, -1) {
			if m[1] != "sessionId" {
				fields = append(fields, m[1])
			}
		}
		for _, f := range fields {
			if !slices.Contains(known, f) {
				t.Errorf("%s %s: the request %s has no field %s", r.method, r.path, r.request, f)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the table has\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEveryRowOfTheTableReachesItsRequest(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := c.session(w)
	for _, r := range table() {
		if r.request == "" {
			continue
		}
		path := strings.NewReplacer("{sessionId}", string(id), "{permissionId}", "prm_0000000000000000", "{operationId}", "tool-c1", "{scheduleId}", "sch_0000000000000000", "{runId}", "run_0000000000000000").Replace(r.path)
		body := ""
		if r.body {
			body = map[string]string{"register_project": fmt.Sprintf(`{"workDir":%q}`, w.project), "send_message": `{"content":"hi"}`, "steer": `{"content":"hi"}`,
				"cancel": `{"turnId":"x"}`, "create_schedule": `{"when":"every 1h","prompt":"x","target":"fresh"}`, "set_schedule": `{"paused":true}`, "rewind_to": `{"targetEventId":null}`, "branch_to": `{"leafEventId":"x"}`, "answer_permission": `{"choice":-1}`, "compact_session": "{}"}[r.request]
		}
		c.do(r.method, path, body)
		text := c.want(http.StatusOK, nil, "GET", "/metrics", "")
		if !strings.Contains(text, fmt.Sprintf(`scorel_requests_total{request=%q,`, r.request)) {
			t.Errorf("%s %s did not reach the host as %s", r.method, r.path, r.request)
		}
	}
}

func TestAScriptCreatesASessionSendsAndReads(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	var sum protocol.SessionSummary
	c.want(http.StatusCreated, &sum, "POST", "/v1/sessions", fmt.Sprintf(`{"workDir":%q,"name":"from a script"}`, w.project))
	if sum.Meta.Name != "from a script" || sum.Meta.WorkDir != w.project || sum.Meta.ProjectID == "" {
		t.Errorf("the session is %+v", sum)
	}
	var projects protocol.ProjectList
	c.want(http.StatusOK, &projects, "GET", "/v1/projects", "")
	if len(projects.Projects) != 1 || projects.Projects[0].ProjectID != sum.Meta.ProjectID {
		t.Errorf("the projects are %+v", projects)
	}
	var second protocol.SessionSummary
	c.want(http.StatusCreated, &second, "POST", "/v1/sessions", fmt.Sprintf(`{"projectId":%q}`, sum.Meta.ProjectID))
	if second.Meta.WorkDir != w.project {
		t.Errorf("a session of a project works in %s", second.Meta.WorkDir)
	}
	var sent protocol.Sent
	c.want(http.StatusOK, &sent, "POST", "/v1/sessions/"+string(sum.SessionID)+"/messages", `{"content":"Hi \"there\""}`)
	if sent.EventID == "" || sent.TurnID == "" {
		t.Errorf("the message was sent as %+v", sent)
	}
	harness.Until(t, "the answer", func() bool {
		var view sessionView
		c.want(http.StatusOK, &view, "GET", "/v1/sessions/"+string(sum.SessionID), "")
		return !view.Live.Running && view.Summary.Events == 3 && view.Summary.SessionID == sum.SessionID
	})
	var list protocol.SessionList
	c.want(http.StatusOK, &list, "GET", "/v1/sessions?limit=1", "")
	if len(list.Sessions) != 1 || !list.More {
		t.Errorf("a page of one is %+v", list)
	}
	for query, some := range map[string]bool{"subagents=true": true, "subagents=false&limit=5": true, "parentId=" + string(sum.SessionID): false} {
		list = protocol.SessionList{}
		if c.want(http.StatusOK, &list, "GET", "/v1/sessions?"+query, ""); len(list.Sessions) > 0 != some {
			t.Errorf("%s lists %+v", query, list)
		}
	}
}

func TestARequestThatIsSentTwiceByItsKeyActsOnce(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	body := fmt.Sprintf(`{"workDir":%q}`, w.project)
	var first, again, other protocol.SessionSummary
	c.want(http.StatusCreated, &first, "POST", "/v1/sessions", body, "Idempotency-Key", "make one")
	c.want(http.StatusCreated, &again, "POST", "/v1/sessions", body, "Idempotency-Key", "make one")
	c.want(http.StatusCreated, &other, "POST", "/v1/sessions", body, "Idempotency-Key", "make two")
	if first.SessionID != again.SessionID || first.SessionID == other.SessionID {
		t.Errorf("one key made %s and %s, another %s", first.SessionID, again.SessionID, other.SessionID)
	}
	if since := first.SessionID.Time(); since.UnixMilli() < first.CreatedAt-60_000 || since.UnixMilli() > first.CreatedAt {
		t.Errorf("the id of the session says %s, it was made at %d", since, first.CreatedAt)
	}
	path := "/v1/sessions/" + string(first.SessionID) + "/messages"
	var a, b protocol.Sent
	c.want(http.StatusOK, &a, "POST", path, `{"content":"once"}`, "Idempotency-Key", "say it")
	c.want(http.StatusOK, &b, "POST", path, `{"content":"once"}`, "Idempotency-Key", "say it")
	if a != b {
		t.Errorf("one key sent %+v and %+v", a, b)
	}
	id := protocol.NewRequestID(rand.Reader)
	c.want(http.StatusOK, &a, "POST", path, fmt.Sprintf(`{"content":"twice","requestId":%q}`, id))
	c.want(http.StatusOK, &b, "POST", path, `{"content":"twice"}`, "Idempotency-Key", string(id))
	if a != b {
		t.Errorf("a requestId and a key of the same text sent %+v and %+v", a, b)
	}
	c.want(http.StatusBadRequest, nil, "POST", path, `{"content":"something else"}`, "Idempotency-Key", string(id))
	c.want(http.StatusBadRequest, nil, "POST", path, fmt.Sprintf(`{"content":"x","requestId":%q}`, id), "Idempotency-Key", "both")
}

func TestAKeyIsStillKnownAfterTheServerHasBeenReplaced(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	body := fmt.Sprintf(`{"workDir":%q}`, w.project)
	var first, again protocol.SessionSummary
	c.want(http.StatusCreated, &first, "POST", "/v1/sessions", body, "Idempotency-Key", "k")
	w.restart()
	c = w.script()
	c.want(http.StatusCreated, &again, "POST", "/v1/sessions", body, "Idempotency-Key", "k")
	if first.SessionID != again.SessionID {
		t.Errorf("the key made %s, and %s after the restart", first.SessionID, again.SessionID)
	}
}

func TestAKeyOfAnotherRequestDropsNoMessageHoweverLongAgoThatWas(t *testing.T) {
	w := newWorld(t, setting{answers: []string{`{"again":true,"do":[{"text":"Hello."}]}`}})
	c := w.script()
	make := func(name string) string { return fmt.Sprintf(`{"workDir":%q,"name":%q}`, w.project, name) }
	var sum protocol.SessionSummary
	c.want(http.StatusCreated, &sum, "POST", "/v1/sessions", make("a"), "Idempotency-Key", "made")
	path := "/v1/sessions/" + string(sum.SessionID) + "/messages"
	var first, again protocol.Sent
	c.want(http.StatusOK, &first, "POST", path, `{"content":"one","whenBusy":"followUp"}`, "Idempotency-Key", "k")
	forget := map[string]func(){
		"after a restart": func() { w.restart(); c = w.script() },
		"after 300 other requests": func() {
			for i := range 300 {
				c.want(http.StatusOK, nil, "POST", "/v1/sessions/"+string(sum.SessionID)+"/cancel", `{"turnId":"x"}`, "Idempotency-Key", fmt.Sprint("other ", i))
			}
		},
	}
	for when, do := range forget {
		do()
		c.want(http.StatusOK, &again, "POST", path, `{"whenBusy":"followUp","content":"one"}`, "Idempotency-Key", "k") // the order of keys is nothing
		if again.EventID != first.EventID {
			t.Errorf("%s the same message is %+v, and was %+v", when, again, first)
		}
		do()
		for key, body := range map[string]string{"k": `{"content":"two","whenBusy":"followUp"}`} {
			if resp, text := c.do("POST", path, body, "Idempotency-Key", key); resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, `"field":"Idempotency-Key"`) {
				t.Errorf("%s another message of the same key: %s %s", when, resp.Status, text)
			}
		}
		if resp, text := c.do("POST", "/v1/sessions", make("b"), "Idempotency-Key", "made"); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s another session of the same key: %s %s", when, resp.Status, text)
		}
	}
}

func TestErrorsAreJSONWithAFittingStatus(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := string(c.session(w))
	missing := string(protocol.NewSessionID(w.now(), rand.Reader))
	for _, test := range []struct {
		method, path, body string
		status             int
		code               protocol.Code
		says               string
	}{
		{"GET", "/v1/sessions/" + missing, "", 404, "session_not_found", "no such session"},
		{"GET", "/v1/sessions/nonsense", "", 400, "invalid_request", "not an id"},
		{"GET", "/v1/nothing", "", 404, "invalid_request", "docs/http.md"},
		{"GET", "/v1/ws", "", 426, "invalid_request", "WebSocket"},
		{"POST", "/v1/ws", "", 405, "invalid_request", "WebSocket"},
		{"DELETE", "/v1/sessions", "", 405, "invalid_request", "takes GET, POST"},
		{"POST", "/v1/sessions", "", 400, "invalid_request", "workDir"},
		{"POST", "/v1/sessions", `{"workDir":"here"}`, 400, "invalid_request", "whole path"},
		{"POST", "/v1/sessions", `{"workDir":"/no/such/folder"}`, 400, "invalid_request", "does not exist"},
		{"POST", "/v1/sessions", `{"projectId":"prj_0000000000000000"}`, 404, "project_not_found", "POST /v1/projects"},
		{"POST", "/v1/sessions", `{"workDirectory":"/"}`, 400, "invalid_request", "workDirectory"},
		{"POST", "/v1/sessions", `[1]`, 400, "invalid_request", "JSON object"},
		{"POST", "/v1/sessions/" + id + "/messages", `{"contnet":"x"}`, 400, "invalid_request", "contnet"},
		{"POST", "/v1/sessions/" + id + "/messages", `{}`, 400, "invalid_request", "needs the field content"},
		{"POST", "/v1/sessions/" + id + "/messages", `{"content":"x","type":"ping"}`, 400, "invalid_request", "type"},
		{"POST", "/v1/sessions/" + id + "/messages", `{"content":[{}]}`, 400, "invalid_request", "content[0].type"},
		{"POST", "/v1/sessions/" + id + "/messages", `{"content":[{"type":"video"}]}`, 400, "invalid_request", "content[0].type"},
		{"POST", "/v1/sessions/" + id + "/messages", `{"content":[{"type":"image"}]}`, 400, "invalid_request", "content[0].blob"},
		{"POST", "/v1/sessions/" + id + "/steer", `{"content":7}`, 400, "invalid_request", "a text or a list of blocks"},
		{"POST", "/v1/sessions/" + id + "/permissions/prm_0000000000000000", `{}`, 400, "invalid_request", "needs the field choice"},
		{"POST", "/v1/sessions/" + id + "/permissions/prm_0000000000000000", `{"choice":0,"permissionId":"prm_1"}`, 400, "invalid_request", "permissionId"},
		{"POST", "/v1/sessions/" + id + "/rewind", `{"targetEventId":"evt_0000000000000000"}`, 404, "invalid_event_id", ""},
		{"POST", "/v1/sessions/" + id + "/rewind", `{"targetEventId":null,"expectedLeafId":"evt_0000000000000000"}`, 409, "conflict", ""},
		{"POST", "/v1/sessions/" + id + "/messages", `{"content":"` + strings.Repeat("x", protocol.MaxMessage) + `"}`, 413, "payload_too_large", "1048576"},
		{"GET", "/v1/sessions?limit=many", "", 400, "invalid_request", "number"},
		{"GET", "/v1/sessions?subagents=perhaps", "", 400, "invalid_request", "true or false"},
		{"GET", "/v1/sessions?colour=red", "", 400, "invalid_request", "projectId"},
		{"GET", "/v1/sessions/" + id + "/processes/tool-c1", "", 404, "not_found", "no process log"},
		{"GET", "/v1/sessions/" + id + "/processes/tool-c1?limit=1001", "", 400, "invalid_request", "1 to 1000"},
		{"GET", "/v1/sessions/" + id + "/processes/tool-c1?offset=-1", "", 400, "invalid_request", "offset"},
		{"GET", "/v1/sessions/" + id + "/processes/..%2f..%2fsessions%2f" + id, "", 404, "invalid_request", "docs/http.md"},
		{"GET", "/v1/sessions/" + missing + "/processes/tool-c1", "", 404, "session_not_found", "no such session"},
		{"GET", "/v1/blobs/" + strings.Repeat("0", 64), "", 400, "invalid_request", "sessionId"},
		{"GET", "/v1/blobs/" + strings.Repeat("0", 64) + "?sessionId=" + id, "", 403, "forbidden", "names no payload"},
	} {
		resp, text := c.do(test.method, test.path, test.body)
		var e protocol.Error
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Errorf("%s %s: %v: %s", test.method, test.path, err, text)
			continue
		}
		if resp.StatusCode != test.status || e.Code != test.code || !strings.Contains(e.Message, test.says) {
			t.Errorf("%s %s %.80s: %d %s %q, not %d %s with %q", test.method, test.path, test.body, resp.StatusCode, e.Code, e.Message, test.status, test.code, test.says)
		}
	}
}

// TestErrorsAreSentencesThatSayWhatToDo holds those that helped nobody.
func TestErrorsAreSentencesThatSayWhatToDo(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := string(c.session(w))
	for _, test := range []struct{ path, body, says string }{
		{"/v1/sessions/" + id + "/messages", `{"content":"x","whenBusy":"reject","options":{"model":"no-such-model-anywhere"}}`, `^There is no model no-such-model-anywhere: .*\.$`},
		{"/v1/sessions", `{"workDir":"/"}`, `^/ as the workspace is the whole file system, .*register_project \(POST /v1/projects\) with wide`},
		{"/v1/sessions", fmt.Sprintf(`{"workDir":%q}`, w.hostConfig.UserHome), `as the workspace is your whole home folder, `},
		{"/v1/sessions", fmt.Sprintf(`{"workDir":%q}`, filepath.Dir(w.hostConfig.UserHome)), `as the workspace holds your whole home folder, `},
		{"/v1/requests/ping", `{"requestId":"req_1","requestId":"req_2"}`, `^The field requestId is there twice; send it once\.$`},
		{"/v1/requests/ping", `{"zz":1}`, `^This host does not know the field "zz" of ping; it knows requestId\.$`},
		{"/v1/requests/ping", `null`, `^The body is not a JSON object\.$`},
	} {
		resp, text := c.do("POST", test.path, test.body)
		var e protocol.Error
		if err := json.Unmarshal([]byte(text), &e); err != nil || resp.StatusCode < 400 || !regexp.MustCompile(test.says).MatchString(e.Message) {
			t.Errorf("%s %s: %s %s", test.path, test.body, resp.Status, text)
		}
	}
}

// TestAnIdempotencyKeyIsGivenOnceAndNotEmpty: a script whose variable is empty would else
// do twice what it repeats.
func TestAnIdempotencyKeyIsGivenOnceAndNotEmpty(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	for _, keys := range [][]string{{""}, {"a", "b"}, {"a", ""}} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", c.base+"/v1/sessions", strings.NewReader(fmt.Sprintf(`{"workDir":%q}`, w.project)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = c.header.Clone()
		r.Header[keyHeader] = keys
		resp, err := c.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		var e protocol.Error
		if err != nil || resp.StatusCode != http.StatusBadRequest || json.Unmarshal(text, &e) != nil || protocol.AboutOf(&e).Field != keyHeader {
			t.Errorf("%q: %s %s", keys, resp.Status, text)
		}
	}
}

func TestWhatIsWrongIsNamedAsTheClientWroteIt(t *testing.T) {
	w := newWorld(t, setting{answers: []string{`{"again":true,"do":[{"text":"Hello."}]}`}})
	c := w.script()
	id := string(c.session(w))
	messages := "/v1/sessions/" + id + "/messages"
	option := func(o string) string { return `{"content":"x","whenBusy":"reject","options":{` + o + `}}` }
	made := func(f string) string { return fmt.Sprintf(`{"workDir":%q,%s}`, w.project, f) }
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("Qroot:x:0:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const key = "Idempotency-Key"
	long := strings.Repeat("k", maxKey+1)
	for _, test := range []struct{ method, path, body, field, key string }{
		{"POST", messages, option(`"permissionMode":"zz"`), "options.permissionMode", ""},
		{"POST", messages, option(`"mode":"plan","zz":1`), "options.zz", ""},
		{"POST", messages, `{"content":[{"type":"text","text":"a","zz":1}]}`, "content[0].zz", ""},
		{"POST", messages, option(`"mode":"zz"`), "options.mode", ""},
		{"POST", messages, option(`"sandbox":"zz"`), "options.sandbox", ""},
		{"POST", messages, option(`"thinking":"zz"`), "options.thinking", ""},
		{"POST", messages, option(`"model":"no-such-model-anywhere"`), "options.model", ""},
		{"POST", messages, option(`"model":"script:` + secret + `"`), "options.model", ""},
		{"POST", messages, option(`"tools":"zz"`), "options.tools", ""},
		{"POST", messages, option(`"allow":["Read","zz("]`), "options.allow[1]", ""},
		{"POST", messages, option(`"deny":["zz("]`), "options.deny[0]", ""},
		{"POST", messages, option(`"workspace":""`), "options.workspace", ""},
		{"POST", messages, option(`"workspace":".."`), "options.workspace", ""},
		{"POST", messages, option(`"workspace":"~"`), "options.workspace", ""},
		{"POST", messages, option(`"workspace":"/"`), "options.workspace", ""},
		{"POST", messages, option(`"workspace":"/no/such/folder"`), "options.workspace", ""},
		{"POST", messages, `{"content":"x","options":{"mode":"plan"}}`, "whenBusy", ""},
		{"POST", "/v1/requests/run_command", `{"sessionId":"` + id + `","name":"nothing"}`, "name", ""},
		{"POST", "/v1/requests/set_label", `{"sessionId":"` + id + `","targetEventId":"evt_0000000000000000","label":"` + strings.Repeat("l", protocol.MaxLabel+1) + `"}`, "label", ""},
		{"POST", "/v1/requests/stop_task", `{"sessionId":"` + id + `","taskId":"task_zz"}`, "taskId", ""},
		{"POST", "/v1/requests/check_extension", `{"path":"not/whole"}`, "path", ""},
		{"POST", "/v1/requests/list_directories", `{"path":"not/whole"}`, "path", ""},
		{"POST", "/v1/requests/set_credential", `{"provider":"no-such","key":"k"}`, "provider", ""},
		{"POST", messages, option(`"mod":"plan"`), "options.mod", ""},
		{"POST", messages, option(`"NoNetwork":true`), "options.NoNetwork", ""},
		{"POST", messages, `{"content":[7]}`, "content[0]", ""},
		{"POST", messages, `{"content":5}`, "content", ""},
		{"POST", messages, `{"content":[{"type":"text","text":"a","thinking":"b"}]}`, "content[0].thinking", ""},
		{"POST", messages, `{"content":"x","repeat":true}`, "repeat", ""},
		{"POST", messages, `{"content":"x","type":"send_message"}`, "type", ""},
		{"POST", messages, `{"content":"x","sessionId":"` + id + `"}`, "sessionId", ""},
		{"POST", messages, "{\"content\":\"a\xffb\"}", "content", ""},
		{"POST", messages, `{"content":"a\ud800b"}`, "content", ""},
		{"POST", messages, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"\udc00"}]}`, "content[1].text", ""},
		{"POST", "/v1/requests/set_mode", `{"sessionId":"` + id + `","mode":"zz"}`, "mode", ""},
		{"POST", "/v1/requests/ping", `{"zz":1}`, "zz", ""},
		{"POST", "/v1/requests/put_blob", `{"uploadId":"u","offset":7,"data":"aGk="}`, "offset", ""},
		{"POST", messages, `{"content":""}`, "content", ""},
		{"POST", messages, `{"content":"x","requestId":"zz"}`, "requestId", ""},
		{"POST", messages, `{"content":"x"}`, key, long},
		{"POST", messages, `{"content":"x","requestId":"req_00000000000000000000000000"}`, key, "k"},
		{"POST", "/v1/sessions", `{}`, "workDir", ""},
		{"POST", "/v1/sessions", `{"workDir":""}`, "workDir", ""},
		{"POST", "/v1/sessions", `{"projectId":""}`, "projectId", ""},
		{"POST", "/v1/sessions", `{"projectId":"prj_zz"}`, "projectId", ""},
		{"POST", "/v1/sessions", made(`"projectId":"prj_zz"`), "projectId", ""},
		{"POST", "/v1/sessions", made(`"sessionId":"zz"`), "sessionId", ""},
		{"POST", "/v1/sessions", made(`"requestId":"zz"`), "requestId", ""},
		{"POST", "/v1/sessions", made(`"name":"` + strings.Repeat("n", protocol.MaxName+1) + `"`), "name", ""},
		{"POST", "/v1/sessions", made(`"name":"a\u001b[31m"`), "name", ""},
		{"POST", "/v1/sessions", made(`"name":"a\u202eb"`), "name", ""},
		{"POST", "/v1/sessions", made(`"name":"a\nb"`), "name", ""},
		{"POST", "/v1/sessions", made(`"thinkingLevel":"zz"`), "thinkingLevel", ""},
		{"POST", "/v1/sessions", made(`"model":"script:` + secret + `"`), "model", ""},
		{"GET", "/v1/sessions?limit=x", "", "limit", ""},
		{"GET", "/v1/sessions?limit=", "", "limit", ""},
		{"GET", "/v1/sessions?limit=1&limit=2", "", "limit", ""},
		{"GET", "/v1/sessions?subagents=zz", "", "subagents", ""},
		{"GET", "/v1/sessions?zz=1", "", "zz", ""},
		{"GET", "/v1/sessions?projectId=", "", "projectId", ""},
		{"GET", "/v1/sessions?before=zz", "", "before", ""},
		{"GET", "/v1/sessions?before=" + id, "", "beforeTime", ""},
		{"GET", "/v1/sessions?beforeTime=1", "", "before", ""},
		{"GET", "/v1/sessions?query=%ff", "", "query", ""},
		{"GET", "/v1/sessions?parentId=zz", "", "parentId", ""},
		{"GET", "/v1/sessions/zz", "", "sessionId", ""},
		{"GET", "/v1/sessions/zz/events", "", "sessionId", ""},
		{"GET", "/v1/sessions/" + id + "/events?tail=x", "", "tail", ""},
		{"GET", "/v1/sessions/" + id + "/events?types=zz", "", "types", ""},
		{"GET", "/v1/sessions/" + id + "/events?zz=1", "", "zz", ""},
		{"GET", "/v1/sessions/" + id + "/processes/zz", "", "operationId", ""},
		{"GET", "/v1/blobs/" + strings.Repeat("0", 64), "", "sessionId", ""},
		{"POST", "/v1/sessions/" + id + "/rewind", `{"targetEventId":"evt_zz"}`, "targetEventId", ""},
		{"POST", "/v1/sessions/" + id + "/branch", `{"leafEventId":"evt_zz"}`, "leafEventId", ""},
	} {
		var header []string
		if test.key != "" {
			header = []string{key, test.key}
		}
		resp, text := c.do(test.method, test.path, test.body, header...)
		var e protocol.Error
		var d protocol.FieldDetails
		if json.Unmarshal([]byte(text), &e) != nil || json.Unmarshal(e.Details, &d) != nil || resp.StatusCode < 400 || d.Field != test.field {
			t.Errorf("%s %s %.120s: %d %s, not with the field %s", test.method, test.path, test.body, resp.StatusCode, text, test.field)
		}
		if strings.Contains(text, "Q") || strings.Contains(text, "meta.") {
			t.Errorf("%s %s %.120s tells %s", test.method, test.path, test.body, text)
		}
	}
	for _, o := range []string{`"workspace":null`, fmt.Sprintf(`"workspace":%q`, w.project)} {
		c.want(http.StatusOK, nil, "POST", "/v1/sessions/"+string(c.session(w))+"/messages", option(o))
	}
}

func TestAHeaderThatIsTooLongIsAnsweredWith431(t *testing.T) {
	w := newWorld(t, setting{})
	conn, err := net.Dial("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { // it may be closed before all is written
		_, _ = io.WriteString(conn, "GET /v1/sessions?query="+strings.Repeat("q", 2*maxHeader)+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}()
	if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 431 ") {
		t.Errorf("%q, %v", line, err)
	}
}

func TestWithoutTheTokenThereIsOnlyHealth(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	c.header = http.Header{}
	if text := c.want(http.StatusOK, nil, "GET", "/healthz", ""); text != "ok\n" {
		t.Errorf("/healthz says %q", text)
	}
	for _, r := range table() {
		path := strings.NewReplacer("{", "", "}", "").Replace(r.path)
		if resp, _ := c.do(r.method, path, ""); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s %s without a token: %s", r.method, path, resp.Status)
		}
	}
	for _, value := range []string{"Bearer wrong", "Bearer " + testToken[:42], "Basic " + testToken, testToken, "Bearer " + testToken + " x"} {
		if resp, _ := c.do("GET", "/v1/projects", "", "Authorization", value); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("with %q: %s", value, resp.Status)
		}
	}
	if resp, _ := c.do("GET", "/v1/projects", "", "Authorization", "bearer "+testToken); resp.StatusCode != http.StatusOK {
		t.Errorf("the scheme is not case-insensitive: %s", resp.Status)
	}
	if strings.Contains(w.reported(), testToken[:20]) {
		t.Errorf("the token was reported: %s", w.reported())
	}
}

func TestAHostWithoutATokenTakesNone(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Token = nil }})
	c := w.script()
	for _, value := range []string{"Bearer ", "Bearer", ""} {
		if resp, _ := c.do("GET", "/v1/projects", "", "Authorization", value); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("with %q: %s", value, resp.Status)
		}
	}
}

func TestAPayloadGoesInAndComesOutInRanges(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := c.session(w)
	payload := make([]byte, 600<<10) // more than the host takes or gives at once
	_, _ = rand.Read(payload)
	var ref protocol.BlobRef
	c.want(http.StatusCreated, &ref, "POST", "/v1/blobs", string(payload))
	if ref.Size != int64(len(payload)) {
		t.Fatalf("the payload was taken as %+v", ref)
	}
	c.want(http.StatusOK, nil, "POST", "/v1/sessions/"+string(id)+"/messages",
		fmt.Sprintf(`{"content":[{"type":"file","name":"a.bin","mediaType":"application/octet-stream","blob":%q}]}`, ref.SHA256))
	path := "/v1/blobs/" + ref.SHA256 + "?sessionId=" + string(id)
	resp, got := c.do("GET", path, "")
	if resp.StatusCode != http.StatusOK || got != string(payload) {
		t.Errorf("the payload came back as %s, %d bytes", resp.Status, len(got))
	}
	if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("a browser might run the payload: %v", resp.Header)
	}
	resp, got = c.do("GET", path, "", "Range", "bytes=49000-200000")
	if resp.StatusCode != http.StatusPartialContent || got != string(payload[49000:200001]) {
		t.Errorf("a range came back as %s, %d bytes", resp.Status, len(got))
	}
	resp, _ = c.do("HEAD", path, "")
	if resp.ContentLength != int64(len(payload)) {
		t.Errorf("HEAD says %d bytes", resp.ContentLength)
	}
}

// endless is a body that never ends.
type endless struct{ given atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.given.Add(int64(len(p)))
	return len(p), nil
}

func TestABodyThatIsTooLargeIsRefusedAndLeavesNothing(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	for _, length := range []int64{maxBody + 1, -1} {
		body := &endless{}
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://localhost/v1/blobs", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header, r.ContentLength = c.header, length
		resp, err := c.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("a body of %d bytes: %s", length, resp.Status)
		}
		if n := body.given.Load(); n > maxBody+4<<20 {
			t.Errorf("%d bytes were taken", n)
		}
	}
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "scorel-upload-*"))
	if err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestTheExamplesOfTheDocumentWork(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, setting{answers: answers(5)})
	home := filepath.Dir(w.socket)
	if err := os.Mkdir(filepath.Join(home, ".scorel"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.socket, filepath.Join(home, ".scorel", "host.sock")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".scorel", "host.header"), []byte("Authorization: Bearer "+testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "set -e\ncd " + w.project + "\nexport HOME=" + home + "\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(doc), -1) {
		if strings.Contains(block[1], "host -N") { // goes on until it is stopped
			block[1] = strings.Replace(block[1], "host -N", "host -N -m 2", 1) + " || test $? = 28\n"
			block[1] = strings.Replace(block[1], "\n ||", " ||", 1)
		}
		script += block[1]
	}
	out, err := command(t, "bash", "-c", script)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	for _, want := range []string{`"deviceId":"dev_`, `"turnId":"trn_`, "event: live", `"live":{`, `"stream_resume"`} {
		if !strings.Contains(out, want) {
			t.Errorf("the examples did not give %s:\n%s", want, out)
		}
	}
	if strings.Contains(out, `"code":`) {
		t.Errorf("an example failed:\n%s", out)
	}
	if part, err := os.ReadFile(filepath.Join(w.project, "first-100-bytes")); err != nil || len(part) != 100 {
		t.Errorf("the range has %d bytes, %v", len(part), err)
	}
}

func TestTheLogOfAnOperationIsPagedOverHTTP(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := c.session(w)
	folder := filepath.Join(w.hostConfig.Dir, "processes", string(id))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"version":1,"operationId":"tool-c 1","status":"running","message":"one","sequence":1}` + "\n" + `{"stderr":"two"}` + "\nthree\n" + `{"note":"fo`
	if err := os.WriteFile(filepath.Join(folder, "tool-c_1-723be5e8.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var first, second protocol.ProcessLog
	at := "/v1/sessions/" + string(id) + "/processes/tool-c%201"
	c.want(http.StatusOK, &first, "GET", at+"?limit=2", "")
	c.want(http.StatusOK, &second, "GET", fmt.Sprintf("%s?offset=%d", at, first.Next), "")
	if len(first.Lines) != 2 || !first.More || first.Next != 2 || first.Lines[0].Event == nil || first.Lines[0].Event.Message != "one" || first.Lines[1].Stderr != "two" {
		t.Errorf("the first page is %+v", first)
	}
	if len(second.Lines) != 1 || second.More || second.Next != 3 || second.Lines[0].Note == "" {
		t.Errorf("the second page is %+v", second)
	}
}

func TestTheDocumentNamesEveryRowOfTheTable(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table() {
		path := strings.Replace(r.path, "{sessionId}", "{id}", 1)
		if r.method != http.MethodHead && !strings.Contains(string(doc), "`"+r.method+" "+path+"` | "+map[bool]string{true: "`" + r.request + "`"}[r.request != ""]) {
			t.Errorf("docs/http.md lacks %s %s (%s)", r.method, path, r.request)
		}
	}
}

func TestMetricsSayWhatHappened(t *testing.T) {
	w := newWorld(t, setting{})
	p := w.connect(dialling{})
	id := p.session(w)
	p.send(id, &protocol.OpenSession{})
	live, answered := false, false
	p.until(func(typ string, _ []protocol.Event) bool {
		live, answered = live || typ == "live", answered || typ == "response"
		return live && answered
	})
	c := w.script()
	c.do("GET", "/v1/projects", "", "Authorization", "Bearer wrong")
	text := c.want(http.StatusOK, nil, "GET", "/metrics", "")
	for _, line := range []string{
		`scorel_connections{kind="unix"} 1`,
		`scorel_connections_total{kind="unix"} 1`,
		`scorel_refusals_total{reason="bearer"} 1`,
		`scorel_requests_total{request="open_session",result="ok"} 1`,
		`scorel_request_seconds_count{request="create_session"} 1`,
		`# TYPE scorel_request_seconds histogram`,
		`scorel_sessions_open 1`,
		`scorel_turns_running 0`,
		`scorel_resyncs_total{mode="full_reload"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the metrics lack %s:\n%s", line, text)
		}
	}
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewBufferString(text))
	form := regexp.MustCompile(`^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+)$`)
	for lines.Scan() {
		if !form.MatchString(lines.Text()) || seen[lines.Text()] {
			t.Errorf("not in the format: %q", lines.Text())
		}
		seen[lines.Text()] = true
	}
}
