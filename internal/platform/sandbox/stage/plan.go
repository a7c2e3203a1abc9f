package stage

import (
	"errors"
	gopath "path"
	"strconv"
)

// Name is the argument that makes a binary the stage; the number of the
// inherited socket follows it.
const Name = "__spawn"

// Ready is what the stage writes to its socket when it is about to execute the
// command. Without it nothing has run.
const Ready = '+'

// Bounds of a plan.
const (
	MaxPlan  = 1 << 20 // bytes
	maxPaths = 4096    // of each list
	maxExtra = 6
)

// Network returns what a command can reach.
type Network string

// What a command can reach.
const (
	NetworkOpen     Network = "open"     // what the host can
	NetworkLoopback Network = "loopback" // a loopback of its own and nothing else; needs namespaces
	NetworkNone     Network = "none"     // no socket but Unix ones
)

// Plan is what the host tells the stage. All paths are absolute, clean and
// without symlinks: the stage follows none.
type Plan struct {
	// Namespaces says that the stage is in user and mount namespaces of its own.
	// Without them Landlock is all there is for files.
	Namespaces bool
	Network    Network
	// NoUnix takes Unix sockets away, too; pairs of connected ones stay.
	NoUnix bool
	// FileCaps keeps CAP_DAC_OVERRIDE, CAP_FOWNER and, in a namespace, CAP_CHOWN,
	// without which root can do nothing with files of other users.
	FileCaps bool
	// Temp is the folder for temporary files, which stays writable. What lies
	// beside it belongs to others and is hidden.
	Temp     string
	Writable []string // folders that stay writable; all else becomes read-only
	Readable []string // folders that can be read in any case; needed without namespaces
	Pinned   []string // folders in them that cannot be moved away
	ReadOnly []string // what is read-only in them
	Hidden   []string // what is empty, wherever it is
	Shown    []string // folders in what is hidden that can be read and run all the same
	// Socket is what is to be seen at SocketAt, an existing file; both or none.
	Socket, SocketAt string
	Extra            int      // descriptors from 3 on that the command gets
	Dir              string   // working directory
	Path             string   // the program
	Args             []string // with argv[0]
}

// errTooLong is that a plan is longer than [MaxPlan].
var errTooLong = errors.New("the plan of the command has more than " + strconv.Itoa(MaxPlan) + " bytes")

const magic = "scorel-stage 1"

// Encode returns the plan as fields that end with a NUL byte, a name and a value
// each. It fails for what Decode would refuse.
func (p *Plan) Encode() ([]byte, error) {
	var b []byte
	put := func(name string, values ...string) {
		for _, v := range values {
			b = append(append(append(append(b, name...), 0), v...), 0)
		}
	}
	put("plan", magic)
	put("namespaces", strconv.FormatBool(p.Namespaces))
	put("network", string(p.Network))
	put("nounix", strconv.FormatBool(p.NoUnix))
	put("filecaps", strconv.FormatBool(p.FileCaps))
	put("temp", p.Temp)
	put("writable", p.Writable...)
	put("readable", p.Readable...)
	put("pinned", p.Pinned...)
	put("readonly", p.ReadOnly...)
	put("hidden", p.Hidden...)
	put("shown", p.Shown...)
	put("socket", p.Socket)
	put("socketat", p.SocketAt)
	put("extra", strconv.Itoa(p.Extra))
	put("dir", p.Dir)
	put("path", p.Path)
	put("arg", p.Args...)
	put("end", "end")
	if _, err := Decode(b); err != nil {
		return nil, err
	}
	return b, nil
}

// Decode reads what Encode gives. It refuses everything else: an unknown or
// missing field, a relative path, a plan without its end.
func Decode(data []byte) (*Plan, error) {
	if len(data) > MaxPlan {
		return nil, errTooLong
	}
	p := &Plan{}
	var err error
	left := string(data)
	seen, ended := 0, false
	for left != "" && !ended {
		name, rest, ok := cut(left, 0)
		value, rest, ok2 := cut(rest, 0)
		if !ok || !ok2 {
			return nil, errors.New("the plan of the command is cut off")
		}
		if seen++; (seen == 1) != (name == "plan") {
			return nil, errors.New("this is not the plan of a command")
		}
		left = rest
		if ended, err = p.set(name, value); err != nil {
			return nil, err
		}
	}
	switch {
	case !ended:
		return nil, errors.New("the plan of the command has no end")
	case left != "":
		return nil, errors.New("the plan of the command has bytes after its end")
	case p.Path == "" || len(p.Args) == 0 || p.Dir == "":
		return nil, errors.New("the plan names no command")
	case p.Network == "" || (p.Network == NetworkLoopback && !p.Namespaces):
		return nil, errors.New("the plan does not say what the network is")
	case (p.Socket == "") != (p.SocketAt == ""):
		return nil, errors.New("the plan has a socket without a place, or a place without a socket")
	case p.Temp == "" || gopath.Dir(gopath.Dir(p.Temp)) == "/":
		return nil, errors.New("the plan names no folder for temporary files")
	}
	return p, nil
}

func (p *Plan) set(name, value string) (ended bool, err error) {
	switch name {
	case "plan":
		if value != magic {
			err = errors.New("the plan was written by another version of Scorel; start the host again")
		}
	case "namespaces":
		err = flag(&p.Namespaces, value)
	case "network":
		switch p.Network = Network(value); p.Network {
		case NetworkOpen, NetworkLoopback, NetworkNone:
		default:
			err = errors.New("the plan names an unknown network")
		}
	case "nounix":
		err = flag(&p.NoUnix, value)
	case "filecaps":
		err = flag(&p.FileCaps, value)
	case "temp":
		err = path(&p.Temp, value)
	case "socket":
		err = optional(&p.Socket, value)
	case "socketat":
		err = optional(&p.SocketAt, value)
	case "writable":
		err = paths(&p.Writable, value)
	case "readable":
		err = paths(&p.Readable, value)
	case "pinned":
		err = paths(&p.Pinned, value)
	case "readonly":
		err = paths(&p.ReadOnly, value)
	case "hidden":
		err = paths(&p.Hidden, value)
	case "shown":
		err = paths(&p.Shown, value)
	case "extra":
		if p.Extra, err = strconv.Atoi(value); err != nil || p.Extra < 0 || p.Extra > maxExtra {
			err = errors.New("the plan has a wrong number of descriptors")
		}
	case "dir":
		err = path(&p.Dir, value)
	case "path":
		err = path(&p.Path, value)
	case "arg":
		p.Args = append(p.Args, value)
	case "end":
		return true, nil
	default:
		err = errors.New("the plan has a field that this version of Scorel does not know")
	}
	return false, err
}

func flag(to *bool, value string) error {
	if value != "true" && value != "false" {
		return errors.New("the plan has a switch that is neither true nor false")
	}
	*to = value == "true"
	return nil
}

func optional(to *string, value string) error {
	if value == "" {
		return nil
	}
	return path(to, value)
}

func path(to *string, value string) error {
	if !gopath.IsAbs(value) || gopath.Clean(value) != value {
		return errors.New("the plan has a path that is not absolute and clean")
	}
	*to = value
	return nil
}

func paths(to *[]string, value string) error {
	var p string
	if err := path(&p, value); err != nil {
		return err
	}
	if len(*to) >= maxPaths {
		return errors.New("the plan has more than " + strconv.Itoa(maxPaths) + " paths of one kind")
	}
	*to = append(*to, p)
	return nil
}
