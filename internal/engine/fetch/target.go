package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxURL bounds a URL in bytes.
const maxURL = 4096

// Target is a URL that was judged by its text: what may be fetched once the host
// is permitted and the address it leads to is public. The zero value is none.
type Target struct {
	u     *url.URL // normal form: lower case, ASCII, no user, no fragment
	name  string   // the host without port and brackets
	addr  netip.Addr
	port  uint16
	local bool
}

// ParseTarget judges the text of a URL. It takes http and https, and makes plain
// http on its usual port https. The error is a sentence for the model, with no
// more of the URL than its host: credentials in it, another scheme, a host that
// is not a name and no address in its ordinary form, an address that is not public.
func ParseTarget(raw string) (Target, error) {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxURL {
		return Target{}, fmt.Errorf("the URL is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' || r == 0xfffd }) {
		return Target{}, errors.New("this is not a valid URL; write it as https://example.com/path, with spaces and other special characters percent-encoded")
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
	case "":
		return Target{}, errors.New("the URL has no scheme; begin it with https://")
	default:
		return Target{}, errors.New("only http and https URLs can be fetched")
	}
	switch {
	case u.User != nil || strings.Contains(u.Host, "@"):
		return Target{}, errors.New("a URL with a user name or a password in it is not fetched; leave them out")
	case u.Opaque != "" || u.Hostname() == "":
		return Target{}, errors.New("the URL names no host; write it as https://example.com/path")
	}
	t := Target{}
	if err := t.setHost(u.Hostname(), strings.HasPrefix(u.Host, "[")); err != nil {
		return Target{}, err
	}
	if err := t.setPort(u); err != nil {
		return Target{}, err
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme == "http" && !t.local && usual(t.port) {
		scheme, t.port = "https", 443
	}
	host := t.Host()
	if usual(t.port) && t.port != defaultPort(scheme) {
		host = net.JoinHostPort(t.name, strconv.Itoa(int(t.port)))
	} else if t.addr.Is6() && usual(t.port) {
		host = "[" + t.name + "]"
	}
	t.u = &url.URL{Scheme: scheme, Host: host, Path: u.Path, RawPath: u.RawPath, RawQuery: escapeQuery(u.RawQuery)}
	if t.u.Path == "" {
		t.u.Path = "/"
	}
	return t, nil
}

// escapeQuery percent-encodes what WHATWG URL does in a query.
func escapeQuery(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func usual(port uint16) bool { return port == 80 || port == 443 }

func defaultPort(scheme string) uint16 {
	if scheme == "http" {
		return 80
	}
	return 443
}

// setHost judges a host and writes it in normal form.
func (t *Target) setHost(host string, brackets bool) error {
	if brackets {
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return errors.New("the address in the URL is not valid; an IPv6 address is in brackets and without a zone")
		}
		return t.setAddr(addr.Unmap())
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		// Lookup refuses underscores, which some hosts have.
		name = host
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if !plainName(name) {
		return errors.New("the host in the URL is not a valid name")
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last[0] >= '0' && last[0] <= '9' {
		// A name cannot end in a number (WHATWG URL, "ends in a number"): what
		// does is an IPv4 address, and only its ordinary form is the same to all.
		addr, err := netip.ParseAddr(name)
		if err != nil {
			return errors.New("the address in the URL is not in its ordinary form; write four decimal numbers, as in 192.0.2.1")
		}
		return t.setAddr(addr)
	}
	t.name = name
	t.local = name == "localhost" || strings.HasSuffix(name, ".localhost") // RFC 6761
	if !t.local && !strings.Contains(name, ".") {
		return fmt.Errorf("%s is not a public name; write the whole name, as in example.com", name)
	}
	return nil
}

// plainName reports whether a lower-case name has the form of a host name.
func plainName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	label := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' && label > 0:
			label = 0
			continue
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
		if label++; label > 63 {
			return false
		}
	}
	return label > 0
}

func (t *Target) setAddr(a netip.Addr) error {
	t.addr, t.name, t.local = a, a.String(), a.IsLoopback()
	if why := refusal(a); why != "" && !t.local {
		return fmt.Errorf("%s is not fetched: it is %s", t.name, why)
	}
	return nil
}

func (t *Target) setPort(u *url.URL) error {
	t.port = defaultPort(strings.ToLower(u.Scheme))
	text := u.Port()
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return errors.New("the port in the URL is not a number from 1 to 65535")
	}
	t.port = uint16(n)
	return nil
}

// Host returns the host as permission rules compare it: lower case, international
// names in their ASCII form, with the port when it is not 80 or 443.
func (t Target) Host() string {
	if usual(t.port) {
		return t.name
	}
	return net.JoinHostPort(t.name, strconv.Itoa(int(t.port)))
}

// Exact reports that only a permission that names [Target.Host] itself is enough:
// the target is this machine, or a port other than 80 and 443.
func (t Target) Exact() bool { return t.local || !usual(t.port) }

// Local reports whether the target is this machine.
func (t Target) Local() bool { return t.local }

// String returns the URL in normal form, which is what is fetched.
func (t Target) String() string { return t.u.String() }

// resolve judges a reference as it is in a redirect of t.
func (t Target) resolve(location string) (Target, error) {
	ref, err := url.Parse(location)
	if err != nil {
		return Target{}, errors.New("this is not a valid URL")
	}
	next, err := ParseTarget(t.u.ResolveReference(ref).String())
	if err == nil && next.local && !t.local {
		return Target{}, fmt.Errorf("%s is this machine, and a page from outside does not lead there", next.Host())
	}
	return next, err
}
