package httpx

import (
	"encoding/json"
	"strings"
	"time"
)

// details is what Google's errors say besides code and message
// (https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto).
type details struct {
	unavailable bool          // status UNAVAILABLE, which is how overload is told
	badKey      bool          // the key is wrong or expired: that is a 400, not a 401
	dayIsOver   bool          // a quota of a day is used up: waiting does not help
	retry       time.Duration // how long to wait; there is no Retry-After
}

func readDetails(status string, raw json.RawMessage) details {
	d := details{unavailable: status == "UNAVAILABLE"}
	var list []struct {
		Reason     string `json:"reason"`     // ErrorInfo
		RetryDelay string `json:"retryDelay"` // RetryInfo: seconds with up to nine decimals, as in "34.07s"
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"` // QuotaFailure
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return d
	}
	for _, one := range list {
		if one.Reason == "API_KEY_INVALID" {
			d.badKey = true
		}
		if n, err := time.ParseDuration(one.RetryDelay); err == nil {
			d.retry = max(d.retry, min(n, 24*time.Hour))
		}
		for _, v := range one.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				d.dayIsOver = true
			}
		}
	}
	return d
}
