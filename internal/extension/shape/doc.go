// Package shape turns messages of Scorel's log into the form that pi's hooks and
// extensions know, and back.
//
//	log                                       pi
//	user, assistant, tool_result              user, assistant, toolResult
//	text{text}, thinking{thinking,signature}  the same, with textSignature, thinkingSignature
//	tool_use{id,name,input}                   toolCall{id,name,arguments}
//	image{mediaType,blob}                     image{mimeType,data,blob}
//	usage{inputTokens,…}                      usage{input,output,cacheRead,cacheWrite,totalTokens,cost}
//	Bash, Read, Write, Edit, Grep, Glob       bash, read, write, edit, grep, find
//	end_turn, tool_use, max_tokens,           stop, toolUse, length,
//	cancelled, error, refusal                 aborted, error, stop
//
// pi puts a picture's bytes into a message; here they are in the host, and the message
// names them: data is empty and blob the name. On the way back data becomes the blob
// "data:" followed by the base64, which the host stores; without data a blob is taken as
// it is. What pi has no word for travels in fields whose names begin with scorel and comes
// back.
//
// All functions are pure and may be called concurrently.
package shape
