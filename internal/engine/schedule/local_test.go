package schedule_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scorel/internal/engine/schedule"
)

// zoneFile returns the file of a zone with one offset (RFC 8536, version 1).
func zoneFile(name string, offset time.Duration) []byte {
	var b bytes.Buffer
	b.WriteString("TZif")
	b.Write(make([]byte, 16))
	chars := name + "\x00"
	for _, count := range []int{0, 0, 0, 0, 1, len(chars)} {
		_ = binary.Write(&b, binary.BigEndian, uint32(count)) // a buffer takes all
	}
	_ = binary.Write(&b, binary.BigEndian, int32(offset/time.Second))
	b.Write([]byte{0, 0})
	b.WriteString(chars)
	return b.Bytes()
}

func offsetOf(zone *time.Location) time.Duration {
	_, seconds := noon.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

func TestLocalSeesAnotherTZ(t *testing.T) {
	t.Setenv("TZ", "Europe/Berlin")
	berlin := schedule.Local()
	if berlin.String() != "Europe/Berlin" || offsetOf(berlin) != time.Hour {
		t.Errorf("it is %v", berlin)
	}
	if again := schedule.Local(); again != berlin {
		t.Error("it is another pointer though nothing has changed")
	}
	for tz, want := range map[string]string{"Asia/Tokyo": "Asia/Tokyo", ":Asia/Tokyo": "Asia/Tokyo", "": "UTC", "UTC": "UTC", "Nowhere/Land": "UTC", "Local": "UTC"} {
		t.Setenv("TZ", tz)
		if zone := schedule.Local(); zone.String() != want {
			t.Errorf("with %q it is %v, want %s", tz, zone, want)
		}
	}
}

func TestLocalSeesAnotherFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "zoneinfo")
	link := filepath.Join(dir, "localtime")
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	point := func(path string) {
		t.Helper()
		_ = os.Remove(link) // it may not be there
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
	}
	east := write("Far/East", zoneFile("EST", 11*time.Hour))
	west := write("Far/West", zoneFile("WST", -9*time.Hour))
	t.Setenv("TZ", link)

	point(east)
	zone := schedule.Local()
	if offsetOf(zone) != 11*time.Hour || zone.String() != "Far/East" {
		t.Errorf("it is %v, %v", zone, offsetOf(zone))
	}
	if schedule.Local() != zone {
		t.Error("it is another pointer though nothing has changed")
	}
	point(west)
	if zone := schedule.Local(); offsetOf(zone) != -9*time.Hour || zone.String() != "Far/West" {
		t.Errorf("after the link was changed it is %v, %v", zone, offsetOf(zone))
	}
	next := write("Far/next", zoneFile("WEST", -8*time.Hour))
	if err := os.Rename(next, west); err != nil {
		t.Fatal(err)
	}
	if zone := schedule.Local(); offsetOf(zone) != -8*time.Hour {
		t.Errorf("after the file was replaced it is %v", offsetOf(zone))
	}
	for name, data := range map[string][]byte{"damaged": []byte("TZif"), "empty": nil, "endless": make([]byte, 1<<20)} {
		point(write(name, data))
		if zone := schedule.Local(); zone != time.UTC {
			t.Errorf("of a file that is %s it is %v", name, zone)
		}
	}
	point(dir)
	if zone := schedule.Local(); zone != time.UTC {
		t.Errorf("of a folder it is %v", zone)
	}
	point(filepath.Join(dir, "nothing"))
	if zone := schedule.Local(); zone != time.UTC {
		t.Errorf("of nothing it is %v", zone)
	}
	point(east)
	if zone := schedule.Local(); offsetOf(zone) != 11*time.Hour {
		t.Errorf("after that it is %v", offsetOf(zone))
	}
}

func TestLocalOfTheDeviceIsWhatPackageTimeReadsAtStart(t *testing.T) {
	if _, set := os.LookupEnv("TZ"); set {
		t.Skip("TZ is set")
	}
	for _, at := range []time.Time{noon, noon.AddDate(0, 6, 0)} {
		_, got := at.In(schedule.Local()).Zone()
		if _, want := at.In(time.Local).Zone(); got != want {
			t.Errorf("at %v the offset is %d, want %d", at, got, want)
		}
	}
}

func BenchmarkLocal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		schedule.Local()
	}
}
