// Package search finds tools and skills by words, where there are too many to show a
// model all of them.
//
// An [Index] is made of documents: a name, a hint and a description, each with its weight.
// A query is one of four kinds (see [Parse]): exact names, words, words of which some must
// be there, and words that are only asked about. What fits is ranked by 0.4 × how well its
// words are met and 0.6 × how near it is by TF-IDF; each part lies between 0 and 1.
//
// Words are compared in lower case and by their stem; names are taken apart at
// underscores, dashes and capitals; Chinese, Japanese and Korean text counts by characters
// and pairs of them.
//
// An Index does not change and may be used concurrently.
package search
