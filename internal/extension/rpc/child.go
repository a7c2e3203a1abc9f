package rpc

// ChildName is the argument that makes the binary the child which runs JavaScript
// extensions; the number of the inherited descriptor of the shared page follows it, if
// there is one: `scorel __extensions 3`.
const ChildName = "__extensions"

// EnvMemory is the variable that sets the heap limit of the child, in bytes; without it
// the limit is 512 MiB.
const EnvMemory = "SCOREL_EXTENSIONS_MEMORY"

// The error codes of JSON-RPC 2.0 that both sides use; ErrFailed stands for a handler,
// tool or call that failed, its data may be [ErrorData].
const (
	ErrParse   = -32700
	ErrRequest = -32600
	ErrMethod  = -32601
	ErrParams  = -32602
	ErrFailed  = -32000
	ErrGone    = -32001 // the extension is not loaded, or was ended while this ran
)

// ErrorData goes with an error.
type ErrorData struct {
	Stack string `json:"stack,omitempty"` // lines of the extension's own files
}
