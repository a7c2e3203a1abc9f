package protocol

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"
)

// Identifiers are a prefix and lower-case base32 (RFC 4648 extended hex
// alphabet, which sorts as the bytes do). They are random and stable: never
// counters, never derived from a path or a title.
type (
	// SessionID is "ses_" and 26 characters: 48 bits of milliseconds, then 82
	// random bits, so that ids sort by the time of creation.
	SessionID string
	// EventID is "evt_" and 16 characters, 80 random bits.
	EventID string
	// ProjectID is "prj_" and 16 characters, 80 random bits.
	ProjectID string
	// TurnID is "trn_" and 16 characters, 80 random bits.
	TurnID string
	// PermissionID is "prm_" and 16 characters, 80 random bits.
	PermissionID string
	// ItemID names one queued message: "itm_" and 16 characters.
	ItemID string
	// RequestID is "req_" and 26 characters, 128 random bits and two zero bits.
	RequestID string
	// Epoch is "epo_" and 16 characters: one load of one session by one host.
	Epoch string
	// DeviceID is "dev_" and the first 26 characters of the base32 of the
	// SHA-256 of the device's public key.
	DeviceID string
	// ClientID is "cli_" and as DeviceID, of the entry's key; or [HostClient].
	ClientID string
	// ScheduleID is "sch_" and 16 characters, 80 bits that the request decides that made it.
	ScheduleID string
	// RunID names one run of a schedule: "run_" and 16 characters, 80 bits that its schedule
	// and the instant that it is for, or the request that asked for it, decide, so that none
	// has two.
	RunID string
	// PairingID is "par_" and 16 characters, 80 random bits: the part of a code that is
	// not secret.
	PairingID string
)

// HostClient is the clientId of what the host itself produced. No client may
// announce itself by this name.
const HostClient ClientID = "host"

// Seq numbers the events of a session from 1, persistent and transient
// together, strictly increasing, with gaps in the log.
type Seq uint64

const (
	shortID = 16 // characters after the prefix of 80-bit ids
	longID  = 26 // characters after the prefix of session, request, device and client ids
)

var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

func randomID(prefix string, rand io.Reader, bytes int) string {
	raw := make([]byte, bytes)
	if _, err := io.ReadFull(rand, raw); err != nil {
		panic("protocol: the random source failed: " + err.Error()) // crypto/rand never does
	}
	return prefix + idEncoding.EncodeToString(raw)
}

// NewSessionID draws an id for a session created at now.
func NewSessionID(now time.Time, rand io.Reader) SessionID {
	raw := make([]byte, 17)
	if _, err := io.ReadFull(rand, raw[6:]); err != nil {
		panic("protocol: the random source failed: " + err.Error())
	}
	ms := uint64(now.UnixMilli())
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], ms)
	copy(raw, t[2:])
	return SessionID("ses_" + idEncoding.EncodeToString(raw)[:longID])
}

// NewEventID, NewProjectID, NewTurnID, NewPermissionID, NewItemID, NewEpoch and
// NewRequestID draw an id from rand.
func NewEventID(rand io.Reader) EventID           { return EventID(randomID("evt_", rand, 10)) }
func NewProjectID(rand io.Reader) ProjectID       { return ProjectID(randomID("prj_", rand, 10)) }
func NewTurnID(rand io.Reader) TurnID             { return TurnID(randomID("trn_", rand, 10)) }
func NewPermissionID(rand io.Reader) PermissionID { return PermissionID(randomID("prm_", rand, 10)) }
func NewItemID(rand io.Reader) ItemID             { return ItemID(randomID("itm_", rand, 10)) }
func NewEpoch(rand io.Reader) Epoch               { return Epoch(randomID("epo_", rand, 10)) }
func NewRequestID(rand io.Reader) RequestID       { return RequestID(randomID("req_", rand, 16)) }

// RunIDOf derives the id of the run of a schedule that is for an instant, in milliseconds
// since the epoch.
func RunIDOf(schedule ScheduleID, instant int64) RunID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", schedule, instant))
	return RunID("run_" + idEncoding.EncodeToString(sum[:10]))
}

// ManualRunIDOf derives the id of the run of a schedule that a request asks for.
func ManualRunIDOf(schedule ScheduleID, client ClientID, request RequestID) RunID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", schedule, client, request))
	return RunID("run_" + idEncoding.EncodeToString(sum[:10]))
}

// ScheduleIDOf derives the id of the schedule that a request makes, so that a request which is
// repeated makes no other.
func ScheduleIDOf(client ClientID, request RequestID) ScheduleID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", client, request))
	return ScheduleID("sch_" + idEncoding.EncodeToString(sum[:10]))
}

// HeartbeatIDOf derives the id of the schedule of a task of the project at root.
func HeartbeatIDOf(root, task string) ScheduleID {
	sum := sha256.Sum256(fmt.Appendf(nil, "heartbeat %d %s%s", len(root), root, task))
	return ScheduleID("sch_" + idEncoding.EncodeToString(sum[:10]))
}

// RequestIDOf derives the id of the request that a run sends its message with.
func RequestIDOf(run RunID) RequestID {
	sum := sha256.Sum256([]byte(run))
	return RequestID("req_" + idEncoding.EncodeToString(sum[:16]))
}

// DeviceIDOf and ClientIDOf derive the id that belongs to a public key.
func DeviceIDOf(publicKey []byte) DeviceID { return DeviceID("dev_" + keyID(publicKey)) }
func ClientIDOf(publicKey []byte) ClientID { return ClientID("cli_" + keyID(publicKey)) }

func keyID(publicKey []byte) string {
	sum := sha256.Sum256(publicKey)
	return idEncoding.EncodeToString(sum[:])[:longID]
}

func checkID(id, prefix string, length int) error {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) != length {
		return fmt.Errorf("%q is not an id of the form %s and %d characters", clip(id), prefix, length)
	}
	for i := 0; i < len(rest); i++ {
		if c := rest[i]; (c < '0' || c > '9') && (c < 'a' || c > 'v') {
			return fmt.Errorf("%q is not an id: it contains %q", clip(id), string(c))
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

// Check reports whether the id has the form of its kind. A session id that passes
// is safe as a file name.
func (id SessionID) Check() error { return checkID(string(id), "ses_", longID) }

// Check reports whether the id has the form of its kind.
func (id EventID) Check() error { return checkID(string(id), "evt_", shortID) }

// Check reports whether the id has the form of its kind.
func (id ProjectID) Check() error { return checkID(string(id), "prj_", shortID) }

// Check reports whether the id has the form of its kind.
func (id RequestID) Check() error { return checkID(string(id), "req_", longID) }

// Check reports whether the id has the form of its kind.
func (id ScheduleID) Check() error { return checkID(string(id), "sch_", shortID) }

// Check reports whether the id has the form of its kind.
func (id PairingID) Check() error { return checkID(string(id), "par_", shortID) }

// Check reports whether the id has the form of its kind.
func (id RunID) Check() error { return checkID(string(id), "run_", shortID) }

// Check reports whether the id has the form of its kind, or is [HostClient].
func (id ClientID) Check() error {
	if id == HostClient {
		return nil
	}
	return checkID(string(id), "cli_", longID)
}

// Time returns the moment of creation that is part of the id, or the zero time
// for an id of another form.
func (id SessionID) Time() time.Time {
	if id.Check() != nil {
		return time.Time{}
	}
	raw, err := idEncoding.DecodeString(string(id[4:20])) // 16 characters, 10 bytes
	if err != nil {
		return time.Time{}
	}
	var t [8]byte
	copy(t[2:], raw[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(t[:])))
}
