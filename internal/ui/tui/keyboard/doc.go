// Package keyboard reads what comes from the terminal so that the decoder of keys, which
// takes what does not go on within 50 ms for all there is, sees only whole characters and
// sequences: over a slow line they come in pieces. What is pasted goes around the decoder,
// byte for byte as it came, and in its place among the keys.
//
// A [Keyboard] is read by one goroutine at a time; [Keyboard.Pasted] belongs to one other.
package keyboard
