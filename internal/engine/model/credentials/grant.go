package credentials

import (
	"errors"
	"fmt"
	"time"

	"scorel/internal/platform/disk"
)

const (
	maxGrants     = 256
	maxGrantField = 16 << 10 // bytes
	maxScopes     = 256
)

// Grant is what a sign-in to a server has given: tokens, and what is needed to renew them.
type Grant struct {
	Issuer       string    `json:"issuer"`   // of the authorisation server
	Resource     string    `json:"resource"` // what the tokens are for
	TokenURL     string    `json:"tokenUrl"`
	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	AuthMethod   string    `json:"authMethod,omitempty"` // how the client names itself, as RFC 7591 calls it
	Scopes       []string  `json:"scopes,omitempty"`     // that were granted
	Wanted       []string  `json:"wanted,omitempty"`     // that the server has asked for since
	Access       string    `json:"access,omitempty"`
	Refresh      string    `json:"refresh,omitempty"`
	Granted      time.Time `json:"granted"`
	Expires      time.Time `json:"expires,omitzero"` // of Access; zero where nobody said
}

// Format writes nothing of a grant, whatever the verb.
func (g Grant) Format(s fmt.State, _ rune) { fmt.Fprint(s, "a grant") }

// valid reports whether this package would have written the grant.
func (g Grant) valid() bool {
	for _, text := range append([]string{g.Issuer, g.Resource, g.TokenURL, g.ClientID, g.ClientSecret, g.AuthMethod, g.Refresh}, append(g.Scopes, g.Wanted...)...) {
		if len(text) > maxGrantField {
			return false
		}
	}
	return len(g.Scopes)+len(g.Wanted) <= maxScopes && (g.Access == "" || CheckToken(g.Access) == nil)
}

// CheckToken returns why a text cannot be an access token, which goes into a header as it
// is. The error quotes nothing.
func CheckToken(token string) error {
	if token == "" || len(token) > maxGrantField {
		return fmt.Errorf("a token has 1 to %d characters", maxGrantField)
	}
	for i := range len(token) {
		if c := token[i]; c <= ' ' || c > '~' {
			return errors.New("a token has printable ASCII characters only, without spaces")
		}
	}
	return nil
}

// Grant returns what was given for a name of [SetGrant].
func (k Keys) Grant(name string) (Grant, bool) {
	g, ok := k.grants[name]
	return g, ok
}

// SetGrant keeps a grant under a name in the file, or forgets it when change returns nil.
// change gets the one that is there, nil for none, and is called under the file's lock. An
// error of it is returned, and nothing is changed.
func SetGrant(fsys disk.FS, file, name string, change func(*Grant) (*Grant, error)) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("the name of a grant has 1 to %d bytes", maxName)
	}
	return update(fsys, file, func(f *contents) error {
		var old *Grant
		if g, ok := f.Grants[name]; ok {
			old = &g
		}
		g, err := change(old)
		switch {
		case err != nil:
			return err
		case g == nil:
			delete(f.Grants, name)
			return nil
		case !g.valid():
			return errors.New("what the sign-in gave is longer than is kept")
		}
		if f.Grants == nil {
			f.Grants = map[string]Grant{}
		}
		if f.Grants[name] = *g; len(f.Grants) > maxGrants {
			return fmt.Errorf("there are %d sign-ins to servers already; forget one that is not needed", maxGrants)
		}
		return nil
	})
}
