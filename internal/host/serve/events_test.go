package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"scorel/protocol"
)

// sent is one server-sent event.
type sent struct{ event, id, data string }

// eventReader is a running request for events.
type eventReader struct {
	t     *testing.T
	lines *bufio.Reader
	body  io.Closer
}

// follow asks for the events of a session.
func (c *scriptClient) follow(id protocol.SessionID, query, last string) *eventReader {
	c.t.Helper()
	return c.stream("/v1/sessions/"+string(id)+"/events"+query, last)
}

// stream asks for events.
func (c *scriptClient) stream(path, last string) *eventReader {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), "GET", c.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		c.t.Fatalf("%s %s %s", resp.Status, resp.Header, body)
	}
	return &eventReader{c.t, bufio.NewReader(resp.Body), resp.Body}
}

// next reads one event; comments are passed over.
func (r *eventReader) next() (sent, error) {
	var e sent
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.event = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.event != "" {
				return e, nil
			}
		case "retry", ":":
		default:
			r.t.Errorf("the line %q is no part of an event", line)
		}
	}
}

// until reads on until an event of a name, and returns all.
func (r *eventReader) until(name string) []sent {
	r.t.Helper()
	var all []sent
	for {
		e, err := r.next()
		if err != nil {
			r.t.Fatalf("%v after %v", err, eventNames(all))
		}
		if all = append(all, e); e.event == name {
			return all
		}
	}
}

func eventNames(all []sent) []string {
	var n []string
	for _, e := range all {
		n = append(n, e.event)
	}
	return n
}

func (c *scriptClient) say(id protocol.SessionID, text string) {
	c.t.Helper()
	c.want(http.StatusOK, nil, "POST", "/v1/sessions/"+string(id)+"/messages", fmt.Sprintf(`{"content":%q}`, text))
}

func answers(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(`{"do":[{"text":"answer %d"}]}`, i))
	}
	return all
}

func TestEventsComeWithTheirPlaceAndEndWithTheState(t *testing.T) {
	w := newWorld(t, setting{answers: answers(1)})
	c := w.script()
	id := c.session(w)
	r := c.follow(id, "", "")
	first := r.until("live")
	if got := fmt.Sprint(eventNames(first)); got != "[resync live]" {
		t.Errorf("a stream begins with %s", got)
	}
	if first[0].id != "" || first[1].id == "" || !strings.Contains(first[0].data, `"full_reload"`) {
		t.Errorf("a stream begins with %+v", first)
	}
	c.say(id, "Hi")
	all := r.until("runtime_end")
	var seq protocol.Seq
	persistent := map[string]bool{}
	for _, e := range all {
		at, err := parsePlace(e.id)
		if err != nil {
			t.Fatal(err)
		}
		ev, err := protocol.ParseEvent([]byte(e.data))
		if err != nil {
			t.Fatal(err)
		}
		if string(ev.Type) != e.event || ev.Seq != at.seq || at.seq <= seq || at.epoch == "" {
			t.Errorf("%+v stands behind seq %d", e, seq)
		}
		seq = at.seq
		if !ev.IsTransient() {
			if at.persistent != ev.Seq || at.id != ev.ID {
				t.Errorf("%+v is not its own anchor", e)
			}
			persistent[e.event] = true
		}
	}
	if !persistent["message"] {
		t.Errorf("there were %v", eventNames(all))
	}
}

// TestAStreamGoesOnBehindItsLastEventID cuts a stream in the middle of a turn, of one session
// and of several: neither the deltas nor the stored events before the cut come again.
func TestAStreamGoesOnBehindItsLastEventID(t *testing.T) {
	t.Run("one", func(t *testing.T) { goesOn(t, "/v1/sessions/%s/events") })
	t.Run("several", func(t *testing.T) { goesOn(t, "/v1/events?session=%s") })
}

func goesOn(t *testing.T, path string) {
	w := newWorld(t, setting{answers: answers(3)})
	c := w.script()
	id := c.session(w)
	path = fmt.Sprintf(path, id)
	whole := c.stream(path, "") // never interrupted: what the other should have seen
	whole.until("live")
	cut := c.stream(path, "")
	cut.until("live")
	c.say(id, "one")
	want := ofSession(whole.until("runtime_end"))
	got := []sent{}
	for len(got) == 0 || got[len(got)-1].event != "text_delta" { // in the middle of the turn
		e, err := cut.next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ofSession([]sent{e})...)
	}
	_ = cut.body.Close()
	c.say(id, "two")
	want = append(want, ofSession(whole.until("runtime_end"))...)
	cut = c.stream(path, got[len(got)-1].id)
	if all := cut.until("resync"); !strings.Contains(all[len(all)-1].data, "stream_resume") {
		t.Fatalf("the stream goes on with %+v", all)
	}
	for len(got) < len(want) {
		e, err := cut.next()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ofSession([]sent{e})...)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("event %d is\n%+v\nnot\n%+v", i, got[i], want[i])
		}
	}
}

// ofSession returns the events of a session among all, without states and what is told of
// the device.
func ofSession(all []sent) (events []sent) {
	for _, e := range all {
		if ev, err := protocol.ParseEvent([]byte(e.data)); err == nil && ev.Seq > 0 {
			events = append(events, e)
		}
	}
	return events
}

func TestAfterARestartPersistentEventsGoOnAndNoneComesTwice(t *testing.T) {
	w := newWorld(t, setting{answers: answers(3)})
	c := w.script()
	id := c.session(w)
	r := c.follow(id, "?types=persistent", "")
	r.until("live")
	c.say(id, "one")
	first := append(r.until("message"), r.until("message")...) // the question and its answer
	w.restart()
	c = w.script()
	c.say(id, "two")
	r = c.follow(id, "?types=persistent", first[len(first)-1].id)
	e, err := r.next()
	if err != nil || e.event != "resync" || !strings.Contains(e.data, "persistent_fallback") {
		t.Fatalf("the stream goes on with %+v, %v", e, err)
	}
	texts := map[string]int{}
	count := func(all []sent) {
		for _, e := range all {
			if e.event != "message" {
				continue
			}
			ev, err := protocol.ParseEvent([]byte(e.data))
			if err != nil {
				t.Fatal(err)
			}
			texts[ev.Body.(*protocol.MessageBody).Message.Content[0].Text]++
		}
	}
	count(first)
	for live := false; texts["answer 1"] == 0; {
		e, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		live = live || e.event == "live"
		if at, err := parsePlace(e.id); err != nil || (at.epoch != "") != live {
			t.Errorf("%s has the place %s: seqs of the log say nothing of the stream before it is live", e.event, e.id)
		}
		if ev, err := protocol.ParseEvent([]byte(e.data)); err == nil && ev.IsTransient() {
			t.Errorf("a transient event came: %s", e.event)
		}
		count([]sent{e})
	}
	for _, text := range []string{"one", "answer 0", "two", "answer 1"} {
		if texts[text] != 1 {
			t.Errorf("%q came %d times: %v", text, texts[text], texts)
		}
	}
}

// TestTheStreamOfAnEmptySessionGoesOnAfterARestart follows a session before anything is
// stored in it, and again after a restart: everything was missed, and all of it comes.
func TestTheStreamOfAnEmptySessionGoesOnAfterARestart(t *testing.T) {
	w := newWorld(t, setting{answers: answers(1)})
	c := w.script()
	id := c.session(w)
	r := c.follow(id, "", "")
	all := r.until("live")
	last := all[len(all)-1].id
	w.restart()
	c = w.script()
	r = c.follow(id, "", "")
	r.until("live")
	c.say(id, "one")
	var stored []string
	for _, e := range r.until("runtime_end") {
		if ev, err := protocol.ParseEvent([]byte(e.data)); err == nil && !ev.IsTransient() {
			stored = append(stored, e.data)
		}
	}
	got := c.follow(id, "", last).until("live")
	if !strings.Contains(got[0].data, "persistent_fallback") {
		t.Fatalf("from %s the stream goes on with %+v", last, got[0])
	}
	var came []string
	for _, e := range got[1 : len(got)-1] {
		came = append(came, e.data)
	}
	if !slices.Equal(came, stored) {
		t.Errorf("from %s came\n%s\nnot\n%s", last, strings.Join(came, "\n"), strings.Join(stored, "\n"))
	}
}

// TestAFullReloadHasNoIDsBeforeItsEnd: a reader that is cut off within a full reload lacks
// what the reload leaves out, so that it must begin it again and not go on within it.
func TestAFullReloadHasNoIDsBeforeItsEnd(t *testing.T) {
	w := newWorld(t, setting{answers: answers(2)})
	c := w.script()
	id, other := c.session(w), c.session(w)
	for _, s := range []protocol.SessionID{id, other} {
		r := c.follow(s, "", "")
		r.until("live")
		c.say(s, "one")
		r.until("runtime_end")
	}
	all := c.follow(id, "?tail=5", "").until("live")
	for i, e := range all {
		if last := i == len(all)-1; (e.id != "") != last || len(all) != 4 {
			t.Errorf("%d of %d, %s, has the id %q", i, len(all), e.event, e.id)
		}
	}
	// Of several sessions each has a place when its own reload has ended.
	r := c.stream(fmt.Sprintf("/v1/events?session=%s&session=%s&tail=5", id, other), "")
	live := map[string]bool{}
	for len(live) < 2 {
		e, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		var f struct{ SessionID string }
		if err := json.Unmarshal([]byte(e.data), &f); err != nil {
			t.Fatal(err)
		}
		if e.event == "live" {
			live[f.SessionID] = true
		}
		for _, s := range []string{string(id), string(other)} {
			if strings.Contains(e.id, s) && !live[s] {
				t.Errorf("%s has the id %q before the reload of %s has ended", e.event, e.id, s)
			}
		}
	}
}

func TestTailGivesTheNewestEventsFirst(t *testing.T) {
	w := newWorld(t, setting{answers: answers(2)})
	c := w.script()
	id := c.session(w)
	r := c.follow(id, "", "")
	r.until("live")
	for _, text := range []string{"one", "two"} {
		c.say(id, text)
		r.until("runtime_end")
	}
	got := c.follow(id, "?tail=3", "").until("live")
	var texts []string
	for _, e := range got[1 : len(got)-1] {
		ev, err := protocol.ParseEvent([]byte(e.data))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, ev.Body.(*protocol.MessageBody).Message.Content[0].Text)
	}
	if fmt.Sprint(texts) != "[answer 0 two answer 1]" {
		t.Errorf("the tail is %v", texts)
	}
}

func TestAQuietStreamShowsThatItLives(t *testing.T) {
	w := newWorld(t, setting{times: func(t *times) { t.ping = 20 * time.Millisecond }})
	c := w.script()
	r := c.follow(c.session(w), "", "")
	r.until("live")
	for range 3 {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line != ":\n" && line != "\n" {
			t.Fatalf("a quiet stream says %q", line)
		}
	}
}

func TestAStreamEndsWithTheServer(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	r := c.follow(c.session(w), "", "")
	r.until("live")
	if err := w.server.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := r.next(); err != io.EOF {
		t.Errorf("the stream ended with %v", err)
	}
}

func TestEventsThatCannotBeGivenAreRefusedBeforeTheStream(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := string(c.session(w))
	for _, test := range []struct {
		path, last string
		status     int
	}{
		{"/v1/sessions/" + id + "/events?tail=many", "", 400},
		{"/v1/sessions/" + id + "/events?tail=2001", "", 400},
		{"/v1/sessions/" + id + "/events?types=some", "", 400},
		{"/v1/sessions/" + id + "/events?after=1", "", 400},
		{"/v1/sessions/" + id + "/events", "7", 400},
		{"/v1/sessions/" + id + "/events?session=" + id, "", 400},
		{"/v1/sessions/" + id + "/events?interactive=1", "", 400},
		{"/v1/events?session=" + id + "&session=" + id, "", 400},
		{"/v1/events?session=x", "", 400},
		{"/v1/events?session=" + id + strings.Repeat("&session="+id, 64), "", 400},
		{"/v1/events?session=" + id + "&tail=1&tail=2", "", 400},
		{"/v1/events?session=" + id, "7", 400},
		{"/v1/events?session=" + string(protocol.NewSessionID(w.now(), zero{})), "", 404},
		{"/v1/sessions/" + string(protocol.NewSessionID(w.now(), zero{})) + "/events", "", 404},
	} {
		resp, text := c.do("GET", test.path, "", "Last-Event-ID", test.last)
		var e protocol.Error
		if json.Unmarshal([]byte(text), &e) != nil || resp.StatusCode != test.status || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%s %s: %s %s", test.path, test.last, resp.Status, text)
		}
	}
}

// TestOneStreamFollowsSeveralSessionsAndTheDevice cuts the stream in the middle and goes
// on after its id: of each session every stored event comes once.
func TestOneStreamFollowsSeveralSessionsAndTheDevice(t *testing.T) {
	w := newWorld(t, setting{answers: []string{`{"again":true,"do":[{"text":"Hello."}]}`}})
	c := w.script()
	a, b := c.session(w), c.session(w)
	path := fmt.Sprintf("/v1/events?session=%s&session=%s", a, b)
	r := c.stream(path, "")
	r.until("live")
	r.until("live")
	got, last := map[string]int{}, ""
	read := func(until int) {
		t.Helper()
		for ends := 0; ends < until; {
			e, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			if e.id != "" {
				last = e.id
			}
			if ev, err := protocol.ParseEvent([]byte(e.data)); err == nil && ev.Type == protocol.TypeMessage {
				got[string(ev.SessionID)+string(ev.ID)]++
			}
			if e.event == "runtime_end" {
				ends++
			}
		}
	}
	c.say(a, "one")
	c.say(b, "two")
	read(2)
	_ = r.body.Close()
	c.say(a, "three")
	quiet := c.follow(a, "", "")
	if all := quiet.until("live"); strings.Contains(all[len(all)-1].data, `"running":true`) {
		quiet.until("runtime_end")
	}
	r = c.stream(path, last)
	c.say(b, "four")
	read(1)
	for len(got) < 8 {
		read(1)
	}
	for id, n := range got {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	device := c.stream("/v1/events", "")
	c.session(w)
	if all := device.until("session_changed"); all[len(all)-1].id != "" {
		t.Errorf("%+v", all)
	}
}

// TestAQuestionIsAskedAndAnsweredOverHTTP: a script that says it is interactive is asked.
func TestAQuestionIsAskedAndAnsweredOverHTTP(t *testing.T) {
	w := newWorld(t, setting{answers: []string{
		`{"do":[{"call":"AskUser","id":"c1","input":{"questions":[{"question":"Which base?","header":"Base","options":[{"label":"main"},{"label":"next"}]}]}}]}`,
		`{"if":{"result":"Answer: next"},"do":[{"text":"thanks"}]}`}})
	c := w.script()
	id := c.session(w)
	r := c.follow(id, "?interactive=true", "")
	r.until("live")
	c.say(id, "ask")
	all := r.until("ui_request")
	var asked struct {
		UIID string `json:"uiId"`
	}
	if err := json.Unmarshal([]byte(all[len(all)-1].data), &asked); err != nil || asked.UIID == "" {
		t.Fatalf("%v in %s", err, all[len(all)-1].data)
	}
	c.want(http.StatusOK, nil, "POST", "/v1/requests/answer_ui", fmt.Sprintf(`{"sessionId":%q,"uiId":%q,"value":[["next"]]}`, id, asked.UIID))
	if all := r.until("runtime_end"); !strings.Contains(fmt.Sprint(all), "thanks") {
		t.Errorf("%+v", all)
	}
}

// TestEveryRequestIsThereOverHTTP makes those that have no path of their own, with an
// Idempotency-Key that counts.
func TestEveryRequestIsThereOverHTTP(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	id := c.session(w)
	rename := fmt.Sprintf(`{"sessionId":%q,"changes":{"name":"renamed"}}`, id)
	for range 2 {
		c.want(http.StatusOK, nil, "POST", "/v1/requests/update_info", rename, "Idempotency-Key", "k1")
	}
	if resp, text := c.do("POST", "/v1/requests/update_info", strings.Replace(rename, "renamed", "other", 1), "Idempotency-Key", "k1"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another body with the same key: %s %s", resp.Status, text)
	}
	var found protocol.SessionList
	c.want(http.StatusOK, &found, "POST", "/v1/requests/list_sessions", "")
	if len(found.Sessions) != 1 || found.Sessions[0].Meta.Name != "renamed" {
		t.Errorf("%+v", found)
	}
	for path, status := range map[string]int{"/v1/requests/open_session": 400, "/v1/requests/close_session": 400, "/v1/requests/nothing": 404} {
		resp, text := c.do("POST", path, fmt.Sprintf(`{"sessionId":%q}`, id))
		var e protocol.Error
		if json.Unmarshal([]byte(text), &e) != nil || resp.StatusCode != status || protocol.AboutOf(&e).Field != "request" {
			t.Errorf("%s: %s %s", path, resp.Status, text)
		}
	}
	for path, test := range map[string]struct{ body, field string }{
		"/v1/requests/update_info":    {fmt.Sprintf(`{"sessionId":%q,"changes":{"model":"no such model"}}`, id), "changes.model"},
		"/v1/requests/create_session": {fmt.Sprintf(`{"sessionId":%q,"meta":{"workDir":%q,"thinkingLevel":"ultra"}}`, protocol.NewSessionID(w.now(), zero{}), w.project), "meta.thinkingLevel"},
		"/v1/sessions":                {fmt.Sprintf(`{"workDir":%q,"thinkingLevel":"ultra"}`, w.project), "thinkingLevel"},
	} {
		resp, text := c.do("POST", path, test.body)
		var e protocol.Error
		if json.Unmarshal([]byte(text), &e) != nil || resp.StatusCode != http.StatusBadRequest || protocol.AboutOf(&e).Field != test.field {
			t.Errorf("%s: %s %s", path, resp.Status, text)
		}
	}
	var deleted protocol.Deleted
	c.want(http.StatusOK, &deleted, "POST", "/v1/requests/delete_session", fmt.Sprintf(`{"sessionId":%q}`, id))
}

func TestAPlaceIsReadAsItIsWritten(t *testing.T) {
	for _, p := range []place{
		{}, {seq: 3}, {epoch: "epo_0123456789abcdef", seq: 1 << 63, persistent: 7, id: "evt_0123456789abcdef"},
	} {
		got, err := parsePlace(p.String())
		if err != nil || got != p {
			t.Errorf("%s was read as %+v, %v", p, got, err)
		}
	}
	for _, bad := range []string{"", "....", "-.1.2", "-.-1.2.-", "-.1.2.evt_1", "epo_1.1.2.-", "x.1.2.-", "-.1.2.-.-", strings.Repeat("1", 200), "-.1.18446744073709551616.-"} {
		if p, err := parsePlace(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, p)
		}
	}
}

func TestAStreamOfEventsHasNoLineEndInsideAnEvent(t *testing.T) {
	line := "{\"type\":\"custom\",\"control\":true,\"id\":\"evt_0000000000000000\",\"parentId\":null,\r\"seq\":1,\"sessionId\":\"ses_00000000000000000000000000\",\"clientId\":\"host\",\"ts\":1,\"kind\":\"x\",\"data\":{\r\"a\":\"b\"}}"
	ev, err := protocol.ParseEvent([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	e := &eventStream{at: places{{session: ev.SessionID}}}
	e.events(&protocol.EventsFrame{SessionID: ev.SessionID, Events: []protocol.Event{ev}})
	if strings.ContainsRune(string(e.buf), '\r') {
		t.Errorf("a line ends within the event: %q", e.buf)
	}
}
