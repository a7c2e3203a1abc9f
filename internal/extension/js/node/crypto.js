(function (module, internal, native) {
  "use strict";
  const { n, absent, bytesOf } = internal;
  const { Buffer } = n.module("buffer");
  const bytes = (v, e) => (typeof v === "string" ? Buffer.from(v, e) : bytesOf(v));
  const out = (ab, e) => { const b = Buffer.from(ab); return e === undefined || e === "buffer" ? b : b.toString(e); };
  class Hash {
    constructor(state) { Object.defineProperty(this, "state", { value: state }); Object.defineProperty(this, "done", { value: false, writable: true }); }
    update(v, e) { if (this.done) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" }); this.state.update(bytes(v, e)); return this; }
    digest(e) { if (this.done) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" }); this.done = true; return out(this.state.digest(), e); }
    copy() { return new Hash(this.state.copy()); }
  }
  const later = (make, cb) => { if (!cb) return make(); let v, err = null; try { v = make(); } catch (e) { err = e; } process.nextTick(cb, err, v); };
  const int = (lo, hi) => {
    if (!Number.isSafeInteger(lo) || !Number.isSafeInteger(hi) || hi <= lo || hi - lo >= 2 ** 48) throw new RangeError("max must be greater than min, by less than 2^48");
    const span = hi - lo, limit = 2 ** 48 - (2 ** 48 % span);
    for (;;) { const v = Buffer.from(n.random(6)).readUIntBE(0, 6); if (v < limit) return lo + (v % span); }
  };
  module.exports = {
    createHash: (alg) => new Hash(native.hash(String(alg).toLowerCase(), null)),
    createHmac: (alg, key) => new Hash(native.hash(String(alg).toLowerCase(), bytes(key).slice())),
    hash: (alg, v, e = "hex") => new Hash(native.hash(String(alg).toLowerCase(), null)).update(v).digest(e),
    getHashes: () => ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"],
    randomBytes: (k, cb) => later(() => Buffer.from(n.random(k)), cb),
    randomUUID: () => n.uuid(),
    randomInt: (a, b, cb) => { if (typeof b === "function") { cb = b; b = undefined; } return later(() => (b === undefined ? int(0, a) : int(a, b)), cb); },
    randomFillSync: (b, at = 0, k = b.length - at) => { new Uint8Array(b.buffer, b.byteOffset + at, k).set(new Uint8Array(n.random(k))); return b; },
    timingSafeEqual: (a, b) => {
      a = bytesOf(a); b = bytesOf(b);
      if (a.length !== b.length) throw Object.assign(new RangeError("Input buffers must have the same byte length"), { code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH" });
      return native.equal(a, b);
    },
    pbkdf2Sync: (pw, salt, rounds, len, alg) => Buffer.from(native.pbkdf2(bytes(pw).slice(), bytes(salt).slice(), rounds, len, String(alg).toLowerCase())),
    webcrypto: crypto, getRandomValues: (v) => crypto.getRandomValues(v), constants: {},
  };
  Object.defineProperty(module.exports, "subtle", { enumerable: true, get: () => crypto.subtle });
  absent(module.exports, "crypto", ["createCipheriv", "createDecipheriv", "createSign", "createVerify", "sign", "verify", "generateKeyPair", "generateKeyPairSync", "createPublicKey", "createPrivateKey", "createSecretKey", "scrypt", "scryptSync", "pbkdf2", "hkdf", "hkdfSync", "createDiffieHellman", "createECDH", "publicEncrypt", "privateDecrypt"]);
})
