package review

import "container/list"

// recency holds files in the order in which they were touched. Its zero value is empty.
type recency struct {
	order list.List // of *file, the one touched last at the end
	at    map[*file]*list.Element
}

func (r *recency) touch(f *file) {
	if e := r.at[f]; e != nil {
		r.order.MoveToBack(e)
		return
	}
	if r.at == nil {
		r.at = map[*file]*list.Element{}
	}
	r.at[f] = r.order.PushBack(f)
}

func (r *recency) drop(f *file) {
	if e := r.at[f]; e != nil {
		r.order.Remove(e)
		delete(r.at, f)
	}
}

// oldest returns the file touched longest ago, or nil.
func (r *recency) oldest() *file {
	if e := r.order.Front(); e != nil {
		return e.Value.(*file)
	}
	return nil
}
