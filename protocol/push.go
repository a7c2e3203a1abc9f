package protocol

// MaxPushEndpoint bounds the address of a push subscription, in bytes.
const MaxPushEndpoint = 2 << 10

// maxPushKey bounds the public key of a subscription in bytes: 65 bytes as base64url have 87.
const maxPushKey = 100

// MaxPushSessions is how many sessions one [NotePushed] names.
const MaxPushSessions = 100

// Requests about Web Push: the host asks the push service of a browser (RFC 8030) to wake it
// when a session begins to wait for a person. What it sends has no content.
type (
	// GetPush returns the host's push key and how the subscription of this client stands, as
	// a [Push].
	GetPush struct{}
	// SetPush keeps the push subscription of this client, in the place of an earlier one. The
	// client has to be on the list of entries and able to answer questions, and the host has
	// to be one that stays. Endpoint is an https URL without a user name. An address of a
	// private network or of the host's machine is refused unless its origin is in
	// host.pushServices. Key is the host's public key under which the browser has subscribed,
	// as in [Push]; another one fails with conflict. Origin is where the page is from, which
	// the push service is told as the contact, where it begins with https.
	SetPush struct {
		Endpoint string `json:"endpoint" check:"required,max=MaxPushEndpoint"`
		Key      string `json:"key" check:"required,max=maxPushKey"`
		Origin   string `json:"origin,omitempty" check:"max=MaxName"`
	}
	// DeletePush removes the push subscription of this client. That there is none is no error.
	DeletePush struct{}
	// NotePushed says that the person at this client has been shown that sessions wait, so
	// that nothing is pushed to it for them. What the host does not know as waiting is ignored.
	NotePushed struct {
		SessionIDs []SessionID `json:"sessionIds" check:"required,max=MaxPushSessions,each=MaxWord"`
	}
)

// Push is the host's push key and the subscription of a client. PublicKey is the P-256 key of
// RFC 8292: the 65 bytes of the point, as base64url without padding. State is "" without a
// subscription. Status is the HTTP status of the last refusal, 0 for none.
type Push struct {
	PublicKey string    `json:"publicKey"`
	State     PushState `json:"state,omitempty"`
	Status    int       `json:"status,omitempty"`
}

// PushState says how the push subscription of a client stands.
type PushState string

// The states.
const (
	// PushOn: the last push was taken, or none was sent yet.
	PushOn PushState = "on"
	// PushGone: the push service does not know the subscription any more, and it was removed.
	PushGone PushState = "gone"
	// PushRefused: the push service has refused the last push.
	PushRefused PushState = "refused"
	// PushUnreachable: the push service could not be reached for the last push, or was busy.
	PushUnreachable PushState = "unreachable"
)

var (
	getPushSpec = Spec{
		Name: "get_push", Scope: ScopeDevice, Grant: GrantView,
		New: func() Request { return new(GetPush) }, Reply: func() Response { return new(Push) },
	}
	setPushSpec = Spec{
		Name: "set_push", Scope: ScopeDevice, Grant: GrantAnswer, Mutates: true,
		New: func() Request { return new(SetPush) }, Reply: func() Response { return new(Push) },
	}
	deletePushSpec = Spec{
		Name: "delete_push", Scope: ScopeDevice, Grant: GrantView, Mutates: true,
		New: func() Request { return new(DeletePush) }, Reply: func() Response { return new(Done) },
	}
	notePushedSpec = Spec{
		Name: "note_pushed", Scope: ScopeDevice, Grant: GrantView,
		New: func() Request { return new(NotePushed) }, Reply: func() Response { return new(Done) },
	}
)
