package model

// API names a wire format.
type API string

// The wire formats.
const (
	APIOpenAI    API = "openai-completions"
	APIResponses API = "openai-responses"
	APIAnthropic API = "anthropic-messages"
	APIGoogle    API = "google-generative-ai"
	APIScript    API = "script" // plays recorded answers
	APIDemo      API = "demo"
)

// format is what is particular of a wire format, besides how it is written and read,
// which its adapter knows.
type format struct {
	api    API
	vendor string // whose own models are behind it, by its id in the catalogue
	images bool   // all models after it take images
	marks  bool   // it has cache marks
	// alternate: user and assistant messages must take turns. Google takes user contents
	// in a row, but a call only after a user's content or results, and so not after
	// another message of the assistant.
	alternate bool
	// Bounds of characters. Anthropic: ^[a-zA-Z0-9_-]{1,64}$ for tool_use.id. Chat
	// Completions: 40 for tool_calls[].id. Responses: 64 for input[].call_id ("Invalid
	// 'input[2].call_id': string too long. Expected a string with maximum length 64");
	// of the characters nothing is said, these are safe. Google names no bound for
	// functionCall.id; its own ids fit these. Names of tools in calls have 64 at OpenAI
	// ("Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern.
	// Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'"); the other vendors
	// take 128, and Google besides dots and colons.
	idLen, nameLen int
}

// formats are the wire formats of servers. Whoever adds one adds its adapter to package
// resolve.
var formats = [...]format{
	{api: APIOpenAI, vendor: "openai", idLen: 40, nameLen: 64},
	{api: APIResponses, vendor: "openai", idLen: 64, nameLen: 64},
	{api: APIAnthropic, vendor: "anthropic", images: true, marks: true, alternate: true, idLen: 64, nameLen: 128},
	{api: APIGoogle, vendor: "google", images: true, alternate: true, idLen: 64, nameLen: 128},
}

func (a API) format() format {
	for _, f := range formats {
		if f.api == a {
			return f
		}
	}
	return format{api: a, idLen: 64, nameLen: 128}
}

// APIs returns the wire formats of servers, which are those that a configuration may name.
func APIs() []API {
	var list []API
	for _, f := range formats {
		list = append(list, f.api)
	}
	return list
}

// Vendor is the provider whose own models are behind the API, by its id in the
// catalogue; "" for an API that no server has.
func (a API) Vendor() string { return a.format().vendor }

// SeesImages reports whether all models of the API take images.
func (a API) SeesImages() bool { return a.format().images }

// CacheMarks reports whether requests may carry cache marks.
func (a API) CacheMarks() bool { return a.format().marks }
