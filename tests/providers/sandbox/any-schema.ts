/** Random schemas that some value meets, in the keywords that clients use. */
import fc from "fast-check";

export type Schema = Record<string, unknown> | boolean;

const name = fc.constantFrom(
  ..."city name age email tags count is_open start_date from to note id constructor".split(" "),
);
const FORMATS =
  "date-time date time duration email hostname ipv4 ipv6 uri uri-reference uuid json-pointer relative-json-pointer regex byte";
const PATTERNS = [
  "^[0-9]{5}$",
  "^[A-Z]{2}-\\d{4}$",
  "^(foo|bar)+$",
  "^\\+?[1-9]\\d{1,14}$",
  "^[a-z]+(?:-[a-z]+)*$",
  "^[^@]+@[^@]+\\.[a-z]{2,}$",
  "^(?<y>\\d{4})-(?:0[1-9]|1[0-2])$",
  "^\\p{Lu}\\p{L}*$",
  "^(?=.*[A-Z])(?=.*\\d).{8,}$",
  "^$",
  "é|ß",
];

const text = fc.oneof(
  fc.record({ type: fc.constant("string"), minLength: fc.nat(30), maxLength: fc.integer({ min: 30, max: 60 }) }, { requiredKeys: ["type"] }), // prettier-ignore
  fc.constantFrom(...FORMATS.split(" ")).map((format) => ({ type: "string", format })),
  fc.constantFrom(...PATTERNS).map((pattern) => ({ type: "string", pattern })),
);
const number = fc
  .tuple(
    fc.constantFrom("integer", "number"),
    fc.integer({ min: -1_000, max: 1_000 }),
    fc.integer({ min: 3, max: 500 }),
  )
  .chain(([type, low, span]) =>
    fc.constantFrom(
      { type },
      { type, minimum: low },
      { type, maximum: low },
      { type, exclusiveMinimum: low, maximum: low + span },
      { type, minimum: low, exclusiveMaximum: low + span + 10, multipleOf: 5 },
    ),
  );
const fixed = fc.oneof(
  fc.json().map((json) => ({ const: JSON.parse(json) as unknown })),
  fc
    .uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 })
    .map((members) => ({ enum: members })),
  fc.constantFrom<Schema>({ type: "boolean" }, { type: "null" }, {}, true, { type: ["null", "integer"] }),
);

export const { schema: anySchema } = fc.letrec<{ schema: Schema; object: Schema }>((tie) => ({
  object: fc
    .tuple(
      fc.dictionary(name, tie("schema"), { maxKeys: 4 }),
      fc.nat(4),
      fc.constantFrom(undefined, true, false),
      fc.nat(5),
    )
    .map(([properties, required, additionalProperties, least]) => ({
      type: "object",
      properties: { ...properties },
      required: Object.keys(properties).slice(0, required),
      ...(additionalProperties === undefined ? {} : { additionalProperties }),
      ...(additionalProperties === false ? {} : { minProperties: least }),
    })),
  schema: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    text,
    number,
    fixed,
    tie("object"),
    fc
      .tuple(tie("schema"), fc.nat(4), fc.nat(4))
      .map(([items, least, more]) => ({ type: "array", items, minItems: least, maxItems: least + more })),
    fc
      .array(tie("schema"), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: "array", prefixItems, items: false })),
    fc.integer({ min: 1, max: 6 }).map((minItems) => ({
      type: "array",
      uniqueItems: true,
      minItems,
      items: { type: "integer", minimum: 3, maximum: 12 },
    })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((branches) => ({
      oneOf: branches.map((value, at) => ({
        type: "object",
        properties: { kind: { const: `kind ${at}` }, value },
        required: ["kind", "value"],
      })),
    })),
    fc.tuple(tie("schema"), tie("schema")).map(([left, right]) => ({
      allOf: [
        { type: "object", properties: { left }, required: ["left"] },
        { type: "object", properties: { right }, required: ["right"] },
      ],
    })),
  ),
}));
