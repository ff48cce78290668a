/** Part of protobuf's wire format that Monty's protocol uses. */

/** Fields by number. Strings and bytes are encoded with their length, lists as repeated fields. */
export interface Message {
  readonly [field: number]: Content | readonly Message[];
}
type Content = number | bigint | string | { readonly double: number } | Message;

/** Decoded fields by number: integers as bigint, all others as bytes. */
export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH = 2;
const FIXED_32 = 5;

export function encode(message: Message): Buffer {
  const parts: Buffer[] = [];
  for (const [field, content] of Object.entries(message) as [string, Message[number]][]) {
    for (const one of Array.isArray(content) ? (content as readonly Message[]) : [content]) {
      parts.push(...encodeField(Number(field), one));
    }
  }
  return Buffer.concat(parts);
}

function encodeField(field: number, content: Content): Buffer[] {
  const key = (wire: number): Buffer => varint(BigInt(field * 8 + wire));
  if (typeof content === "number" || typeof content === "bigint") return [key(VARINT), varint(BigInt(content))];
  if (typeof content === "object" && "double" in content) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(content.double);
    return [key(FIXED_64), bytes];
  }
  const bytes = typeof content === "string" ? Buffer.from(content) : encode(content);
  return [key(LENGTH), varint(BigInt(bytes.length)), bytes];
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

/** @throws RangeError if the bytes are not a message */
export function decode(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const number = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
      if (shift > 63n) throw new RangeError("a number of more than 64 bits");
    }
  };
  const slice = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError("a field longer than its message");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(number());
    const wire = key % 8;
    const field = (key - wire) / 8;
    let content: bigint | Buffer;
    if (wire === VARINT) content = number();
    else if (wire === FIXED_64) content = slice(8);
    else if (wire === LENGTH) content = slice(Number(number()));
    else if (wire === FIXED_32) content = slice(4);
    else throw new RangeError("an unknown type of field");
    const before = fields.get(field);
    if (before) before.push(content);
    else fields.set(field, [content]);
  }
  return fields;
}

/** Returns the first value of a field. */
export function first(fields: Fields, field: number): bigint | Buffer | undefined {
  return fields.get(field)?.[0];
}
