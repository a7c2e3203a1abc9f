(function (module, internal) {
  "use strict";
  const { n, inspect, absent } = internal;
  const same = n.module("util").same;
  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) { super(message); this.name = "AssertionError"; this.code = "ERR_ASSERTION"; this.actual = actual; this.expected = expected; this.operator = operator; this.generatedMessage = false; }
  }
  const fail = (message, text, actual, expected, operator) => {
    if (message instanceof Error) throw message;
    throw new AssertionError({ message: message === undefined ? text : String(message), actual, expected, operator });
  };
  const two = (name, test, words) => (a, b, message) => { if (!test(a, b)) fail(message, "Expected " + inspect(a) + " " + words + " " + inspect(b), a, b, name); };
  const matches = (e, want, message) => {
    if (want === undefined || typeof want === "string") return;
    if (typeof want === "function") {
      if (want.prototype !== undefined && e instanceof want) return;
      if (Error.isPrototypeOf && Error.isPrototypeOf(want)) throw e;
      if (want.call({}, e) === true) return;
      fail(message, "The validation function did not return true", e, want, "throws");
    }
    if (want instanceof RegExp) { if (!want.test(String(e))) fail(message, "The error " + inspect(String(e)) + " does not match " + want, e, want, "throws"); return; }
    for (const k of Object.keys(want)) if (want[k] instanceof RegExp && typeof e[k] === "string" ? !want[k].test(e[k]) : !same(e[k], want[k], true, [])) fail(message, "The error's " + k + " is " + inspect(e[k]) + ", not " + inspect(want[k]), e, want, "throws");
  };
  const assert = (v, message) => { if (!v) fail(message, "The expression evaluated to a falsy value: " + inspect(v), v, true, "=="); };
  Object.assign(assert, {
    ok: assert, AssertionError,
    equal: two("==", (a, b) => a == b || (a !== a && b !== b), "to equal"),
    notEqual: two("!=", (a, b) => !(a == b), "not to equal"),
    strictEqual: two("strictEqual", Object.is, "to be strictly equal to"),
    notStrictEqual: two("notStrictEqual", (a, b) => !Object.is(a, b), "not to be strictly equal to"),
    deepEqual: two("deepEqual", (a, b) => same(a, b, false, []), "to be loosely deep-equal to"),
    notDeepEqual: two("notDeepEqual", (a, b) => !same(a, b, false, []), "not to be loosely deep-equal to"),
    deepStrictEqual: two("deepStrictEqual", (a, b) => same(a, b, true, []), "to be deep-equal to"),
    notDeepStrictEqual: two("notDeepStrictEqual", (a, b) => !same(a, b, true, []), "not to be deep-equal to"),
    match: two("match", (s, re) => re.test(s), "to match"),
    doesNotMatch: two("doesNotMatch", (s, re) => !re.test(s), "not to match"),
    fail: (message = "Failed") => fail(message, "Failed", undefined, undefined, "fail"),
    ifError: (e) => { if (e !== null && e !== undefined) throw e instanceof Error ? e : new AssertionError({ message: "ifError got unwanted exception: " + inspect(e), actual: e, operator: "ifError" }); },
    throws: (f, want, message) => { let thrown = false, e; try { f(); } catch (x) { thrown = true; e = x; } if (!thrown) fail(typeof want === "string" ? want : message, "Missing expected exception.", undefined, want, "throws"); matches(e, want, message); },
    doesNotThrow: (f, message) => { try { f(); } catch (e) { fail(typeof message === "string" ? message : undefined, "Got unwanted exception: " + (e && e.message), e, undefined, "doesNotThrow"); } },
    rejects: async (p, want, message) => { let thrown = false, e; try { await (typeof p === "function" ? p() : p); } catch (x) { thrown = true; e = x; } if (!thrown) fail(typeof want === "string" ? want : message, "Missing expected rejection.", undefined, want, "rejects"); matches(e, want, message); },
    doesNotReject: async (p, message) => { try { await (typeof p === "function" ? p() : p); } catch (e) { fail(message, "Got unwanted rejection: " + (e && e.message), e, undefined, "doesNotReject"); } },
  });
  assert.strict = Object.assign((...a) => assert(...a), assert, { equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual });
  assert.strict.strict = assert.strict;
  absent(assert, "assert", ["CallTracker", "partialDeepStrictEqual"]);
  module.exports = assert;
})
