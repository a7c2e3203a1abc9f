// Package weburl parses URLs as browsers and Node do: the algorithm of the WHATWG's URL
// Standard (https://url.spec.whatwg.org, as of 2025), written from its text. It differs
// from net/url where that keeps what was written: backslashes, dots, default ports and
// upper-case hosts are made canonical, and what is not allowed is percent-encoded. All
// functions are pure.
package weburl

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// URL is a parsed URL. The parts are as its serialisation has them.
type URL struct {
	Scheme             string // without the colon
	Username, Password string
	Host               string // "" with HasHost: an empty one
	HasHost            bool
	Port               string // "" for the default
	Path               string // with its leading slash, or opaque
	Opaque             bool   // Path is no list of segments, as in mailto:
	Query, Fragment    *string
}

// ErrInvalid is every failure.
var ErrInvalid = errors.New("invalid URL")

func defaultPort(scheme string) (port string, special bool) {
	switch scheme {
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "ftp":
		return "21", true
	case "file":
		return "", true
	}
	return "", false
}

// Special says whether a scheme is one whose URLs have hosts.
func Special(scheme string) bool { _, s := defaultPort(scheme); return s }

func clean(s string) string {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
}

func schemeOf(s string) (scheme, rest string, ok bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(s[:i]), s[i+1:], true
		default:
			return "", s, false
		}
	}
	return "", s, false
}

// Parse parses a URL; base may be nil.
func Parse(input string, base *URL) (*URL, error) {
	s := clean(strings.ToValidUTF8(input, "\ufffd"))
	u := &URL{}
	scheme, rest, ok := schemeOf(s)
	if ok {
		u.Scheme = scheme
	} else {
		if base == nil {
			return nil, ErrInvalid
		}
		if base.Opaque {
			if !strings.HasPrefix(s, "#") {
				return nil, ErrInvalid
			}
			*u = *base
			u.SetFragment(s[1:])
			return u, nil
		}
		u.Scheme = base.Scheme
	}
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		u.SetFragment(rest[i+1:])
		rest = rest[:i]
	}
	var query *string
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		q := rest[i+1:]
		query, rest = &q, rest[:i]
	}
	special := Special(u.Scheme)
	if special {
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	sameBase := base != nil && !base.Opaque && base.Scheme == u.Scheme
	relative := !ok || special && sameBase && !strings.HasPrefix(rest, "/") || u.Scheme == "file" && sameBase && !strings.HasPrefix(rest, "//")
	var err error
	switch {
	case relative && !(ok && u.Scheme == "file" && !sameBase):
		err = u.relative(rest, query, base)
		query = nil
	case u.Scheme == "file":
		if host, found := strings.CutPrefix(rest, "//"); found {
			err = u.authority(host)
		} else {
			u.HasHost = true
			u.SetPath(rest)
		}
	case special:
		err = u.authority(strings.TrimLeft(rest, "/"))
	case strings.HasPrefix(rest, "//"):
		err = u.authority(rest[2:])
	case strings.HasPrefix(rest, "/"):
		u.SetPath(rest)
	default:
		u.Opaque, u.Path = true, escape(rest, opaqueSet)
	}
	if err != nil {
		return nil, err
	}
	if query != nil {
		u.SetQuery(*query)
	}
	return u, nil
}

// relative resolves what has no scheme of its own.
func (u *URL) relative(rest string, query *string, base *URL) error {
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		if err := u.authority(host); err != nil {
			return err
		}
		if query != nil {
			u.SetQuery(*query)
		}
		return nil
	}
	u.Username, u.Password, u.Host, u.HasHost, u.Port = base.Username, base.Password, base.Host, base.HasHost, base.Port
	switch {
	case strings.HasPrefix(rest, "/"):
		u.SetPath(rest)
	case rest == "":
		u.Path = base.Path
		if query == nil {
			u.Query = base.Query
		}
	default:
		u.SetPath(base.Path[:strings.LastIndexByte(base.Path, '/')+1] + rest)
	}
	if query != nil {
		u.SetQuery(*query)
	}
	return nil
}

// authority takes user:password@host:port and the path behind it.
func (u *URL) authority(s string) error {
	end := strings.IndexByte(s, '/')
	path := ""
	if end >= 0 {
		s, path = s[:end], s[end:]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		if u.Scheme == "file" {
			return ErrInvalid
		}
		name, password, _ := strings.Cut(s[:i], ":")
		u.Username, u.Password = escape(name, userSet), escape(password, userSet)
		s = s[i+1:]
		if s == "" {
			return ErrInvalid
		}
	}
	if err := u.SetHost(s); err != nil {
		return err
	}
	u.SetPath(path)
	return nil
}

// SetHost takes host:port.
func (u *URL) SetHost(s string) error {
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") && u.Scheme != "file" {
		host, port = s[:i], s[i+1:]
		if host == "" {
			return ErrInvalid
		}
	}
	h, err := parseHost(host, Special(u.Scheme))
	if err != nil {
		return err
	}
	if u.Scheme == "file" && h == "localhost" {
		h = ""
	}
	if h == "" && Special(u.Scheme) && u.Scheme != "file" {
		return ErrInvalid
	}
	if port != "" {
		if err := u.SetPort(port); err != nil {
			return err
		}
	} else if s != host {
		u.Port = ""
	}
	u.Host, u.HasHost = h, true
	return nil
}

// SetPort takes a number; "" and the scheme's own are none.
func (u *URL) SetPort(s string) error {
	if s == "" {
		u.Port = ""
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return ErrInvalid
	}
	u.Port = strconv.Itoa(int(n))
	if d, _ := defaultPort(u.Scheme); d == u.Port {
		u.Port = ""
	}
	return nil
}

// SetPath takes a path: dots are resolved.
func (u *URL) SetPath(s string) {
	special := Special(u.Scheme)
	if special {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	if s == "" && !special {
		u.Path = ""
		return
	}
	s = strings.TrimPrefix(s, "/")
	segments := strings.Split(s, "/")
	out := make([]string, 0, len(segments))
	for i, seg := range segments {
		last := i == len(segments)-1
		switch dots(seg) {
		case 1:
			if last {
				out = append(out, "")
			}
		case 2:
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, escape(seg, pathSet))
		}
	}
	u.Path = "/" + strings.Join(out, "/")
}

func dots(seg string) int {
	if len(seg) > 6 {
		return 0
	}
	switch strings.ReplaceAll(strings.ToLower(seg), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}

// SetQuery takes what stands behind the question mark.
func (u *URL) SetQuery(s string) {
	set := querySet
	if Special(u.Scheme) {
		set = specialQuerySet
	}
	q := escape(s, set)
	u.Query = &q
}

// SetFragment takes what stands behind the hash.
func (u *URL) SetFragment(s string) {
	f := escape(s, fragmentSet)
	u.Fragment = &f
}

// SetUser takes a name and a password as they are meant.
func (u *URL) SetUser(name, password string) {
	u.Username, u.Password = escape(name, userSet), escape(password, userSet)
}

// HostPort is host:port.
func (u *URL) HostPort() string {
	if u.Port == "" {
		return u.Host
	}
	return u.Host + ":" + u.Port
}

// Origin is scheme and host, or null.
func (u *URL) Origin() string {
	if !Special(u.Scheme) || u.Scheme == "file" {
		return "null"
	}
	return u.Scheme + "://" + u.HostPort()
}

// String is the URL.
func (u *URL) String() string {
	var b strings.Builder
	b.WriteString(u.Scheme)
	b.WriteByte(':')
	if u.HasHost {
		b.WriteString("//")
		if u.Username != "" || u.Password != "" {
			b.WriteString(u.Username)
			if u.Password != "" {
				b.WriteByte(':')
				b.WriteString(u.Password)
			}
			b.WriteByte('@')
		}
		b.WriteString(u.HostPort())
	} else if !u.Opaque && strings.HasPrefix(u.Path, "//") {
		b.WriteString("/.")
	}
	b.WriteString(u.Path)
	if u.Query != nil {
		b.WriteByte('?')
		b.WriteString(*u.Query)
	}
	if u.Fragment != nil {
		b.WriteByte('#')
		b.WriteString(*u.Fragment)
	}
	return b.String()
}

type set int

const (
	opaqueSet set = iota
	fragmentSet
	querySet
	specialQuerySet
	pathSet
	userSet
)

func (s set) has(c byte) bool {
	if c <= 0x1f || c >= 0x7f {
		return true
	}
	if s == opaqueSet {
		return false
	}
	switch c {
	case ' ', '"', '<', '>':
		return true
	case '`':
		return s == fragmentSet || s >= pathSet
	case '#':
		return s != fragmentSet
	case '\'':
		return s == specialQuerySet
	case '?', '{', '}', '^':
		return s >= pathSet
	case '/', ':', ';', '=', '@', '[', '\\', ']', '|':
		return s == userSet
	}
	return false
}

const hexDigits = "0123456789ABCDEF"

func escape(s string, in set) string {
	i := 0
	for i < len(s) && !in.has(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:i])
	for ; i < len(s); i++ {
		if c := s[i]; in.has(c) {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func parseHost(s string, special bool) (string, error) {
	if strings.HasPrefix(s, "[") {
		if !strings.HasSuffix(s, "]") {
			return "", ErrInvalid
		}
		a, err := netip.ParseAddr(s[1 : len(s)-1])
		if err != nil || !a.Is6() || a.Zone() != "" {
			return "", ErrInvalid
		}
		if a.Is4In6() { // the standard writes it as hexadecimal
			b := a.As16()
			return "[::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) + ":" + strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16) + "]", nil
		}
		return "[" + a.String() + "]", nil
	}
	if !special {
		if strings.ContainsAny(s, "\x00\t\n\r #/:<>?@[\\]^|") {
			return "", ErrInvalid
		}
		return escape(s, opaqueSet), nil
	}
	if s == "" {
		return "", nil
	}
	host := unescape(s)
	ascii := strings.ToLower(host)
	if !isASCII(host) || strings.Contains(ascii, "xn--") {
		profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.ValidateLabels(true), idna.CheckHyphens(false), idna.Transitional(false), idna.StrictDomainName(false))
		var err error
		if ascii, err = profile.ToASCII(strings.ToValidUTF8(host, "\ufffd")); err != nil || ascii == "" {
			return "", ErrInvalid
		}
		if again, err := profile.ToASCII(ascii); err != nil || again != ascii { // a label that stands for what is not allowed
			return "", ErrInvalid
		}
	}
	if strings.ContainsAny(ascii, "\x00\t\n\r #/:<>?@[\\]^|%") || strings.ContainsFunc(ascii, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		return "", ErrInvalid
	}
	return ipv4(ascii)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// ipv4 makes an address of a host whose last label is a number, in any of the ways that
// numbers have been written there.
func ipv4(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := parts[len(parts)-1]
	if _, err := number(last); err != nil && !isDigits(last) {
		return host, nil
	}
	if len(parts) > 4 {
		return "", ErrInvalid
	}
	var all uint64
	for i, p := range parts {
		n, err := number(p)
		if err != nil {
			return "", ErrInvalid
		}
		if i < len(parts)-1 {
			if n > 255 {
				return "", ErrInvalid
			}
			all |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(4-i)) {
			return "", ErrInvalid
		}
		all |= n
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}).String(), nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func number(s string) (uint64, error) {
	switch {
	case s == "":
		return 0, ErrInvalid
	case s == "0x" || s == "0X":
		return 0, nil
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		return strconv.ParseUint(s[2:], 16, 64)
	case len(s) > 1 && s[0] == '0':
		return strconv.ParseUint(s[1:], 8, 64)
	}
	if !isDigits(s) {
		return 0, ErrInvalid
	}
	return strconv.ParseUint(s, 10, 64)
}
