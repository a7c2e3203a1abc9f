package protocol

// Requests about payloads.
type (
	// GetBlob reads a part (at most 48 KiB) of a payload that the session names, or of an
	// export that this client asked for and that the host still keeps; the answer is
	// [BlobPart].
	GetBlob struct {
		SHA256 string `json:"sha256" check:"sha256"`
		Offset int64  `json:"offset" check:"min=0"`
		Length int    `json:"length" check:"min=0"`
	}
	// PutBlob sends a part of a payload; the answer to the last one names it. With
	// ForImport it is not a payload of a conversation but a part of a file for
	// [ImportSession]: the host keeps it for this client until that is done, or for 10
	// minutes after its last use.
	PutBlob struct {
		UploadID  string `json:"uploadId" check:"required,max=MaxName"`
		Offset    int64  `json:"offset" check:"min=0"`
		Data      []byte `json:"data"`
		Last      bool   `json:"last,omitempty"`
		ForImport bool   `json:"forImport,omitempty"`
	}
)

// What they are answered with.
type (
	// BlobRef names a payload. An export that older hosts make may be in Parts, in order,
	// and have no SHA256 of its own. Notices say what an export lacks.
	BlobRef struct {
		SHA256  string    `json:"sha256,omitempty"`
		Size    int64     `json:"size"`
		Parts   []BlobRef `json:"parts,omitempty"`
		Notices []string  `json:"notices,omitempty"`
	}
	// BlobPart is a part of a payload.
	BlobPart struct {
		Data []byte `json:"data"`
		Size int64  `json:"size"` // of the whole
	}
)

var (
	getBlobSpec = Spec{
		Name: "get_blob", Scope: ScopeEither, Grant: GrantView,
		New: func() Request { return new(GetBlob) }, Reply: func() Response { return new(BlobPart) },
	}
	putBlobSpec = Spec{
		Name: "put_blob", Scope: ScopeDevice, Grant: GrantControl, Order: inUpload,
		New: func() Request { return new(PutBlob) }, Reply: func() Response { return new(BlobRef) },
	}
)

// inUpload keeps the parts of a payload in their order.
func inUpload(c Call) string { return "upload:" + c.Request.(*PutBlob).UploadID }
