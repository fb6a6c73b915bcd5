package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestFoldersThatCannotBeWrittenAreLeft(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	good := filepath.Join(dir, "not/yet/there")
	o := Options{State: good, Data: dir}
	if said := o.leaveUnwritable(); said != "" || o.State != good || o.Data != dir || o.Cache != "" {
		t.Errorf("%q is said of %+v", said, o)
	}
	if _, err := os.Stat(filepath.Join(dir, "not")); err == nil {
		t.Error("looking has made a folder")
	}
	o = Options{State: filepath.Join(file, "acp"), Data: filepath.Join(file, "acp"), Cache: good}
	want := file + " cannot be written: running without saved data."
	if said := o.leaveUnwritable(); said != want || o.State != "" || o.Data != "" || o.Cache != good {
		t.Errorf("%q is said of %+v", said, o)
	}
	o = Options{NoLog: filepath.Join(file, "nvim/acp.log"), State: filepath.Join(file, "acp"), Data: dir}
	want = file + " cannot be written: running without log and saved data."
	if said := o.leaveUnwritable(); said != want || o.State != "" || o.Data != dir {
		t.Errorf("%q is said of %+v", said, o)
	}
}
