package sandbox

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/sandbox/sandboxtest"
)

// probeNet tries to reach host:port, by the given way, and says what happened.
func probeNet(args []string) int {
	way, addr := args[0], args[1]
	var err error
	switch way {
	case "tcp", "udp":
		err = dial(way, addr)
	case "mptcp":
		err = mptcp(addr)
	case "raw":
		var s int
		if s, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW); err == nil {
			host, _, _ := net.SplitHostPort(addr)
			var to unix.SockaddrInet4
			copy(to.Addr[:], net.ParseIP(host).To4())
			err = unix.Sendto(s, rawUDP(addr), 0, &to)
		}
	case "inside": // a server and a client of its own
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			err = dial("tcp", l.Addr().String())
		}
	}
	if err != nil {
		fmt.Println(way, "failed:", err)
		return 1
	}
	fmt.Println(way, "sent")
	return 0
}

func dial(way, addr string) error {
	c, err := net.DialTimeout(way, addr, time.Second)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("hello"))
	return err
}

func mptcp(addr string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)
	if err != nil {
		return err
	}
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return err
	}
	to := unix.SockaddrInet4{Port: a.Port}
	copy(to.Addr[:], a.IP.To4())
	if err := unix.Connect(s, &to); err != nil {
		return err
	}
	_, err = unix.Write(s, []byte("hello"))
	return err
}

// rawUDP is an IP packet with a datagram for addr; the kernel fills in source
// and checksum of the IP header.
func rawUDP(addr string) []byte {
	a, _ := net.ResolveUDPAddr("udp", addr)
	p := make([]byte, 33)
	p[0], p[3], p[8], p[9] = 0x45, 33, 64, unix.IPPROTO_UDP
	copy(p[16:20], a.IP.To4())
	p[20], p[21], p[22], p[23], p[25] = 0x30, 0x39, byte(a.Port>>8), byte(a.Port), 13
	copy(p[28:], "hello")
	return p
}

// listeners take TCP (and so Multipath TCP) and UDP on every address of this
// machine and count what comes.
type listeners struct {
	addrs []string // host:port of both
	heard atomic.Int32
}

func listenEverywhere(t *testing.T) *listeners {
	t.Helper()
	l := &listeners{}
	addrs, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.To4() == nil {
			continue
		}
		lc := net.ListenConfig{}
		lc.SetMultipathTCP(true)
		tcp, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort(ip.IP.String(), "0"))
		must(t, err)
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		must(t, err)
		t.Cleanup(func() { tcp.Close(); udp.Close() })
		go func() { // ends when tcp is closed
			for {
				c, err := tcp.Accept()
				if err != nil {
					return
				}
				l.heard.Add(1)
				c.Close()
			}
		}()
		go func() { // ends when udp is closed
			var b [64]byte
			for {
				if _, _, err := udp.ReadFrom(b[:]); err != nil {
					return
				}
				l.heard.Add(1)
			}
		}()
		l.addrs = append(l.addrs, tcp.Addr().String())
	}
	if len(l.addrs) == 0 {
		t.Fatal("this machine has no address")
	}
	return l
}

func networkSuite(t *testing.T, base string) {
	for name, lay := range map[string]layout{"network namespace": {}, "without user namespaces": {noNamespaces: true}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, base, lay)
			l := listenEverywhere(t)
			ways := []string{"tcp", "mptcp", "udp"}
			if os.Getuid() == 0 {
				ways = append(ways, "raw")
			}
			var b strings.Builder
			for _, addr := range l.addrs {
				for _, way := range ways {
					fmt.Fprintf(&b, "\"$PROBE\" net %s %s\n", way, addr)
				}
			}
			out, _ := w.call(t, nil, b.String())
			want := int32(len(l.addrs) * len(ways))
			heard := func(n int32) bool { // a datagram is on its way
				for end := time.Now().Add(testTimeout); l.heard.Load() < n && time.Now().Before(end); {
					<-time.After(5 * time.Millisecond)
				}
				return l.heard.Load() >= n
			}
			if !heard(want) {
				t.Fatalf("unconfined only %d of %d came through, so nothing is proved: %s", l.heard.Load(), want, out)
			}
			l.heard.Store(0)
			w.profile.Network = false
			out, _ = w.call(t, &w.profile, b.String())
			// What was sent before is heard before: one more of ours marks the end.
			must(t, dial("tcp", l.addrs[0]))
			heard(1)
			if n := l.heard.Load(); n != 1 {
				t.Errorf("%d came through: %s", n-1, out)
			}
			out, exit := w.call(t, &w.profile, `"$PROBE" net inside -`)
			if works := exit.Code == 0; works != !lay.noNamespaces {
				t.Errorf("127.0.0.1 inside: %+v %s", exit, out)
			}
			w.profile.Network = true
			w.call(t, &w.profile, fmt.Sprintf(`"$PROBE" net tcp %s`, l.addrs[0]))
			if !heard(2) {
				t.Error("with network = true nothing came through")
			}
		})
	}
}

func TestWithoutNetworkNothingIsReached(t *testing.T) {
	needConfinement(t)
	networkSuite(t, t.TempDir())
}

func TestWithoutNetworkAnOrdinaryUserReachesNothing(t *testing.T) {
	needConfinement(t)
	sandboxtest.AsUser(t, networkSuite)
}
