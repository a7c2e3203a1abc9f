package failure

import (
	"errors"

	"scorel/internal/engine/model"
	"scorel/protocol"
)

// OfModel is why a model cannot be used, as a client is told of it.
func OfModel(err error) error {
	var me *model.Error
	if errors.As(err, &me) {
		code := protocol.CodeInvalidRequest
		if me.Class == model.ClassAuth {
			code = protocol.CodeProviderError
		}
		return protocol.About("model", "", code, "%s", wholeSentence(me.Message))
	}
	return protocol.Errorf(protocol.CodeProviderError, "%s", wholeSentence(err.Error()))
}

// ModelProblem is why a model cannot be used, as the end of a sentence.
func ModelProblem(err error) string {
	var me *model.Error
	if errors.As(err, &me) {
		return me.Message
	}
	return err.Error()
}
