// Package picture makes the pictures of a conversation that go into the scrollback of a
// terminal which draws pictures. It fetches an image beside the UI, makes the sequence that
// draws it, and has its lines wait for a bounded time; what comes late, or cannot be drawn,
// is a line of text. Images that wait, their bytes and what is remembered of them are
// bounded.
package picture
