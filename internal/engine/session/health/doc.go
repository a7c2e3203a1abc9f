// Package health says what is wrong with a log: each piece of damage with its place, and a
// bounded report of all of them, in words for people and for models. It finds nothing itself.
package health
