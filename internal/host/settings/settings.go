package settings

import (
	"context"
	"io"
	"net/http"
	"time"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/engine/trust"
	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox"
)

// Config is what a host was started with. It does not change once the host serves.
type Config struct {
	// Dir is the folder of Scorel, ~/.scorel. UserHome is the user's home.
	Dir, UserHome string
	// StoreDir is where sessions and blobs are kept.
	StoreDir string
	// Ephemeral keeps nothing for the next host.
	Ephemeral bool
	FS        disk.FS
	// Environ is the environment that keys are looked up in and that children
	// get, less what is not theirs.
	Environ []string
	// Overrides are the caller's settings, above all files.
	Overrides Overrides
	// Unattended, Serving and Terminal are those of the host's Config.
	Unattended, Serving, Terminal bool
	// Version of Scorel, for the servers that pages are fetched from.
	Version string
	// Demo makes the demo model.
	Demo  func() (model.Model, error)
	HTTP  *http.Client // nil is the default
	Now   func() time.Time
	Rand  io.Reader
	Sleep func(ctx context.Context, d time.Duration) error
	// Silence is how long a model may say nothing; 0 is the runtime's default.
	Silence time.Duration
	// Confinement returns what this system can hold of the sandbox.
	Confinement func() sandbox.Status
	// Provided returns the models that extensions have registered; nil for none. It is set
	// before the host serves anybody.
	Provided func() map[string]resolve.Alias
	// Trust says which files of projects are trusted.
	Trust *trust.Store
}

// Settings reads settings.
type Settings struct{ Config }

// New makes settings.
func New(cfg Config) *Settings { return &Settings{cfg} }
