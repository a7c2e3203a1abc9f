package protocol

// Requests about model servers that the catalogue does not have.
type (
	// ListServerModels returns which models a server has; the answer is a [ServerList]. With
	// a BaseURL that server is asked, with Key where there is one. Without, those addresses
	// of this device are asked, without a key, where servers of models usually are: this is
	// done only when a person asks for it.
	ListServerModels struct {
		BaseURL string `json:"baseUrl,omitempty" check:"max=MaxPath"`
		API     string `json:"api,omitempty" check:"max=MaxWord"` // a wire format, as in the configuration
		Key     string `json:"key,omitempty" check:"max=MaxSetting"`
	}
	// AddEndpoint tries models of a server, and keeps them once each has answered: in the
	// user's config.toml as aliases, and the key with the other keys, never in the
	// configuration. The answer is [EndpointAdded]; with a Problem nothing was kept.
	//
	// Models that the configuration has of the server already stay beside the new ones.
	//
	// Haiku, Sonnet and Opus become the models of the tiers of these names; a tier whose
	// model is "" stays as it is. Name is that of the first alias, "" for one after the
	// server's address.
	AddEndpoint struct {
		BaseURL string `json:"baseUrl" check:"required,max=MaxPath"`
		API     string `json:"api" check:"required,max=MaxWord"`
		Key     string `json:"key,omitempty" check:"max=MaxSetting"`
		Model   string `json:"model" check:"required,max=MaxModelRef"` // as the server calls it
		Haiku   string `json:"haiku,omitempty" check:"max=MaxModelRef"`
		Sonnet  string `json:"sonnet,omitempty" check:"max=MaxModelRef"`
		Opus    string `json:"opus,omitempty" check:"max=MaxModelRef"`
		Name    string `json:"name,omitempty" check:"max=MaxWord"`
	}
)

// What they are answered with.
type (
	// ServerList is the servers that answered. Problem says in one sentence why the server
	// that was named did not, "" when it did.
	ServerList struct {
		Servers []ModelServer `json:"servers"`
		Problem string        `json:"problem,omitempty"`
	}
	// ModelServer is a server with the ids of its models, at most 500.
	ModelServer struct {
		Name    string   `json:"name"` // such as Ollama, which usually has this address
		BaseURL string   `json:"baseUrl"`
		API     string   `json:"api"`
		Models  []string `json:"models"`
	}
	// EndpointAdded is what came of trying an endpoint. Ref is the alias of its model.
	// Problem says in one sentence why nothing was kept, and Code is auth_failed when the
	// key is missing or wrong. ContextWindow is that of the model, in tokens; WindowAssumed
	// says that the server did not tell it, so that it may be another one.
	EndpointAdded struct {
		Ref           string `json:"ref"`
		LatencyMS     int64  `json:"latencyMs"`
		ContextWindow int    `json:"contextWindow,omitempty"`
		WindowAssumed bool   `json:"windowAssumed,omitempty"`
		Problem       string `json:"problem,omitempty"`
		Code          Code   `json:"code,omitempty"`
	}
)

var (
	listServerModelsSpec = Spec{
		Name: "list_server_models", Scope: ScopeDevice, Grant: GrantControl,
		New: func() Request { return new(ListServerModels) }, Reply: func() Response { return new(ServerList) },
	}
	addEndpointSpec = Spec{
		Name: "add_endpoint", Scope: ScopeDevice, Grant: GrantControl, Mutates: true,
		New: func() Request { return new(AddEndpoint) }, Reply: func() Response { return new(EndpointAdded) },
	}
)
