// Package linetest has what tests of line mode share: a terminal that shows what a person
// would see of the sequences that line mode writes. Only tests import it.
package linetest
