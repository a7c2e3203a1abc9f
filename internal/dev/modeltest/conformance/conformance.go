package conformance

import (
	"context"
	"net/http"
	"testing"

	"scorel/internal/dev/modeltest"
	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
)

// Adapter is an adapter and the server of its vendor.
type Adapter struct {
	Info   model.Info // of the model that is called; it sees images and thinks
	New    func(httpx.Config) (model.Model, error)
	Server func(modeltest.Config) *modeltest.Server
	Config modeltest.Config // of the server, without script and key
	Base   string           // what follows the server's name in base URLs
	Header string           // which holds the key
	// Failures are those that servers of this vendor have besides the usual.
	Failures []Failure
}

// Of opens the constructor of an adapter for the suite.
func Of[M model.Model](open func(httpx.Config) (M, error)) func(httpx.Config) (model.Model, error) {
	return func(c httpx.Config) (model.Model, error) { return open(c) }
}

// Keys of the suite. Errors must hold neither.
const (
	key     = "sk-conformance-0123456789"
	keyName = "CONFORMANCE_API_KEY"
)

// Test runs the suite.
func Test(t *testing.T, a Adapter) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, Adapter)
	}{
		{"ThinkingTextAndParallelCalls", testAnswer},
		{"RefusalIsAStopReason", testRefusal},
		{"ServerThatCountsNothingGetsAnEstimate", testEstimate},
		{"EveryFailureHasItsClassAndOneSentence", testFailures},
		{"JSONDocumentInsteadOfAStreamIsItsError", testDocument},
		{"LineAboveTheBoundIsAnError", testLongLine},
		{"HangEndsAtOnceWhenCancelled", testCancel},
		{"ConsumerThatStopsEndsTheRequest", testStop},
		{"MissingKeyIsNamed", testMissingKey},
		{"ServerWithoutKeysGetsNone", testNoKey},
		{"EnvironmentIsNotRead", testEnvironment},
		{"HeadersOfTheUserWin", testHeaders},
		{"KeyDoesNotFollowRedirects", testRedirect},
		{"ErrorTextsRedactWhatTheServerRepeats", testRedaction},
		{"NewRefusesAnAddressThatIsNone", testAddress},
		{"AddressesKeepTheirQuery", testQuery},
		{"ASchemaThatIsNoJSONIsInvalid", testSchema},
		{"SameRequestGivesTheSameBytesAndStaysUnchanged", testSameBytes},
		{"JudgeTakesWhatFitMakesOfAnyConversation", Judge},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, a) })
	}
}

// start serves a script over the network and gives a model that calls it.
func (a Adapter) start(t *testing.T, lines string, change ...func(*modeltest.Config, *httpx.Config)) (model.Model, *modeltest.Server) {
	t.Helper()
	sc, c := a.Config, httpx.Config{Info: a.Info, Key: key, KeyName: keyName}
	sc.Script, sc.Key, sc.Keep = modeltest.Script(t, "{\"script\":1,\"chunk\":7}\n"+lines), key, -1
	for _, f := range change {
		f(&sc, &c)
	}
	server := a.Server(sc)
	return a.at(t, server, c), server
}

// at returns a model that calls h over the network.
func (a Adapter) at(t *testing.T, h http.Handler, c httpx.Config) model.Model {
	t.Helper()
	c.BaseURL, c.HTTP = modeltest.Serve(t, h)+a.Base, modeltest.Client(t)
	return a.open(t, c)
}

// inMemory returns a model whose server answers everything without a network.
func (a Adapter) inMemory(t testing.TB) (model.Model, *modeltest.Server) {
	t.Helper()
	sc := a.Config
	sc.Script, sc.Keep = modeltest.Script(t, "{\"script\":1}\n"+`{"again":true,"do":[{"text":"fine"}]}`), -1
	server := a.Server(sc)
	return a.open(t, httpx.Config{Info: a.Info, BaseURL: "http://test.invalid" + a.Base, Key: key, HTTP: modeltest.Transport(server)}), server
}

func (a Adapter) open(t testing.TB, c httpx.Config) model.Model {
	t.Helper()
	m, err := a.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func collect(ctx context.Context, m model.Model) (modeltest.Answer, error) {
	return modeltest.Collect(m.Stream(ctx, modeltest.Ask("hello")))
}
