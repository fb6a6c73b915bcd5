package acp

// valid reports whether data is one JSON value, as [json.Valid] does, in a third of the time.
func valid(data []byte) bool {
	c := checker{data}
	return c.value(0) && c.ended()
}

type checker struct{ rest []byte }

const maxDepth = 10000 // of lists and objects

func (c *checker) space() {
	for len(c.rest) > 0 {
		switch c.rest[0] {
		case ' ', '\t', '\n', '\r':
			c.rest = c.rest[1:]
		default:
			return
		}
	}
}

func (c *checker) next(b byte) bool {
	if len(c.rest) == 0 || c.rest[0] != b {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

func (c *checker) value(depth int) bool {
	c.space()
	if len(c.rest) == 0 || depth == maxDepth && (c.rest[0] == '[' || c.rest[0] == '{') {
		return false
	}
	switch c.rest[0] {
	case '"':
		return c.text()
	case '{':
		return c.object(depth, nil)
	case '[':
		c.rest = c.rest[1:]
		if c.space(); c.next(']') {
			return true
		}
		for {
			if !c.value(depth + 1) {
				return false
			}
			c.space()
			if c.next(']') {
				return true
			}
			if !c.next(',') {
				return false
			}
		}
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

// object checks an object, and calls each, unless that is nil, with each property's quoted name and its value.
func (c *checker) object(depth int, each func(name, value []byte)) bool {
	if !c.next('{') {
		return false
	}
	if c.space(); c.next('}') {
		return true
	}
	for {
		c.space()
		name := c.rest
		if !c.text() {
			return false
		}
		name = name[:len(name)-len(c.rest)]
		if c.space(); !c.next(':') {
			return false
		}
		c.space()
		value := c.rest
		if !c.value(depth + 1) {
			return false
		}
		if each != nil {
			each(name, value[:len(value)-len(c.rest)])
		}
		if c.space(); c.next('}') {
			return true
		}
		if !c.next(',') {
			return false
		}
	}
}

// ended reports whether nothing follows.
func (c *checker) ended() bool {
	c.space()
	return len(c.rest) == 0
}

func (c *checker) word(w string) bool {
	if len(c.rest) < len(w) || string(c.rest[:len(w)]) != w {
		return false
	}
	c.rest = c.rest[len(w):]
	return true
}

func (c *checker) digits() bool {
	i := 0
	for i < len(c.rest) && '0' <= c.rest[i] && c.rest[i] <= '9' {
		i++
	}
	c.rest = c.rest[i:]
	return i > 0
}

func (c *checker) number() bool {
	c.next('-')
	if !c.next('0') && !c.digits() {
		return false
	}
	if c.next('.') && !c.digits() {
		return false
	}
	if c.next('e') || c.next('E') {
		if !c.next('+') {
			c.next('-')
		}
		return c.digits()
	}
	return true
}

func (c *checker) text() bool {
	if !c.next('"') {
		return false
	}
	data := c.rest
	for i := 0; i < len(data); i++ {
		if literal[data[i]] {
			continue
		}
		switch data[i] {
		case '"':
			c.rest = data[i+1:]
			return true
		case '\\':
			i++
			if i == len(data) {
				return false
			}
			switch data[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					i++
					if i >= len(data) || !hex(data[i]) {
						return false
					}
				}
			default:
				return false
			}
		default: // a control character
			return false
		}
	}
	return false
}

// literal marks the bytes that stand for themselves in a string.
var literal = func() (is [256]bool) {
	for b := range is {
		is[b] = b >= ' ' && b != '"' && b != '\\'
	}
	return is
}()

func hex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}
