package host
type held struct{}
