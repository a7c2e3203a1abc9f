package completion

import (
	"scorel/internal/host/diagnostics"
	"scorel/internal/host/settings"
	"scorel/protocol"
)

// Accounts keeps what sessions have used.
type Accounts interface {
	// Account adds what a model has used to the sum of a session, when that is open.
	Account(id protocol.SessionID, model string, usage protocol.Usage)
}

// Asker asks models.
type Asker struct {
	settings *settings.Settings
	accounts Accounts
	log      *diagnostics.Log
	places   places
}

// New makes an asker.
func New(s *settings.Settings, accounts Accounts, log *diagnostics.Log) *Asker {
	return &Asker{settings: s, accounts: accounts, log: log, places: newPlaces()}
}
