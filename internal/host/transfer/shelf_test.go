package transfer

import (
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/platform/disk"
)

// closable is the file of a transfer.
type closable struct {
	disk.File
	closed bool
}

func (c *closable) Close() error {
	c.closed = true
	return nil
}

func TestATransferThatIsReadForLongStaysAndGoesAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x shelf
		defer x.close()
		file := &closable{}
		if err := x.reserve(1); err != nil {
			t.Fatal(err)
		}
		if err := x.add(&transfer{client: "c", sha: "s", size: 1, file: file}); err != nil {
			t.Fatal(err)
		}
		held, done := x.take("c", "s")
		if held == nil {
			t.Fatal("it is not there")
		}
		time.Sleep(3 * transferLife)
		synctest.Wait() // a timer that calls itself at once lets no time pass
		if file.closed {
			t.Error("it is closed while it is read")
		}
		done()
		time.Sleep(2 * transferLife)
		synctest.Wait()
		if !file.closed {
			t.Error("it stays though nobody has used it for long")
		}
	})
}
