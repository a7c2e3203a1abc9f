package history

import "scorel/protocol"

func harnessItemToLLM(ev protocol.Event, w *answer) action {
	body, ok := ev.Body.(*protocol.HarnessItem)
	if !ok {
		return skip
	}
	w.item = &body.Item
	return mergePrev
}
