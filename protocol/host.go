package protocol

// Requests about the host itself.
type (
	// Ping answers at once.
	Ping struct{}
	// GetStatus returns what the host is doing; the answer is [Status].
	GetStatus struct{}
	// StopHost ends a serving host: what runs is brought to a boundary first. With
	// Restarting another host takes over at once.
	StopHost struct {
		Restarting bool `json:"restarting,omitempty"`
	}
	// Doctor looks for what is wrong with the installation, and with the project of
	// WorkDir when it is given; the answer is [DoctorReport].
	Doctor struct {
		WorkDir string `json:"workDir,omitempty" check:"max=MaxPath"`
	}
	// PruneBlobs removes payloads that are older than a day and that no log names;
	// the answer is [Pruned].
	PruneBlobs struct{}
)

// What they are answered with.
type (
	// Done answers what gives nothing back.
	Done struct{}
	// Status is what a host is doing. Sessions are those that are open, by id;
	// Addresses is where it listens. Times are in Unix milliseconds.
	Status struct {
		DeviceID  DeviceID       `json:"deviceId"`
		Version   string         `json:"version"`
		PID       int            `json:"pid"`
		StartedAt int64          `json:"startedAt"`
		Addresses []string       `json:"addresses,omitempty"`
		Stopping  bool           `json:"stopping,omitempty"`
		Clients   []ClientInfo   `json:"clients"`
		Sessions  []SessionState `json:"sessions"`
	}
	// ClientInfo is a client that is connected.
	ClientInfo struct {
		ClientID    ClientID `json:"clientId"`
		ClientName  string   `json:"clientName"`
		Grant       Grant    `json:"grant"`
		Interactive bool     `json:"interactive,omitempty"`
	}
	// DoctorReport is what the checks found, in a fixed order.
	DoctorReport struct {
		Checks []DoctorCheck `json:"checks"`
	}
	// DoctorCheck is one of them. State is "ok", "warn" or "fail"; Advice says what
	// to do, "" when nothing need be done.
	DoctorCheck struct {
		ID     string `json:"id"`
		State  string `json:"state"`
		Text   string `json:"text"`
		Advice string `json:"advice,omitempty"`
	}
	// Pruned says what was removed.
	Pruned struct {
		Blobs       int   `json:"blobs"`
		Bytes       int64 `json:"bytes"`                 // of all
		ProcessLogs int   `json:"processLogs,omitempty"` // deleted sessions whose process logs were left
	}
)

var (
	pingSpec = Spec{
		Name: "ping", Scope: ScopeDevice, Grant: GrantView, Urgent: true,
		New: func() Request { return new(Ping) }, Reply: func() Response { return new(Done) },
	}
	getStatusSpec = Spec{
		Name: "get_status", Scope: ScopeDevice, Grant: GrantView,
		Method: "GET", Path: "/v1/status",
		New: func() Request { return new(GetStatus) }, Reply: func() Response { return new(Status) },
	}
	stopHostSpec = Spec{
		Name: "stop_host", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(StopHost) }, Reply: func() Response { return new(Done) },
	}
	doctorSpec = Spec{
		Name: "doctor", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(Doctor) }, Reply: func() Response { return new(DoctorReport) },
	}
	pruneBlobsSpec = Spec{
		Name: "prune_blobs", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(PruneBlobs) }, Reply: func() Response { return new(Pruned) },
	}
)
