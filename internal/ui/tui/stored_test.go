package tui_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// stored writes a session of the project into the home, before a host runs there: the
// messages in turn of a person and of a model.
func (w *world) stored(meta protocol.Meta, messages ...string) protocol.SessionID {
	w.t.Helper()
	const project = "prj_0000000000000001"
	w.ofUser("projects.json", fmt.Sprintf(`{"version":1,"projects":[{"projectId":%q,"root":%q}]}`, project, w.project))
	store, err := session.OpenStore(session.Config{Dir: filepath.Join(w.home, ".scorel")})
	if err != nil {
		w.t.Fatal(err)
	}
	meta.ProjectID, meta.WorkDir = project, w.project
	now := time.Now()
	id := protocol.NewSessionID(now, rand.Reader)
	log, err := store.Create(w.t.Context(), protocol.Header{SessionID: id, DeviceID: protocol.DeviceIDOf([]byte("test")), CreatedAt: now.UnixMilli(), Meta: meta})
	if err != nil {
		w.t.Fatal(err)
	}
	var leaf protocol.EventID
	var batch []protocol.Event
	for i, text := range messages {
		m := protocol.UserText(text)
		if i%2 == 1 {
			m = protocol.Message{Role: protocol.RoleAssistant, Provider: "script", Model: meta.Model, StopReason: protocol.StopEndTurn, Content: []protocol.Block{protocol.Text(text)}}
		}
		e := protocol.NewEvent(&protocol.MessageBody{Message: m})
		e.ID, e.ParentID, e.Seq = protocol.NewEventID(rand.Reader), leaf, protocol.Seq(i+1)
		e.SessionID, e.ClientID, e.TS = id, protocol.HostClient, now.UnixMilli()+int64(i)
		leaf = e.ID
		if batch = append(batch, e); len(batch) == 2000 || i == len(messages)-1 {
			if err := log.Commit(w.t.Context(), batch); err != nil {
				w.t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	if err := log.Close(); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// many gives messages that tell their number, a few of them with a word of their own.
func many(n int, words map[int]string) []string {
	var all []string
	for i := range n {
		text := fmt.Sprintf("message %d asks for more", i)
		if i%2 == 1 {
			text = fmt.Sprintf("message %d answers that\n\nin two paragraphs", i)
		}
		all = append(all, text+" "+words[i])
	}
	return all
}
