package daemon

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"scorel/internal/host/serve"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// webName is the file with the ports for browsers, which stay the same: a browser keeps
// its key for one address.
const webName = "web.json"

// maxWeb bounds it in bytes.
const maxWeb = 4 << 10

// A port for browsers is chosen once, at random, below those that systems give to outgoing
// connections, so that it is free the next time too.
const (
	firstPort = 20000
	lastPort  = 32767
	portTries = 16
)

// webPort is an address for browsers. Open says that the next host opens it again.
type webPort struct {
	Port int  `json:"port,omitempty"`
	Open bool `json:"open,omitempty"`
}

// webPorts is what is in the file: for browsers of this machine, and for others.
type webPorts struct {
	Version int     `json:"version"`
	Local   webPort `json:"local"`
	LAN     webPort `json:"lan"`
}

func (p *webPorts) of(lan bool) *webPort {
	if lan {
		return &p.LAN
	}
	return &p.Local
}

// pages opens the addresses for browsers, while the host serves.
type pages struct {
	d       *daemon
	srv     *serve.Server
	serving *sync.WaitGroup

	mu     sync.Mutex // guards what follows and, once clients can come, daemon.info and daemon.tls; held while a listener is opened
	ends   []*endpoint
	opened map[bool]*endpoint // by whether it is for the network; of those in ends, what a client has had opened
}

// OpenWeb implements [pairing.Listener].
func (w *pages) OpenWeb(lan bool) (*protocol.WebOpened, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ports, err := readWeb(w.d.dir)
	if err != nil {
		return nil, err
	}
	out := &protocol.WebOpened{}
	fresh := len(w.urls(lan)) == 0
	if fresh {
		if out.Notice, err = w.open(ports.of(lan), lan); err != nil {
			return nil, protocol.Errorf(protocol.CodeStorageError, "The host cannot listen for browsers: %v.", err)
		}
	}
	if w.opened[lan] != nil {
		if ports.of(lan).Open = true; ports.write(w.d.dir) != nil {
			if fresh { // who is told that it failed does not expect an open port
				w.takeBack(lan)
			}
			return nil, protocol.Errorf(protocol.CodeStorageError, "The host cannot write %s, where the ports for browsers are kept; make %s writable and free space.", webName, w.d.dir)
		}
	}
	out.Addresses = w.urls(lan)
	if lan {
		out.Fingerprint, out.OwnCertificate = w.d.info.Fingerprint, w.d.cfg.TLSCert == ""
	}
	return out, nil
}

// CloseWeb implements [pairing.Listener].
func (w *pages) CloseWeb() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ports, err := readWeb(w.d.dir)
	if err != nil {
		return err
	}
	ports.Local.Open, ports.LAN.Open = false, false
	if err := ports.write(w.d.dir); err != nil {
		return err
	}
	for lan := range w.opened {
		w.close(lan)
	}
	return w.tell()
}

// close closes the port that a client has had opened. mu is held.
func (w *pages) close(lan bool) {
	e := w.opened[lan]
	delete(w.opened, lan)
	w.ends = slices.DeleteFunc(w.ends, func(o *endpoint) bool { return o == e })
	w.srv.Forget(e.Listener)
	w.d.log.line("%s is closed to browsers", e.url)
}

// takeBack closes a port again that could not be noted. mu is held.
func (w *pages) takeBack(lan bool) {
	w.close(lan)
	_ = w.tell() // why it is closed is told already
}

// WebAddresses implements [pairing.Listener].
func (w *pages) WebAddresses(lan bool) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.urls(lan)
}

// addresses returns where the host listens.
func (w *pages) addresses() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.d.info.Addresses)
}

// reopen opens what was open when the last host ended. What cannot be opened is noted in the
// log, and stays for the next time.
func (w *pages) reopen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	ports, err := readWeb(w.d.dir)
	if err != nil {
		w.d.log.line("%v", err)
		return
	}
	for _, lan := range []bool{false, true} {
		p := ports.of(lan)
		if !p.Open || p.Port == 0 || len(w.urls(lan)) > 0 {
			continue
		}
		if err := w.listen(p.Port, lan); err != nil {
			w.d.log.line("browsers cannot come: %v; scorel web opens another port", err)
		}
	}
}

// open listens on the port of before, or on another when it is taken, which the notice
// says. mu is held.
func (w *pages) open(p *webPort, lan bool) (notice string, err error) {
	before := p.Port
	if before != 0 {
		if err = w.listen(before, lan); err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return "", err
		}
	}
	for range portTries {
		n, rerr := randomPort(w.d.cfg.Host.Rand)
		if rerr != nil {
			return "", rerr
		}
		p.Port = n
		if err = w.listen(p.Port, lan); err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	if err == nil && before != 0 {
		notice = fmt.Sprintf("Another program uses port %d, where browsers knew this host. The host uses port %d from now on; pair each browser again.", before, p.Port)
	}
	return notice, err
}

func randomPort(rand io.Reader) (int, error) {
	var raw [8]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		return 0, err
	}
	return firstPort + int(binary.BigEndian.Uint64(raw[:])%(lastPort-firstPort+1)), nil
}

// listen opens a port and serves it. mu is held.
func (w *pages) listen(port int, lan bool) error {
	a := address{hostPort: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), plain: true}
	if lan {
		a = address{hostPort: net.JoinHostPort("0.0.0.0", strconv.Itoa(port)), secure: true}
	}
	e, err := a.listen(w.d.certify)
	if err != nil {
		return err
	}
	if lan {
		w.srv.UseTLS(w.d.tls)
	}
	w.ends = append(w.ends, e)
	w.opened[lan] = e
	w.serving.Go(func() { w.d.accept(w.srv, e) }) // ends with CloseWeb, or Shutdown
	w.d.log.line("listens for browsers on %s", e.url)
	if err := w.tell(); err != nil {
		w.takeBack(lan)
		return err
	}
	return nil
}

// tell writes where the host listens. mu is held.
func (w *pages) tell() error {
	w.d.info.Addresses = nil
	for _, e := range w.ends {
		w.d.info.Addresses = append(w.d.info.Addresses, e.url)
	}
	return w.d.info.write(w.d.dir)
}

// urls returns where browsers of this machine, or of others, reach the host. mu is held.
func (w *pages) urls(lan bool) []string {
	all := []string{}
	for _, e := range w.ends {
		bound, ok := e.Addr().(*net.TCPAddr)
		switch {
		case !ok || e.secure != lan || lan && bound.IP.IsLoopback():
		case !lan:
			all = append(all, "http://"+bound.String())
		default:
			for _, name := range w.names(bound) {
				all = append(all, "https://"+net.JoinHostPort(name, strconv.Itoa(bound.Port)))
			}
		}
	}
	return all
}

// names returns how a machine of the same network calls this one: by the names of a
// certificate of the user's own, by the address that was bound, else by those that the
// machine has, the one of its way to the network first. mu is held.
func (w *pages) names(bound *net.TCPAddr) (all []string) {
	if w.d.cfg.TLSCert != "" && w.d.tls != nil {
		for _, c := range w.d.tls.Certificates {
			if c.Leaf == nil {
				continue
			}
			for _, name := range c.Leaf.DNSNames {
				if !strings.Contains(name, "*") && name != "localhost" {
					all = append(all, name)
				}
			}
		}
	}
	if !bound.IP.IsUnspecified() {
		return append(all, bound.IP.String())
	}
	// No packet is sent: the system says which of its addresses it would use.
	if c, err := net.Dial("udp4", "192.0.2.1:9"); err == nil {
		if a, ok := c.LocalAddr().(*net.UDPAddr); ok && !a.IP.IsLoopback() {
			all = append(all, a.IP.String())
		}
		_ = c.Close()
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return all
	}
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.To4() == nil || n.IP.IsLoopback() || n.IP.IsLinkLocalUnicast() || slices.Contains(all, n.IP.String()) {
			continue
		}
		all = append(all, n.IP.String())
	}
	return all
}

// readWeb reads the ports; without a file there are none yet.
func readWeb(dir string) (p webPorts, err error) {
	name := filepath.Join(dir, webName)
	data, err := disk.ReadFile(disk.OS(), name, maxWeb)
	if errors.Is(err, fs.ErrNotExist) {
		return webPorts{Version: 1}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	valid := func(w webPort) bool { return w.Port == 0 || w.Port > 1023 && w.Port < 1<<16 }
	if err == nil && (p.Version != 1 || !valid(p.Local) || !valid(p.LAN)) {
		err = errors.New("it has no ports of this version")
	}
	if err != nil {
		return p, protocol.Errorf(protocol.CodeStorageError, "Cannot read %s, where the ports for browsers are kept: %v. Correct it, or remove it and pair each browser again.", name, err)
	}
	return p, nil
}

func (p webPorts) write(dir string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(disk.OS(), filepath.Join(dir, webName), append(data, '\n'))
}
