package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// randomPart is how many characters at the end of a session's id are random only.
const randomPart = 16

// newSession is the body of POST /v1/sessions.
type newSession struct {
	SessionID     protocol.SessionID `json:"sessionId"`
	ProjectID     protocol.ProjectID `json:"projectId"`
	WorkDir       string             `json:"workDir"`
	Name          string             `json:"name"`
	Model         string             `json:"model"`
	ThinkingLevel string             `json:"thinkingLevel"`
	RequestID     json.RawMessage    `json:"requestId"`
}

// createSession makes a session, and makes its project known first when only a
// folder is named.
func (s *Server) createSession(x *exchange) {
	x.flat = true
	summary, err := s.create(x)
	if err != nil {
		x.fail(err)
		return
	}
	x.w.Header().Set("Location", "/v1/sessions/"+string(summary.SessionID))
	x.answer(http.StatusCreated, summary)
}

func (s *Server) create(x *exchange) (*protocol.SessionSummary, error) {
	f := fields{}
	if err := x.body(f); err != nil {
		return nil, err
	}
	var n newSession
	if err := decode(f, "create_session", &n); err != nil {
		return nil, err
	}
	id, named, err := x.requestID(f)
	if err != nil {
		return nil, err
	}
	switch {
	case n.WorkDir != "" && n.ProjectID != "":
		return nil, wrong("projectId", "Name the folder of the session as workDir, or its project as projectId, not both.")
	case n.WorkDir == "" && n.ProjectID == "":
		field := "workDir"
		if _, ok := f["projectId"]; ok && f["workDir"] == nil {
			field = "projectId"
		}
		return nil, wrong(field, "Name the folder of the session as workDir, or its project as projectId.")
	}
	conn, err := s.scripts.get(x.r.Context())
	if err != nil {
		return nil, err
	}
	defer s.scripts.put()
	project, err := s.project(x, conn, &n)
	if err != nil {
		return nil, err
	}
	if n.SessionID == "" {
		if n.SessionID = protocol.NewSessionID(time.Now(), s.cfg.Rand); named {
			// Two of the same key, one after the other: the second finds the first's.
			s.keyed.Lock()
			defer s.keyed.Unlock()
			if n.SessionID, err = s.sessionOfKey(x, conn, id, n.SessionID); err != nil {
				return nil, err
			}
		}
	} else if err := n.SessionID.Check(); err != nil {
		return nil, wrong("sessionId", "The field sessionId: %v.", err)
	}
	meta := protocol.Meta{WorkDir: project.WorkDir, Name: n.Name, Model: n.Model, ThinkingLevel: n.ThinkingLevel}
	said, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	data, err := x.call(conn, protocol.Call{RequestID: id, SessionID: n.SessionID, Repeat: named, Body: protocol.BodyHash(said),
		Request: &protocol.CreateSession{ProjectID: project.ProjectID, Meta: meta}})
	if err != nil {
		return nil, err
	}
	summary, ok := data.(*protocol.SessionSummary)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The request of this key did not make a session; use another key.")
	}
	return summary, nil
}

// project returns the project of a new session.
func (s *Server) project(x *exchange, conn *host.Conn, n *newSession) (*protocol.Project, error) {
	if n.WorkDir != "" {
		data, err := x.call(conn, s.fresh("", &protocol.RegisterProject{WorkDir: n.WorkDir}))
		if err != nil {
			return nil, err
		}
		return data.(*protocol.Project), nil
	}
	data, err := x.call(conn, s.fresh("", &protocol.ListProjects{}))
	if err != nil {
		return nil, err
	}
	for _, p := range data.(*protocol.ProjectList).Projects {
		if p.ProjectID == n.ProjectID {
			return &p, nil
		}
	}
	return nil, protocol.About("projectId", "", protocol.CodeProjectNotFound, "There is no project %s; POST /v1/projects makes a folder known.", shown(string(n.ProjectID)))
}

// sessionOfKey returns the id of the session that a named request makes: the random
// part derives from the name, so that the session is found again when the request is
// repeated, however late and also when the host has been restarted since.
func (s *Server) sessionOfKey(x *exchange, conn *host.Conn, id protocol.RequestID, drawn protocol.SessionID) (protocol.SessionID, error) {
	derived := string(protocol.ClientIDOf([]byte("session of " + string(id))))
	suffix := derived[len(derived)-randomPart:]
	list := &protocol.ListSessions{}
	for {
		data, err := x.call(conn, s.fresh("", list))
		if err != nil {
			return "", err
		}
		page := data.(*protocol.SessionList)
		for _, sum := range page.Sessions {
			if strings.HasSuffix(string(sum.SessionID), suffix) {
				return sum.SessionID, nil
			}
		}
		if !page.More || len(page.Sessions) == 0 {
			return drawn[:len(drawn)-randomPart] + protocol.SessionID(suffix), nil
		}
		last := page.Sessions[len(page.Sessions)-1]
		list = &protocol.ListSessions{Before: last.SessionID, BeforeTime: last.UpdatedAt}
	}
}

// fresh makes a call that was never sent before.
func (s *Server) fresh(id protocol.SessionID, r protocol.Request) protocol.Call {
	return protocol.Call{RequestID: protocol.NewRequestID(s.cfg.Rand), SessionID: id, Request: r}
}

// decode reads the fields of a request into v, which must have all of them.
func decode(f fields, what string, v any) error {
	if err := f.unknown(what, v, protocol.MemberNames(v)); err != nil {
		return err
	}
	data, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return protocol.NotJSON(err, "body", data, v)
	}
	return nil
}

// sessionView answers GET /v1/sessions/{sessionId}.
type sessionView struct {
	protocol.SessionOpened
	Live protocol.Live `json:"live"`
}

// getSession gives a session's summary and what goes on in it.
func (s *Server) getSession(x *exchange) {
	view, err := s.view(x)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, view)
}

func (s *Server) view(x *exchange) (*sessionView, error) {
	id := protocol.SessionID(x.values["sessionId"])
	if err := id.Check(); err != nil {
		return nil, wrong("sessionId", "%v.", err)
	}
	conn, err := s.own(x.r.Context(), "HTTP", false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	data, err := x.call(conn, s.fresh(id, &protocol.OpenSession{}))
	if err != nil {
		return nil, err
	}
	live, err := firstLive(x.r.Context(), conn)
	if err != nil {
		return nil, err
	}
	return &sessionView{*data.(*protocol.SessionOpened), *live}, nil
}

// firstLive returns the first live state of a subscription.
func firstLive(ctx context.Context, conn *host.Conn) (*protocol.Live, error) {
	for {
		select {
		case f := <-conn.Frames():
			switch f := f.(type) {
			case *protocol.LiveFrame:
				return &f.Live, nil
			case *protocol.SessionClosed:
				if f.Err != nil {
					return nil, f.Err
				}
				return nil, errStopping()
			}
		case <-conn.Done():
			return nil, errStopping()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
