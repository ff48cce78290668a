/** Random schemas that some value meets, in the keywords clients use. */
import fc from "fast-check";

export type Schema = Record<string, unknown> | boolean;

const name = fc.constantFrom(
  "city",
  "name",
  "age",
  "email",
  "tags",
  "count",
  "is_open",
  "start_date",
  "from",
  "to",
  "note",
  "id",
  "constructor",
);

const stringSchema = fc
  .tuple(fc.nat(30), fc.nat(30), fc.boolean(), fc.boolean())
  .map(([least, more, hasLeast, hasMost]) => ({
    type: "string",
    ...(hasLeast ? { minLength: least } : {}),
    ...(hasMost ? { maxLength: least + more } : {}),
  }));
const FORMATS =
  "date-time date time duration email hostname ipv4 ipv6 uri uri-reference uuid json-pointer relative-json-pointer regex byte".split(
    " ",
  );
const formatSchema = fc.constantFrom(...FORMATS).map((format) => ({ type: "string", format }));
const PATTERNS = [
  "^[0-9]{5}$",
  "^[A-Z]{2}-\\d{4}$",
  "^(foo|bar)+$",
  "\\d",
  "^#[0-9a-f]{6}$",
  "^\\+?[1-9]\\d{1,14}$",
  "^[a-z]+(?:-[a-z]+)*$",
  "^[^@]+@[^@]+\\.[a-z]{2,}$",
  "^\\S+\\s\\S+$",
  "^(?<y>\\d{4})-(?:0[1-9]|1[0-2])$",
  "^.{3,}$",
  "^\\p{Lu}\\p{L}*$",
  "^$",
  "é|ß",
];
const patternSchema = fc.constantFrom(...PATTERNS).map((pattern) => ({ type: "string", pattern }));
const numberSchema = fc
  .tuple(
    fc.constantFrom("integer", "number"),
    fc.integer({ min: -1_000, max: 1_000 }),
    fc.integer({ min: 3, max: 500 }),
    fc.nat(3),
    fc.boolean(),
  )
  .map(([type, low, span, form, hasStep]) => ({
    type,
    ...[{}, { minimum: low }, { exclusiveMinimum: low }, { maximum: low }][form],
    ...(form < 3 ? { maximum: low + span } : {}),
    ...(hasStep && span > 20 ? { multipleOf: 5 } : {}),
  }));
const fixedSchema = fc.oneof(
  fc.json().map((json) => ({ const: JSON.parse(json) as unknown })),
  fc
    .uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1, maxLength: 4 })
    .map((members) => ({ enum: members })),
  fc.constantFrom<Schema>(
    { type: "boolean" },
    { type: "null" },
    {},
    true,
    { type: ["string", "null"] },
    { type: ["null", "integer"] },
  ),
);

export const { schema: anySchema } = fc.letrec<{ schema: Schema; object: Schema }>((tie) => ({
  object: fc
    .tuple(
      fc.dictionary(name, tie("schema"), { maxKeys: 4 }),
      fc.nat(4),
      fc.constantFrom<Schema | undefined>(undefined, true, false, { type: "integer" }),
      fc.nat(5),
    )
    .map(([properties, requiredCount, additionalProperties, least]) => ({
      type: "object",
      properties: { ...properties },
      required: Object.keys(properties).slice(0, requiredCount),
      ...(additionalProperties === undefined ? {} : { additionalProperties }),
      ...(additionalProperties === false ? {} : { minProperties: least }),
    })),
  schema: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    stringSchema,
    formatSchema,
    patternSchema,
    numberSchema,
    fixedSchema,
    tie("object"),
    fc.tuple(tie("schema"), fc.nat(4), fc.nat(4), fc.boolean()).map(([items, least, more, hasMost]) => ({
      type: "array",
      items,
      minItems: least,
      ...(hasMost ? { maxItems: least + more } : {}),
    })),
    fc
      .array(tie("schema"), { minLength: 1, maxLength: 3 })
      .map((prefixItems) => ({ type: "array", prefixItems, items: false })),
    fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 6 })).map(([minimum, count]) => ({
      type: "array",
      uniqueItems: true,
      minItems: count,
      items: { type: "integer", minimum, maximum: minimum + 9 },
    })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((branches) => ({
      oneOf: branches.map((value, at) => ({
        type: "object",
        properties: { kind: { const: `kind ${at}` }, value },
        required: ["kind", "value"],
      })),
    })),
    fc.tuple(tie("schema"), tie("schema")).map(([a, b]) => ({
      allOf: [
        { type: "object", properties: { left: a }, required: ["left"] },
        { type: "object", properties: { right: b }, required: ["right"] },
      ],
    })),
  ),
}));
