package review

// Image is what a record has of a file at one moment. The zero value is nothing.
type Image struct{ file *file }

// Image returns what the record has of a file now.
func (r *Record) Image(path string) Image {
	f := r.files[path]
	if f == nil {
		return Image{}
	}
	is := *f
	return Image{&is}
}

// Present returns what the file was at that moment, nothing where the record had nothing of it.
func (i Image) Present() Content {
	if i.file == nil {
		return Content{}
	}
	return i.file.Present
}

// GoneFrom says what a buffer had of a file that the agent has removed under it, if the disk had another text: nothing for
// the same.
func (r *Record) GoneFrom(path string, had Image) {
	f := r.files[path]
	if f == nil || f.Present.Exists || f.gone.text == nil || had.file == nil || had.file.text == nil || !had.file.Present.Exists {
		return
	}
	r.bytes -= f.size()
	f.gone = removal{text: had.file.text, onDisk: f.gone.text}
	r.bytes += f.size()
	r.settle(f)
}

// SetBack puts an earlier image of a file back into the record, at the same path.
func (r *Record) SetBack(path string, was Image) {
	f := r.files[path]
	switch {
	case was.file != nil && f == nil:
		f = r.add(path, was.file.Baseline)
	case was.file == nil && f != nil:
		r.forget(f)
		return
	case was.file == nil:
		return
	}
	id := f.ID
	r.bytes -= f.size()
	*f = *was.file
	f.ID = id
	r.bytes += f.size()
	r.settle(f)
}
