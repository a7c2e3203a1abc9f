package fetch

import "net/netip"

// refusal returns what an address is that is not fetched from, "" for a public one.
// Public is global unicast that the special-purpose registries of IANA do not
// reserve (RFC 6890 and its updates; registries of 2025): not loopback, private,
// shared (100.64.0.0/10), link-local, multicast, documentation, benchmarking,
// reserved, and no IPv6 form that carries or stands for an IPv4 address (mapped
// ones are judged as what they carry), because a gateway would translate it to
// an address that was not judged. Azure's 168.63.129.16 is public in form only.
func refusal(a netip.Addr) string {
	if a.Zone() != "" {
		return "an address with a zone"
	}
	a = a.Unmap()
	switch {
	case !a.IsValid():
		return "no address"
	case a.IsUnspecified() || a.IsLoopback():
		return "this machine"
	case a.Is4():
		return refusal4(a.As4())
	}
	return refusal6(a.As16())
}

const (
	privateNet = "in a private network"
	linkLocal  = "a link-local address"
	reserved   = "a reserved address"
	multicast  = "a multicast address"
	embedded   = "an address that stands for another one"
)

func refusal4(b [4]byte) string {
	switch {
	case b[0] == 127:
		return "this machine"
	case b[0] == 0, b[0] >= 240:
		return reserved
	case b[0] >= 224:
		return multicast
	case b[0] == 10, b[0] == 172 && b[1]&0xf0 == 16, b[0] == 192 && b[1] == 168:
		return privateNet
	case b[0] == 100 && b[1]&0xc0 == 64:
		return privateNet
	case b[0] == 169 && b[1] == 254:
		return linkLocal
	case b[0] == 192 && b[1] == 0 && (b[2] == 0 || b[2] == 2):
		return reserved
	case b[0] == 192 && b[1] == 88 && b[2] == 99:
		return reserved
	case b[0] == 198 && b[1]&0xfe == 18, b[0] == 198 && b[1] == 51 && b[2] == 100, b[0] == 203 && b[1] == 0 && b[2] == 113:
		return reserved
	case b == [4]byte{168, 63, 129, 16}:
		return "the platform of the cloud"
	}
	return ""
}

func refusal6(b [16]byte) string {
	first := uint16(b[0])<<8 | uint16(b[1])
	second := uint16(b[2])<<8 | uint16(b[3])
	switch {
	case b[0] == 0xff:
		return multicast
	case b[0]&0xfe == 0xfc:
		return privateNet
	case first&0xffc0 == 0xfe80, first&0xffc0 == 0xfec0:
		return linkLocal
	case first == 0x64 && second == 0xff9b, first == 0x2002, first == 0x2001 && second == 0, first == 0:
		return embedded // NAT64, 6to4, Teredo, IPv4-compatible
	case b[0]&0xe0 != 0x20:
		return reserved // only 2000::/3 is assigned for global unicast
	case first == 0x2001 && second < 0x200, first == 0x2001 && second == 0xdb8, first == 0x3fff && second < 0x1000:
		return reserved
	}
	return ""
}
