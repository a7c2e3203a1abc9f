package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxMessage is the longest message of a client in bytes.
const MaxMessage = 1 << 20

// Request is what a client asks of a host. The set is closed: only types of this
// package implement it.
type Request interface {
	// RequestName is the type that stands on the wire.
	RequestName() string
	// Check says what of it cannot be carried out; see [Call.Check].
	Check() *Problem
}

// Call is one request on its way. RequestID is drawn by the client; Repeat marks
// one whose answer was lost. SessionID names the session it is about, or the new
// one for create_session, clone_session and import_session, whose id the client
// draws.
type Call struct {
	RequestID RequestID
	SessionID SessionID
	Repeat    bool
	Request   Request
	// Body is the [BodyHash] of what the client has written, of a request that acts; ""
	// is that of the call as it is written here.
	Body string
}

// Reply answers a call: Data is set, or Err.
type Reply struct {
	RequestID RequestID
	Data      Response
	Err       *Error
}

// Response is the data of a [Reply]. The set is closed.
type Response interface{ response() }

// Acts says whether carrying out a request changes a session or the host, so that
// a second one with the same requestId must not act again. Reads are simply
// repeated; so are payloads, whose parts name their place, and subscriptions,
// which belong to their connection.
func Acts(r Request) bool {
	switch r.(type) {
	case *StopHost, *SetCredential, *RenameEntry, *SetGrant, *RevokeEntry, *RemoveProject, *TrustProject, *CreateSession, *DeleteSession, *CloneSession, *ImportSession, *RepairSession, *UpdateInfo, *SetLabel, *SendMessage, *Steer, *FollowUp,
		*RewriteQueue, *ResumeQueue, *Cancel, *RewindTo, *BranchTo, *CompactSession, *SetMode, *AnswerPermission,
		*AnswerUI, *StopTask, *RunCommand, *Reload, *EnableExtension, *AddMemory, *RunShell, *StopShell, *SetConfig:
		return true
	}
	return false
}

// NewRequest makes an empty request by its name on the wire, nil for a name that there
// is not.
func NewRequest(name string) Request {
	r, _ := newRequest(name)
	return r
}

// newRequest makes an empty request and the empty response that belongs to it.
func newRequest(name string) (Request, Response) {
	switch name {
	case "ping":
		return &Ping{}, &Done{}
	case "get_status":
		return &GetStatus{}, &Status{}
	case "stop_host":
		return &StopHost{}, &Done{}
	case "test_model":
		return &TestModel{}, &ModelTest{}
	case "set_credential":
		return &SetCredential{}, &Done{}
	case "list_files":
		return &ListFiles{}, &FileList{}
	case "list_entries":
		return &ListEntries{}, &EntryList{}
	case "rename_entry":
		return &RenameEntry{}, &Done{}
	case "set_grant":
		return &SetGrant{}, &Done{}
	case "revoke_entry":
		return &RevokeEntry{}, &Done{}
	case "list_directories":
		return &ListDirectories{}, &DirectoryList{}
	case "remove_project":
		return &RemoveProject{}, &Done{}
	case "register_project":
		return &RegisterProject{}, &Project{}
	case "list_projects":
		return &ListProjects{}, &ProjectList{}
	case "get_trust":
		return &GetTrust{}, &TrustReport{}
	case "trust_project":
		return &TrustProject{}, &ProjectTrust{}
	case "doctor":
		return &Doctor{}, &DoctorReport{}
	case "get_config":
		return &CheckConfig{}, &ConfigReport{}
	case "list_models":
		return &ListModels{}, &ModelList{}
	case "prune_blobs":
		return &PruneBlobs{}, &Pruned{}
	case "create_session":
		return &CreateSession{}, &SessionSummary{}
	case "list_sessions":
		return &ListSessions{}, &SessionList{}
	case "search_sessions":
		return &SearchSessions{}, &SearchResult{}
	case "open_session":
		return &OpenSession{}, &SessionOpened{}
	case "close_session":
		return &CloseSession{}, &Done{}
	case "delete_session":
		return &DeleteSession{}, &Deleted{}
	case "clone_session":
		return &CloneSession{}, &SessionSummary{}
	case "import_session":
		return &ImportSession{}, &Imported{}
	case "export_session":
		return &ExportSession{}, &BlobRef{}
	case "verify_session":
		return &VerifySession{}, &SessionReport{}
	case "repair_session":
		return &RepairSession{}, &SessionReport{}
	case "update_info":
		return &UpdateInfo{}, &Done{}
	case "set_label":
		return &SetLabel{}, &Done{}
	case "send_message":
		return &SendMessage{}, &Sent{}
	case "steer":
		return &Steer{}, &Sent{}
	case "follow_up":
		return &FollowUp{}, &Sent{}
	case "rewrite_queue":
		return &RewriteQueue{}, &Sent{}
	case "resume_queue":
		return &ResumeQueue{}, &Done{}
	case "cancel":
		return &Cancel{}, &Cancelled{}
	case "rewind":
		return &RewindTo{}, &Moved{}
	case "branch":
		return &BranchTo{}, &Moved{}
	case "compact":
		return &CompactSession{}, &Compacted{}
	case "set_mode":
		return &SetMode{}, &Done{}
	case "get_path":
		return &GetPath{}, &Events{}
	case "get_tree":
		return &GetTree{}, &Events{}
	case "get_context":
		return &GetContext{}, &ContextView{}
	case "get_blob":
		return &GetBlob{}, &BlobPart{}
	case "put_blob":
		return &PutBlob{}, &BlobRef{}
	case "answer_permission":
		return &AnswerPermission{}, &Done{}
	case "answer_ui":
		return &AnswerUI{}, &Done{}
	case "list_commands":
		return &ListCommands{}, &CommandList{}
	case "complete_command":
		return &CompleteCommand{}, &CompletionList{}
	case "run_command":
		return &RunCommand{}, &CommandResult{}
	case "reload":
		return &Reload{}, &Reloaded{}
	case "list_extensions":
		return &ListExtensions{}, &ExtensionList{}
	case "check_extension":
		return &CheckExtension{}, &ExtensionInfo{}
	case "enable_extension":
		return &EnableExtension{}, &Done{}
	case "list_skills":
		return &ListSkills{}, &SkillList{}
	case "list_agents":
		return &ListAgents{}, &AgentList{}
	case "add_memory":
		return &AddMemory{}, &Done{}
	case "get_memory":
		return &GetMemory{}, &MemoryView{}
	case "get_process_log":
		return &GetProcessLog{}, &ProcessLog{}
	case "run_shell":
		return &RunShell{}, &ShellStarted{}
	case "stop_shell":
		return &StopShell{}, &Cancelled{}
	case "list_hooks":
		return &ListHooks{}, &HookList{}
	case "get_usage":
		return &GetUsage{}, &UsageReport{}
	case "set_config":
		return &SetConfig{}, &Done{}
	case "get_project_state":
		return &GetProjectState{}, &ProjectState{}
	case "list_tasks":
		return &ListTasks{}, &TaskList{}
	case "stop_task":
		return &StopTask{}, &TaskInfo{}
	}
	return nil, nil
}

type callEnvelope struct {
	Type      string    `json:"type"`
	RequestID RequestID `json:"requestId"`
	SessionID SessionID `json:"sessionId,omitempty"`
	Repeat    bool      `json:"repeat,omitempty"`
}

// MarshalJSON writes the call with the fields of its request beside its own.
func (c Call) MarshalJSON() ([]byte, error) {
	head, err := marshal(callEnvelope{c.Request.RequestName(), c.RequestID, c.SessionID, c.Repeat})
	if err != nil {
		return nil, err
	}
	return joinObjects(head, c.Request)
}

// ParseCall reads a call. An unknown request, or one that does not fit its type or
// lacks a field that must stand there, is an *Error with invalid_request. What its
// values may be says [Call.Check].
func ParseCall(data []byte) (Call, error) {
	if len(data) > MaxMessage {
		return Call{}, Errorf(CodePayloadTooLarge, "A message may have at most %d bytes; this one has %d.", MaxMessage, len(data))
	}
	var e callEnvelope
	if err := json.Unmarshal(data, &e); err != nil {
		return Call{}, misfit(err, "message", data, func() any { return new(callEnvelope) }).Err()
	}
	req, _ := newRequest(e.Type)
	if req == nil {
		return Call{}, (&Problem{"type", fmt.Sprintf("There is no request named %q.", clip(e.Type))}).Err()
	}
	if err := e.RequestID.Check(); err != nil {
		return Call{}, (&Problem{"requestId", fmt.Sprintf("The field requestId is wrong: %v.", err)}).Err()
	}
	if e.SessionID != "" {
		if p := session("sessionId", e.SessionID); p != nil {
			return Call{}, p.Err()
		}
	}
	if err := json.Unmarshal(data, req); err != nil {
		return Call{}, misfit(err, e.Type+" request", data, func() any { req, _ := newRequest(e.Type); return req }).Err()
	}
	if p := lacks(data, req); p != nil {
		return Call{}, p.Err()
	}
	c := Call{RequestID: e.RequestID, SessionID: e.SessionID, Repeat: e.Repeat, Request: req}
	if Acts(req) {
		c.Body = BodyHash(data)
	}
	return c, nil
}

type replyJSON struct {
	Type      string          `json:"type"` // response or error
	RequestID RequestID       `json:"requestId"`
	Data      json.RawMessage `json:"data,omitempty"`
	Code      Code            `json:"code,omitempty"`
	Message   string          `json:"message,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
}

// MarshalJSON writes the reply.
func (r Reply) MarshalJSON() ([]byte, error) {
	if r.Err != nil {
		return marshal(replyJSON{Type: "error", RequestID: r.RequestID, Code: r.Err.Code, Message: r.Err.Message, Details: r.Err.Details})
	}
	data, err := marshal(r.Data)
	if err != nil {
		return nil, err
	}
	return marshal(replyJSON{Type: "response", RequestID: r.RequestID, Data: data})
}

// ParseReply reads the reply to a request of the given name.
func ParseReply(data []byte, requestName string) (Reply, error) {
	var j replyJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return Reply{}, err
	}
	if j.Type == "error" {
		return Reply{RequestID: j.RequestID, Err: &Error{Code: j.Code, Message: j.Message, Details: j.Details}}, nil
	}
	_, resp := newRequest(requestName)
	if resp == nil {
		return Reply{}, fmt.Errorf("protocol: a reply to the unknown request %q", requestName)
	}
	if err := json.Unmarshal(j.Data, resp); err != nil {
		return Reply{}, fmt.Errorf("protocol: the reply to %s: %w", requestName, err)
	}
	return Reply{RequestID: j.RequestID, Data: resp}, nil
}

// joinObjects appends the fields of v to the object in head.
func joinObjects(head []byte, v any) ([]byte, error) {
	fields, err := marshal(v)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(fields, []byte("{}")) {
		return head, nil
	}
	out := append(head[:len(head)-1], ',')
	return append(out, fields[1:]...), nil
}
