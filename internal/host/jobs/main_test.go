package jobs_test

import (
	"testing"

	"scorel/internal/host/hosttest"
)

func TestMain(m *testing.M) { hosttest.Main(m) }
