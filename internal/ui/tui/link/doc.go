// Package link is the terminal UI's line to the host: the connection, the requests that
// are under way, and the updates of the session that is open.
//
// A [Link] has two sides. The UI's side never waits: [Ask] sends a request beside all
// others, [Ordered] one in the order of what was typed, and either calls a function in the
// UI's loop when the answer is there. The other side is [Link.Run], a goroutine of its own
// that connects, does the ordered requests one after the other, makes a session
// where one is first needed, and reads what comes of the open one.
//
// How data flows:
//
//	Ordered ─▶ jobs ─▶ Run: connect, make or open the session, call ─▶ loop.Then
//	host ─▶ client.Session ─▶ reader ─▶ notifications ─▶ Arrived ─▶ Link.Updates
//
// Requests that wait and updates that were not taken are bounded; at its bound an ordered
// request fails, and the subscription of a session waits.
package link
