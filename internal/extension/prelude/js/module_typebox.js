// @sinclair/typebox: functions that make JSON Schemas. Static and the other types
// vanish when TypeScript is compiled.

// OPTIONAL marks the schema of a property that may be missing; it is not enumerable, so
// that it is not part of the schema.
const OPTIONAL = "~optional";

function mark(schema, optional) {
  const copy = { ...schema };
  if (optional) Object.defineProperty(copy, OPTIONAL, { value: true });
  return copy;
}

function objectSchema(properties, options) {
  const required = Object.keys(properties).filter((name) => !properties[name][OPTIONAL]);
  return { ...options, type: "object", ...(required.length > 0 ? { required } : {}), properties };
}

// reshape makes an object schema anew with other properties.
function reshape(schema, properties, options) {
  const { type, required, properties: before, ...rest } = schema;
  return objectSchema(properties, { ...rest, ...options });
}

function mapProperties(schema, fn) {
  return Object.fromEntries(Object.entries(schema.properties).map(([name, s]) => [name, fn(s)]));
}

function keysOf(keys) {
  if (Array.isArray(keys)) return keys;
  return keys.anyOf ? keys.anyOf.map((s) => s.const) : [keys.const];
}

function pick(schema, keep, options) {
  return reshape(schema, Object.fromEntries(Object.entries(schema.properties).filter(([name]) => keep(name))), options);
}

const types = once(() => ({
  Any: (options) => ({ ...options }),
  Unknown: (options) => ({ ...options }),
  Never: (options) => ({ ...options, not: {} }),
  Null: (options) => ({ ...options, type: "null" }),
  String: (options) => ({ ...options, type: "string" }),
  Number: (options) => ({ ...options, type: "number" }),
  Integer: (options) => ({ ...options, type: "integer" }),
  Boolean: (options) => ({ ...options, type: "boolean" }),
  RegExp: (pattern, options) => ({ ...options, type: "string", pattern: typeof pattern === "string" ? pattern : pattern.source }),
  Literal: (value, options) => ({ ...options, const: value, type: value === null ? "null" : typeof value }),
  Enum: (values, options) => ({
    ...options,
    // An enum of numbers also has its names as values, under the numbers.
    anyOf: Array.from(new Set(Object.keys(values).filter((k) => Number.isNaN(Number(k))).map((k) => values[k])), (value) => ({ const: value, type: typeof value })),
  }),
  Union: (schemas, options) => ({ ...options, anyOf: schemas }),
  Intersect: (schemas, options) => ({ ...options, allOf: schemas }),
  Not: (schema, options) => ({ ...options, not: schema }),
  Array: (items, options) => ({ ...options, type: "array", items }),
  Tuple: (items, options) => ({ ...options, type: "array", items, additionalItems: false, minItems: items.length, maxItems: items.length }),
  Object: (properties, options) => objectSchema(properties, options),
  Record: (key, value, options) => {
    const keys = key.const !== undefined || key.anyOf ? keysOf(key) : null;
    if (keys) return objectSchema(Object.fromEntries(keys.map((k) => [k, value])), options);
    return { ...options, type: "object", ...(key.pattern ? { patternProperties: { [key.pattern]: value } } : { additionalProperties: value }) };
  },
  Optional: (schema) => mark(schema, true),
  Required: (schema, options) => reshape(schema, mapProperties(schema, (s) => mark(s, false)), options),
  Partial: (schema, options) => reshape(schema, mapProperties(schema, (s) => mark(s, true)), options),
  Readonly: (schema) => schema,
  ReadonlyOptional: (schema) => mark(schema, true),
  Pick: (schema, keys, options) => pick(schema, (name) => keysOf(keys).includes(name), options),
  Omit: (schema, keys, options) => pick(schema, (name) => !keysOf(keys).includes(name), options),
  Composite: (schemas, options) => objectSchema(Object.assign({}, ...schemas.map((s) => s.properties)), options),
  KeyOf: (schema, options) => ({ ...options, anyOf: Object.keys(schema.properties).map((name) => ({ const: name, type: "string" })) }),
  Unsafe: (schema) => ({ ...schema }),
}));

// StringEnum is an enumeration as every provider takes it.
function StringEnum(values, options = {}) {
  return { ...options, type: "string", enum: Array.from(values) };
}

const TYPEBOX = "It has the builders of schemas: Object, String, Number, Array, Union, Optional and the like.";
define("@sinclair/typebox", () => ({ Type: types() }), TYPEBOX);
define("@sinclair/typebox/value", () => ({}), "The host checks the input of tools before they run.");
define("@sinclair/typebox/compiler", () => ({}), "The host checks the input of tools before they run.");
