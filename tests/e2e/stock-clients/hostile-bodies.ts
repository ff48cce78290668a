/** Bodies of Responses calls that are none, and texts that some readers trip over. */

/** Nesting that no body has. */
export const DEEP = `${"[".repeat(70)}${"]".repeat(70)}`;

export const HOSTILE_BODIES: readonly (readonly [what: string, body: string | Uint8Array<ArrayBuffer>])[] = [
  ["input of numbers", '{"model":"sandbox-chat","input":[1,2]}'],
  ["input of nothing", '{"model":"sandbox-chat","input":[null]}'],
  ["input of lists", '{"model":"sandbox-chat","input":[[]]}'],
  ["an empty object as input", '{"model":"sandbox-chat","input":{}}'],
  ["deep input", `{"model":"sandbox-chat","input":${DEEP}}`],
  ["deep metadata", `{"model":"sandbox-chat","input":"x","metadata":{"a":${DEEP}}}`],
  ["a type that is an object", '{"model":"sandbox-chat","input":[{"type":{"toString":1}}]}'],
  ["a type of Object's", '{"model":"sandbox-chat","input":[{"type":"__proto__"}]}'],
  ["a tool of Object's", '{"model":"sandbox-chat","input":"x","tools":[{"type":"constructor"}]}'],
  ["a previous response that is a list", '{"model":"sandbox-chat","input":"x","previous_response_id":[]}'],
  ["a conversation without an id", '{"model":"sandbox-chat","input":"x","conversation":{}}'],
  [
    "an id with a zero in a reference",
    String.raw`{"model":"sandbox-chat","input":[{"type":"item_reference","id":"\u0000"}]}`,
  ],
  ["a conversation with a zero", String.raw`{"model":"sandbox-chat","input":"x","conversation":"conv_\u0000"}`],
  ["no UTF-8", Buffer.from('{"model":"sandbox-chat","input":"\xff"}', "latin1")],
  ["half of a body", '{"model":"sandbox-chat","input":"x'],
];

export const NAUGHTY_TEXTS = [
  "\u0000",
  "\ud800",
  "\uffff",
  "\u202e",
  "' or 1=1; --",
  "{{7*7}}",
  "%s%n",
  "\r\ndata: [DONE]\n\n",
] as const;
