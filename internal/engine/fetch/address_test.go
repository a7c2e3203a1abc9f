package fetch

import (
	"encoding/binary"
	"net/netip"
	"testing"
)

// registered is what the special-purpose registries of IANA list for IPv4 and
// IPv6 as not globally reachable, multicast and reserved space, and forms of
// IPv6 that stand for an IPv4 address.
var registered = []string{
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
	"::/128", "::1/128", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/32", "2001:2::/48",
	"2001:10::/28", "2001:20::/28", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
	// Not assigned: everything but 2000::/3.
	"::/3", "4000::/2", "8000::/1",
}

func TestOnlyPublicAddressesAreAccepted(t *testing.T) {
	var prefixes []netip.Prefix
	for _, s := range registered {
		prefixes = append(prefixes, netip.MustParsePrefix(s))
	}
	public := func(a netip.Addr) bool {
		for _, p := range prefixes {
			if p.Contains(a) {
				return false
			}
		}
		return true
	}
	judged, accepted := 0, 0
	check := func(a netip.Addr) {
		if !a.IsValid() {
			return
		}
		judged++
		want := public(a)
		if want {
			accepted++
		}
		if got := refusal(a) == ""; got != want {
			t.Errorf("%s: accepted %v, want %v", a, got, want)
		}
		if a.Is4() {
			if got := refusal(netip.AddrFrom16(a.As16())) == ""; got != want {
				t.Errorf("::ffff:%s: accepted %v, want %v", a, got, want)
			}
		}
		if refusal(a.WithZone("eth0")) == "" && a.Is6() {
			t.Errorf("%s with a zone is accepted", a)
		}
	}
	for _, p := range prefixes {
		first, last := p.Masked().Addr(), lastOf(p)
		for _, a := range []netip.Addr{first, first.Prev(), first.Next(), last, last.Prev(), last.Next()} {
			check(a)
		}
		// Addresses spread over the range.
		for i := range 8 {
			check(spread(p, i))
		}
	}
	for i := range 256 { // one in each /8
		check(netip.AddrFrom4([4]byte{byte(i), byte(i * 7), byte(i * 13), byte(i*29 + 1)}))
	}
	for _, s := range []string{"8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::1", "2620:4f:8000::1", "172.15.255.255", "172.32.0.0"} {
		if why := refusal(netip.MustParseAddr(s)); why != "" {
			t.Errorf("%s is refused: %s", s, why)
		}
	}
	for _, s := range []string{"169.254.169.254", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "64:ff9b::7f00:1", "2002:7f00:1::",
		"::127.0.0.1", "::ffff:10.0.0.1", "255.255.255.255", "fe80::1"} {
		if refusal(netip.MustParseAddr(s)) == "" {
			t.Errorf("%s is accepted", s)
		}
	}
	if refusal(netip.Addr{}) == "" {
		t.Error("no address is accepted")
	}
	if judged < 400 || accepted < 100 {
		t.Errorf("the table is too small: %d addresses, %d of them public", judged, accepted)
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// spread returns the i-th of some addresses in a range.
func spread(p netip.Prefix, i int) netip.Addr {
	var noise [8]byte
	binary.BigEndian.PutUint64(noise[:], 0x9e3779b97f4a7c15*uint64(i+1))
	b := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		if noise[bit/8%8]&(0x80>>(bit%8)) != 0 {
			b[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
