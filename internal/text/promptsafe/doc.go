// Package promptsafe makes text from outside fit to be in what a model reads: its
// characters are those that a person would see, and it can neither end the frame
// that the program puts around it, nor begin one, nor speak as the program. All
// functions are pure and may be called concurrently. What a text says is not
// judged.
package promptsafe
