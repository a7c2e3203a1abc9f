package protocol

// Requests about models and their keys.
type (
	// ListModels returns the models whose names contain every word of Query; the
	// answer is a [ModelList].
	ListModels struct {
		Query string `json:"query,omitempty" check:"max=MaxQuery"`
	}
	// TestModel asks a model, the configured one when Model is empty, once for a
	// word; the answer is [ModelTest].
	TestModel struct {
		Model string `json:"model,omitempty" check:"max=MaxModelRef"`
	}
	// SetCredential keeps the key of a model provider, or forgets it when Key is
	// empty; that there is none to forget is an error. What a provider is called is before the slash in list_models; an
	// alias with a server of its own has a key of its own. A key is printable ASCII
	// without spaces, at most 4 KiB.
	SetCredential struct {
		Provider string `json:"provider" check:"required,max=MaxName"`
		Key      string `json:"key" check:"max=MaxSetting"`
	}
)

// What they are answered with.
type (
	// ModelList is the models that can be named: aliases first, then those with a
	// key.
	ModelList struct {
		Models []ModelInfo `json:"models"`
	}
	// ModelInfo describes a model that can be named. ContextWindow and MaxTokens
	// are in tokens; HasKey says that it can be called as things stand. ThinkingLevels
	// are those that it knows, the least first; Price is nil where it is not known.
	ModelInfo struct {
		Ref           string `json:"ref"`
		API           string `json:"api"`
		ContextWindow int    `json:"contextWindow"`
		MaxTokens     int    `json:"maxTokens,omitempty"`
		Images        bool   `json:"images,omitempty"`
		Thinking      bool   `json:"thinking,omitempty"`
		HasKey        bool   `json:"hasKey"`

		ThinkingLevels []string    `json:"thinkingLevels,omitempty"`
		Price          *ModelPrice `json:"price,omitempty"`
	}
	// ModelPrice is in US dollars per million tokens.
	ModelPrice struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead,omitempty"`
		CacheWrite float64 `json:"cacheWrite,omitempty"`
	}
	// ModelTest is what came of asking a model for a word. LatencyMS is the time to
	// the first piece of the answer. Problem says in one sentence why it failed, ""
	// when it did not, and Code is auth_failed when the key is missing or wrong.
	ModelTest struct {
		Ref       string `json:"ref"`
		LatencyMS int64  `json:"latencyMs"`
		Problem   string `json:"problem,omitempty"`
		Code      Code   `json:"code,omitempty"`
	}
)

var (
	listModelsSpec = Spec{
		Name: "list_models", Scope: ScopeDevice, Grant: GrantView,
		New: func() Request { return new(ListModels) }, Reply: func() Response { return new(ModelList) },
	}
	testModelSpec = Spec{
		Name: "test_model", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(TestModel) }, Reply: func() Response { return new(ModelTest) },
	}
	setCredentialSpec = Spec{
		Name: "set_credential", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(SetCredential) }, Reply: func() Response { return new(Done) },
	}
)
