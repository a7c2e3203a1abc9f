package workspace

// Width returns how much of a machine a workspace is.
type Width int

// The widths.
const (
	Narrow     Width = iota // a folder like any other
	Home                    // the user's home, or what homes lie in
	Everything              // the whole file system
)

// WidthOf returns the width of a workspace. Links are followed; "" is no home.
func WidthOf(root, home string) Width {
	root = resolve(root)
	switch {
	case root == "/":
		return Everything
	case home != "" && within(resolve(home), root):
		return Home
	}
	return Narrow
}
