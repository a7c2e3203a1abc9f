package model

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"scorel/protocol"
)

// Model is one language model, reached through one API.
type Model interface {
	Info() Info
	// Stream sends the request and yields what comes back. The last delta of a
	// complete answer is a [Done]; an answer without one ends with an error. After
	// an error nothing more is yielded. Errors are *Error, or those of ctx.
	// A consumer that stops early ends the request; when the iterator has
	// returned, no goroutine of the call is left.
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}

// Info returns what a model is and can do.
type Info struct {
	Ref           string // as the user writes it: "provider/id" or an alias
	Provider      string
	ID            string
	API           API
	BaseURL       string
	ContextWindow int // tokens
	MaxTokens     int // the most output tokens of one answer
	Images        bool
	MaxImageBytes int             // of one image as it is sent, in base64; 0: no limit known
	PDF           bool            // reads PDF documents
	Thinking      []ThinkingLevel // the levels it accepts besides off, rising; empty: none
	Cache         bool            // takes cache marks
	Price         Price
	PriceKnown    bool // though it is zero
	Compat        Compat
}

// Priced reports whether it is known what the model costs.
func (i Info) Priced() bool { return i.PriceKnown || i.Price != Price{} }

// Level returns the level that the model accepts and that is nearest to want: the
// same, else the next one below, else the lowest. It is off for a model without
// levels.
func (i Info) Level(want ThinkingLevel) ThinkingLevel {
	if want == "" || want == ThinkingOff || len(i.Thinking) == 0 {
		return ThinkingOff
	}
	best := i.Thinking[0]
	for _, l := range i.Thinking {
		if l.rank() <= want.rank() {
			best = l
		}
	}
	return best
}

// Compat returns where a model's server differs from the vendor whose wire format
// it speaks. The zero value is that vendor itself.
type Compat struct {
	// MaxTokensField is the name of the output limit in Chat Completions:
	// "max_completion_tokens" (also when empty) or "max_tokens".
	MaxTokensField string `json:"maxTokensField,omitempty"`
	// ThinkingFormat is how Chat Completions takes the level: "" or "openai"
	// (reasoning_effort), "none", "openrouter", "deepseek", "zai", "qwen",
	// "together", "ant-ling".
	ThinkingFormat string `json:"thinkingFormat,omitempty"`
	// NoEffort: the server has no graded reasoning_effort.
	NoEffort bool `json:"noEffort,omitempty"`
	// NoEffortWithTools: a request with tools must carry the off value.
	NoEffortWithTools bool `json:"noEffortWithTools,omitempty"`
	// Levels returns the server's words for thinking levels, where they differ; the
	// empty word says that off cannot be chosen.
	Levels map[ThinkingLevel]string `json:"levels,omitempty"`
	// Adaptive: the Anthropic model chooses its thinking budget by effort.
	Adaptive bool `json:"adaptive,omitempty"`
	// BlockBinding: signed thinking is bound to the prefix it was made after, and
	// the server is asked to drop what does not fit instead of refusing it.
	BlockBinding bool `json:"blockBinding,omitempty"`
	// ReasoningContent: thinking of the same model goes back as reasoning_content.
	ReasoningContent bool `json:"reasoningContent,omitempty"`
	// Alternate: user and assistant messages must alternate.
	Alternate bool `json:"alternate,omitempty"`
	// NoToolMarks: the server takes no cache marks on tools.
	NoToolMarks bool `json:"noToolMarks,omitempty"`
}

// Price is in US dollars per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// Cost is what u costs.
func (p Price) Cost(u protocol.Usage) float64 {
	const million = 1e6
	return (float64(u.InputTokens)*p.Input + float64(u.OutputTokens)*p.Output +
		float64(u.CacheReadTokens)*p.CacheRead + float64(u.CacheWriteTokens)*p.CacheWrite) / million
}

// ThinkingLevel returns how much a model thinks before it answers.
type ThinkingLevel string

// The levels.
const (
	ThinkingOff     ThinkingLevel = "off"
	ThinkingMinimal ThinkingLevel = "minimal"
	ThinkingLow     ThinkingLevel = "low"
	ThinkingMedium  ThinkingLevel = "medium"
	ThinkingHigh    ThinkingLevel = "high"
	ThinkingXHigh   ThinkingLevel = "xhigh"
	ThinkingMax     ThinkingLevel = "max"
)

// ThinkingLevels returns all levels, rising, off first.
func ThinkingLevels() []ThinkingLevel {
	words := protocol.ThinkingLevels()
	levels := make([]ThinkingLevel, len(words))
	for i, w := range words {
		levels[i] = ThinkingLevel(w)
	}
	return levels
}

// Valid reports whether the level is one of those above.
func (l ThinkingLevel) Valid() bool { return l == ThinkingOff || l.rank() > 0 }

func (l ThinkingLevel) rank() int {
	return max(0, slices.Index(protocol.ThinkingLevels(), string(l)))
}

// Kind returns what a request is for.
type Kind string

// The kinds of requests.
const (
	KindStep    Kind = "step"    // a step of a turn
	KindCompact Kind = "compact" // a summary for compaction
)

// Request is one call of a model. Messages are already paired and repaired
// (every call has its result directly after its message); [Fit] is applied by
// the adapter. Nothing in a request is changed by the callee.
type Request struct {
	Kind      Kind
	System    string
	Messages  []protocol.Message
	Tools     []ToolSpec // sorted by name
	MaxTokens int        // 0: the model's default
	Thinking  ThinkingLevel
	SessionID protocol.SessionID // for cache routing where a vendor has it
	// Blob reads a payload that a block names; at most 32 MiB.
	Blob func(ctx context.Context, sha256 string) ([]byte, error)
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the input, an object
}

// Delta is one piece of a streamed answer: a [BlockStart], [TextDelta],
// [ThinkingDelta], [CallDelta], [BlockEnd] or [Done].
type Delta interface{ delta() }

// BlockStart opens block Index (counted from 0 without gaps).
type BlockStart struct {
	Index  int
	Type   protocol.BlockType
	CallID string // of a tool_use block
	Name   string // of a tool_use block
}

// TextDelta adds text to block Index.
type TextDelta struct {
	Index int
	Text  string
}

// ThinkingDelta adds thinking to block Index.
type ThinkingDelta struct {
	Index int
	Text  string
}

// CallDelta adds JSON text to the input of the call in block Index.
type CallDelta struct {
	Index int
	JSON  string
}

// BlockEnd closes block Index; Block is the whole of it, with signature and
// provider data. The input of a call is what the model sent: it may be invalid
// JSON only if Invalid is set, and then Block.Input is "{}" and Raw the text.
type BlockEnd struct {
	Index   int
	Block   protocol.Block
	Invalid bool
	Raw     string
}

// CallEnd makes the BlockEnd of a call whose input came as text. An empty input
// is an empty object; what is not a JSON object is invalid. What stands for no
// character in it, bytes that are not UTF-8 and halves of surrogate pairs, becomes
// U+FFFD: vendors refuse a conversation that has it, and so every later request.
func CallEnd(index int, id, name, input string) BlockEnd {
	input = wellFormed(input)
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	end := BlockEnd{Index: index, Block: protocol.ToolUse(id, name, json.RawMessage(input))}
	if !isObject([]byte(input)) {
		end.Block.Input, end.Invalid, end.Raw = json.RawMessage("{}"), true, input
	}
	return end
}

// Done is the end event of a complete answer.
type Done struct {
	StopReason protocol.StopReason // end_turn, tool_use, max_tokens or refusal
	Usage      protocol.Usage      // CostUSD set from the price
	// Unlisted is the server's word for why the answer ended, where its vendor's list has
	// none of it and what came is complete; "" for the usual ends.
	Unlisted string
}

func (BlockStart) delta()    {}
func (TextDelta) delta()     {}
func (ThinkingDelta) delta() {}
func (CallDelta) delta()     {}
func (BlockEnd) delta()      {}
func (Done) delta()          {}

// Class returns what can be done about a failure.
type Class string

// The classes of failures.
const (
	ClassTransient  Class = "transient"  // 408, 409, 429, 5xx, network, a cut or silent stream: try again
	ClassOverloaded Class = "overloaded" // 529 and overloaded_error: try again, perhaps elsewhere
	ClassAuth       Class = "auth"       // 401, 403: no key or a wrong one
	ClassTooLong    Class = "too_long"   // the prompt does not fit the window
	ClassInvalid    Class = "invalid"    // any other refusal of the request: 400, 404, 422
)

// Error is a failed call.
type Error struct {
	Class      Class
	Status     int           // HTTP status, 0 without one
	RetryAfter time.Duration // what the server asked for, 0 without
	Message    string        // one sentence for a person, without secrets
	Said       string        // what the server said of it, "" where that is not known
	Err        error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }
