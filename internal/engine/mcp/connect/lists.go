package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scorel/internal/text/promptsafe"
)

const (
	// maxArguments is how many arguments of a prompt count.
	maxArguments = 50
	// maxURI is how long the address of a resource may be, in bytes.
	maxURI = 4 << 10
	// readTime is how long a prompt or a resource may take.
	readTime = time.Minute
)

// Lists is what a server offers besides tools. The texts are cleaned and cut.
type Lists struct {
	Prompts   []Prompt   // sorted by name
	Resources []Resource // in the server's order, templates last
	Readable  bool       // it has resources, listed or not
}

// Prompt is a text that a server has, with places for arguments.
type Prompt struct {
	Name        string // mcp__server__prompt
	Own         string // its name at the server
	Title       string
	Description string
	Arguments   []Argument
}

// Hint returns how the arguments are typed after the name, "" for none.
func (p Prompt) Hint() string {
	var words []string
	for _, a := range p.Arguments {
		if a.Required {
			words = append(words, "<"+a.Name+">")
		} else {
			words = append(words, "["+a.Name+"]")
		}
	}
	return strings.Join(words, " ")
}

// Fit returns words to the arguments in their order; the last argument takes what is left.
// missing are the required ones without a word.
func (p Prompt) Fit(words []string) (values map[string]string, missing []string) {
	values = map[string]string{}
	for i, a := range p.Arguments {
		switch {
		case i >= len(words) && a.Required:
			missing = append(missing, a.Name)
		case i >= len(words):
		case i == len(p.Arguments)-1:
			values[a.Name] = strings.Join(words[i:], " ")
		default:
			values[a.Name] = words[i]
		}
	}
	return values, missing
}

// Argument is what a prompt wants to know.
type Argument struct {
	Name, Description string
	Required          bool
}

// Resource is something that a server lets others read.
type Resource struct {
	URI         string // with Template places in braces, as of RFC 6570
	Name, Title string
	Description string
	MediaType   string
	Size        int64 // bytes, 0 where it is not known
	Template    bool
}

// Lists reads what a server offers besides tools. The faults are sentences without a subject
// about what is left out, also about a list that cannot be read.
func (s *Server) Lists(ctx context.Context) (l Lists, faults []string) {
	caps := s.session.InitializeResult().Capabilities
	if caps == nil {
		return l, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	tell := func(what string, some []string, err error) {
		faults = append(faults, some...)
		if err != nil && ctx.Err() == nil {
			faults = append(faults, fmt.Sprintf("its %s are not known: %v", what, err))
		}
	}
	if caps.Prompts != nil {
		list, some, err := pages(ctx, s, "prompts", func(cursor string) ([]*mcp.Prompt, string, error) {
			got, err := s.session.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			s.lasts(ofOthers, got.TTLMs, cursor == "")
			return got.Prompts, got.NextCursor, nil
		})
		tell("prompts", append(s.malformed("prompts"), some...), err)
		var left []string
		l.Prompts, left = prompts(s.target.Name, list)
		faults = append(faults, left...)
	}
	if l.Readable = caps.Resources != nil; l.Readable {
		list, some, err := pages(ctx, s, "resources", func(cursor string) ([]*mcp.Resource, string, error) {
			got, err := s.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			s.lasts(ofOthers, got.TTLMs, cursor == "" && caps.Prompts == nil)
			return got.Resources, got.NextCursor, nil
		})
		tell("resources", append(s.malformed("resources"), some...), err)
		places, some, err := pages(ctx, s, "templates of resources", func(cursor string) ([]*mcp.ResourceTemplate, string, error) {
			got, err := s.session.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
			var answered *jsonrpc.Error
			if errors.As(err, &answered) && answered.Code == jsonrpc.CodeMethodNotFound {
				return nil, "", nil // servers without templates may say so
			}
			if err != nil {
				return nil, "", err
			}
			s.lasts(ofOthers, got.TTLMs, false)
			return got.ResourceTemplates, got.NextCursor, nil
		})
		tell("templates of resources", append(s.malformed("resourceTemplates"), some...), err)
		var left []string
		l.Resources, left = resources(list, places)
		faults = append(faults, left...)
	}
	return l, faults
}

// malformed returns which entries of a list were left out because they cannot be decoded. Those
// of a server with an address lose the list.
func (s *Server) malformed(list string) []string {
	if s.process == nil {
		return nil
	}
	return s.process.out.entries.take(list)
}

// minFresh and maxFresh bound how long a server may have its lists count.
const (
	minFresh = time.Minute
	maxFresh = 24 * time.Hour
)

// lasts notes how long a list counts, in milliseconds: the shortest time of those that are
// read together, first says that they are read again. 0 is until it changes.
func (s *Server) lasts(which, ms int, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settling[which].read = true
	if first {
		s.settling[which].fresh = 0
	}
	if ms <= 0 {
		return
	}
	d := min(max(time.Duration(min(ms, int(maxFresh/time.Millisecond)))*time.Millisecond, minFresh), maxFresh)
	if s.settling[which].fresh == 0 || d < s.settling[which].fresh {
		s.settling[which].fresh = d
	}
}

// Fresh returns how long the tools and the other lists count that were read last; 0 is until
// the server says that they have changed.
func (s *Server) Fresh() (tools, lists time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settling[ofTools].fresh, s.settling[ofOthers].fresh
}

// pages reads a list to its end, within the bounds of lists. Faults are about what is left out.
func pages[T any](ctx context.Context, s *Server, what string, page func(cursor string) ([]T, string, error)) (list []T, faults []string, err error) {
	type answer struct {
		list []T
		next string
	}
	seen := map[string]bool{}
	for cursor, n := "", 0; ; n++ {
		got, err := await(ctx, s.fuse, func() (answer, error) {
			list, next, err := page(cursor)
			return answer{list, next}, err
		})
		if err != nil {
			return nil, nil, s.failed(ctx, err, listTime)
		}
		list = append(list, got.list...)
		cursor = got.next
		switch {
		case cursor == "":
		case seen[cursor]:
			faults = append(faults, fmt.Sprintf("its list of %s comes back to a page that was read; what has come until then counts", what))
			cursor = ""
		case len(list) >= maxTools || n+1 >= maxPages:
			faults = append(faults, fmt.Sprintf("it has more than %d %s or %d pages of them; the rest is left out", maxTools, what, maxPages))
			cursor = ""
		}
		if cursor == "" {
			return list[:min(len(list), maxTools)], faults, nil
		}
		seen[cursor] = true
	}
}

// prompts makes the prompts of a list; the faults say which are left out and why.
func prompts(server string, list []*mcp.Prompt) (out []Prompt, faults []string) {
	list = slices.DeleteFunc(slices.Clone(list), func(p *mcp.Prompt) bool { return p == nil })
	slices.SortStableFunc(list, func(a, b *mcp.Prompt) int { return cmp.Compare(a.Name, b.Name) })
	taken := map[string]string{}
	for _, p := range list {
		made := Prompt{Name: ToolName(server, p.Name), Own: p.Name, Title: oneLine(p.Title), Description: cut(promptsafe.Clean(p.Description), maxDescription)}
		shown := cut(promptsafe.Clean(p.Name), 100)
		for _, a := range p.Arguments {
			if a != nil {
				made.Arguments = append(made.Arguments, Argument{Name: a.Name, Description: oneLine(a.Description), Required: a.Required})
			}
		}
		odd := slices.ContainsFunc(made.Arguments, func(a Argument) bool {
			return a.Name == "" || len(a.Name) > 100 || a.Name != oneLine(a.Name)
		})
		switch other, double := taken[made.Name]; {
		case p.Name == "" || !utf8.ValidString(p.Name) || len(p.Name) > 1024:
			faults = append(faults, fmt.Sprintf("its prompt %q is left out: its name is empty, too long or no UTF-8", shown))
		case double:
			faults = append(faults, fmt.Sprintf("its prompt %q is left out: it would be called %s, as %q is", shown, made.Name, other))
		case odd || len(made.Arguments) > maxArguments:
			faults = append(faults, fmt.Sprintf("its prompt %q is left out: its arguments have odd names, or are more than %d", shown, maxArguments))
		default:
			taken[made.Name] = shown
			out = append(out, made)
		}
	}
	return out, faults
}

// resources makes the resources of two lists.
func resources(list []*mcp.Resource, places []*mcp.ResourceTemplate) (out []Resource, faults []string) {
	add := func(r Resource, name, title, description, media string) {
		if why := wrongURI(r.URI, r.Template); why != "" {
			faults = append(faults, fmt.Sprintf("its resource %q is left out: %s", cut(promptsafe.Clean(r.URI), 200), why))
			return
		}
		r.Name, r.Title, r.Description, r.MediaType = oneLine(name), oneLine(title), cut(promptsafe.Clean(description), maxDescription), oneLine(media)
		out = append(out, r)
	}
	for _, r := range list {
		if r != nil {
			add(Resource{URI: r.URI, Size: max(0, r.Size)}, r.Name, r.Title, r.Description, r.MIMEType)
		}
	}
	for _, t := range places {
		if t != nil {
			add(Resource{URI: t.URITemplate, Template: true}, t.Name, t.Title, t.Description, t.MIMEType)
		}
	}
	return out, faults
}

// wrongURI says why an address cannot be one of a resource, "" when it can.
func wrongURI(uri string, template bool) string {
	if uri == "" || len(uri) > maxURI || uri != promptsafe.Clean(uri) || strings.ContainsAny(uri, " \t\r\n") {
		return "its address is empty, longer than 4 KiB, or has characters that no address has"
	}
	if u, err := url.Parse(uri); !template && (err != nil || u.Scheme == "") {
		return "its address has no scheme"
	}
	return ""
}

// CheckURI says what is wrong with an address of a resource, nil for nothing.
func CheckURI(uri string) error {
	if why := wrongURI(uri, false); why != "" {
		return errors.New(strings.Replace(why, "its address", "the uri", 1))
	}
	return nil
}

// Message is one of the messages that a prompt becomes.
type Message struct {
	Assistant bool // as if said by a model, not by a person
	Part      Part
}

// Prompt fills a prompt in. A server may ask people as in a call.
func (s *Server) Prompt(ctx context.Context, c Call, arguments map[string]string) ([]Message, error) {
	got, err := read(ctx, s, c, func(ctx context.Context) (*mcp.GetPromptResult, error) {
		return s.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: c.Tool, Arguments: arguments})
	})
	if err != nil {
		return nil, err
	}
	var out []Message
	images := 0
	for _, m := range got.Messages {
		if m != nil && m.Content != nil {
			var one Answer
			one.add(partOf(m.Content), &images)
			out = append(out, Message{m.Role == "assistant", one.Parts[0]})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the prompt has no text")
	}
	return out, nil
}

// Resource reads a resource, whose address is c.Tool.
func (s *Server) Resource(ctx context.Context, c Call) (*Answer, error) {
	got, err := read(ctx, s, c, func(ctx context.Context) (*mcp.ReadResourceResult, error) {
		return s.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: c.Tool})
	})
	if err != nil {
		return nil, err
	}
	a, images := &Answer{}, 0
	for _, r := range got.Contents {
		if r == nil {
			continue
		}
		if r.Blob == nil {
			a.Parts = append(a.Parts, Part{Text: promptsafe.Clean(r.Text)})
			continue
		}
		a.add(data(r.Blob, r.MIMEType, oneLine(r.URI), strings.HasPrefix(r.MIMEType, "image/")), &images)
	}
	return a, nil
}

// read makes a request that only reads. Its context finds c, for questions of the server.
func read[T any](ctx context.Context, s *Server, c Call, do func(context.Context) (T, error)) (T, error) {
	var none T
	if s.gone() {
		return none, ErrNotSent
	}
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	left := allow(readTime, longest*readTime, over)
	defer left.end()
	ctx, end := s.begin(ctx, c, left)
	defer end()
	got, err := asked(ctx, func() (T, error) { return await(ctx, s.fuse, func() (T, error) { return do(ctx) }) })
	switch why := context.Cause(ctx); {
	case err == nil:
		return got, nil
	case errors.Is(why, errQuiet) || errors.Is(why, errLong):
		return none, fmt.Errorf("it has not answered within %v", readTime)
	case ctx.Err() != nil:
		return none, ctx.Err()
	}
	err = s.failed(ctx, err, readTime)
	if errors.Is(err, ErrUnknownEffect) { // what reads has none
		return none, errors.New("the connection has ended")
	}
	return none, err
}
