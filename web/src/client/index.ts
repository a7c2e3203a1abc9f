/**
 * A client of a Scorel host for browsers and Node: it keeps itself connected, a request acts
 * once, and a session shows after a broken connection what it missed. See README.md.
 */
export { type Address, parseAddress } from "./address";
export { type Cache, type CacheKey, MemoryCache, maxCachedSessions } from "./cache";
export { maxWaiting, maxWaitingChars, UploadLostError } from "./calls";
export { Client, type ClientConfig, type State, type Status } from "./client";
export type { ClientChange, DeviceChanges } from "./device";
export { ClosedError, ConnectionError, PermanentError, type Problem, RequestError, transportClosed } from "./errors";
export { applyEvent, emptyLive, todosOf } from "./fold";
export { nextFrame, type Schedule } from "./frames";
export { type ClientKey, newKey } from "./handshake";
export { clientIDOf, deviceIDOf, newClientID, newRequestID, newSessionID } from "./ids";
export { browserKey, IndexedDBCache } from "./indexeddb";
export { watchPage } from "./page";
export { fetchBlob, upload } from "./payload";
export { defaultWindow, type Kept, Projection, type Screen } from "./projection";
export { Replay, type Taken, type Update } from "./replay";
export { type OpenOptions, Session, type SessionState } from "./session";
export { SessionIndex } from "./sessions";
export { type Paired, pair, type WebSocketConfig, type WebSocketLike, webSocket } from "./socket";
export type { Dial, Dialled, HostMessage, Receiver, Transport } from "./transport";
