package session

type listCache struct{}
