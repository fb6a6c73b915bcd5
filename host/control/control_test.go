package control

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestSlowAnswersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := mailbox.New()
		go box.Run()
		defer box.Close()
		on := func(f func()) {
			box.Put(f)
			synctest.Wait()
		}
		told := ""
		r := New(feature.Base{Title: "Puppet", Box: box, Remark: func(_, text string) { told += text }}, nil)
		var answers []func(string, error) bool
		var got []string
		cancelled := 0
		method := "slow/request"
		request := func() {
			Ask(r, method, func(answer func(string, error) bool) func() {
				answers = append(answers, answer)
				return func() { cancelled++ }
			}, func(v string, err error) {
				if err != nil {
					v = err.Error()
				}
				got = append(got, v)
			})
		}
		on(request)
		on(request)
		time.Sleep(Slow / 2)
		if !answers[0]("in time", nil) {
			t.Error("nobody waited for the first answer")
		}
		time.Sleep(Slow)
		want := "Puppet has not answered slow/request yet. :Acp cancel gives up on it,"
		synctest.Wait()
		if strings.Count(told, want) != 1 {
			t.Errorf("told %q", told)
		}
		on(func() {
			if !r.Open("slow/request") || !r.GiveUp() || r.GiveUp() || r.Open("slow/request") {
				t.Error("it was not given up once")
			}
		})
		if answers[1]("too late", nil) {
			t.Error("somebody waited for the second answer")
		}
		on(func() {
			if strings.Join(got, ", ") != "in time, "+ErrGivenUp.Error() || cancelled != 1 {
				t.Errorf("got %q, cancelled %d", got, cancelled)
			}
		})
		method = "initialize"
		on(request)
		time.Sleep(Slow + 1)
		synctest.Wait()
		check.Contains(t, told, "Puppet is slow to start. :Acp cancel", "told %q")
		on(r.Drop)
		if answers[2]("after leaving", errors.New("x")) || cancelled != 2 {
			t.Errorf("the agent was left, cancelled %d", cancelled)
		}
		on(func() {
			if len(got) != 2 {
				t.Errorf("got %q", got)
			}
		})
	})
}
