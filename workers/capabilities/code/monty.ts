/**
 * Runs scripts in Monty, an interpreter for a subset of Python, as a separate program. The protocol is documented in Monty's
 * `crates/monty-proto/proto/monty/v1/monty.proto`. Each frame consists of a length (4 bytes, little endian) and a protobuf message. The
 * program's package is used directly, because the newest JavaScript package contains an older interpreter.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

import { CAPABILITY_TEXT_BYTES_MAX } from "../limits.ts";

const PROTOCOL_VERSION = 2;
const MEMORY_BYTES_MAX = 64 * 1_048_576;
const CALLS_DEPTH_MAX = 500;
/** Maximum nesting depth of the returned value. It is a limit of the interpreter, whose messages have two levels per level of the value. */
const VALUE_DEPTH_MAX = 48;
/** Maximum size of a message, in bytes. Printed text is limited by the script's memory. */
const FRAME_BYTES_MAX = 4 * MEMORY_BYTES_MAX;
/**
 * Maximum size of the protocol message with the returned value, in bytes. Its JSON may have `CAPABILITY_TEXT_BYTES_MAX` bytes. An integral
 * float takes 11 bytes in the message and 2 in JSON.
 */
const VALUE_BYTES_MAX = 8 * CAPABILITY_TEXT_BYTES_MAX;
/** Maximum number of times that one script may use names and files that do not exist. Monty asks this program about each of them. */
const QUESTIONS_MAX = 10_000;

/** Protobuf field numbers of Monty's requests, and of the events that end or suspend the script. */
const CONFIGURE = 1;
const FEED = 3;
const RESUME_CALL = 4;
const RESUME_NAME = 5;
const EVENT = { print: 1, functionCall: 2, osCall: 3, nameLookup: 4, complete: 6, error: 7, ok: 10 } as const;

export interface Script {
  readonly code: string;
  readonly args: object;
  /** Maximum execution time of the script, in seconds. */
  readonly timeout: number;
  /** Called with each chunk of printed text. */
  readonly onPrint: (text: string) => void;
}

/** Returns the path of the Monty program. @throws Error if the program is not installed for this system */
function montyPath(): string {
  return join(createRequire(import.meta.url).resolve("@pydantic/monty-linux-x64-gnu/package.json"), "../monty");
}

/**
 * Python code that runs before the script and replaces `round`, so that results equal CPython's. Monty rounds the product of the number and
 * a power of ten, whereas CPython rounds the number itself.
 */
const PRELUDE = `def round(number, ndigits=None, *, _round=round, _isinstance=isinstance, _float=float):
    if ndigits is not None and 0 < ndigits < 300 and _isinstance(number, _float) and number - number == 0:
        return _float(f"{number:.{ndigits}f}")
    return _round(number, ndigits)`;

/**
 * Runs a script, and returns its last value as JSON.
 * @throws MediaError that contains the error of the script
 */
export async function runMonty({ code, args, timeout, onPrint }: Script): Promise<unknown> {
  const child = Bun.spawn([montyPath(), "subprocess"], { stdin: "pipe", stdout: "pipe", stderr: "ignore", env: {} });
  const send = async (request: Message): Promise<void> => {
    const bytes = encode(request);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(bytes.length);
    await child.stdin.write(Buffer.concat([head, bytes]));
    await child.stdin.flush();
  };
  const events = framesOf(child.stdout);
  try {
    const limits = { 1: Math.round(timeout * 1_000_000), 2: MEMORY_BYTES_MAX, 4: CALLS_DEPTH_MAX };
    // Field 6: an assertion without a message gets none, as in CPython.
    await send({ [CONFIGURE]: { 1: "script.py", 2: limits, 6: 0n, 9: PROTOCOL_VERSION } });
    let isPrepared = false;
    for (let questions = 0; questions <= QUESTIONS_MAX; questions++) {
      const { event, body, bytes } = await nextEvent(events, onPrint);
      if (event === EVENT.ok) await send({ [FEED]: { 1: PRELUDE } });
      else if (event === EVENT.complete && !isPrepared) {
        isPrepared = true;
        await send({ [FEED]: { 1: code, 2: { 1: "args", 2: objectOf(args) } } });
      } else if (event === EVENT.complete && bytes > VALUE_BYTES_MAX) throw tooLargeValue();
      else if (event === EVENT.complete) return jsonOf(message(body, 1));
      else if (event === EVENT.error) throw failed(message(body, 1));
      else if (event === EVENT.nameLookup) await send({ [RESUME_NAME]: { 2: {} } });
      else if (event === EVENT.osCall) await send({ [RESUME_CALL]: { 1: Number(first(body, 1) ?? 0), 2: { 5: {} } } });
      else if (event === EVENT.functionCall)
        await send({ [RESUME_CALL]: { 1: Number(first(body, 4) ?? 0), 2: { 4: text(body, 1) } } });
      else throw new MediaError("invalid", `The script failed: it uses a feature that is not available (${event}).`);
    }
    throw new MediaError("too_large", `Expected at most ${QUESTIONS_MAX} uses of names and files that do not exist.`);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}

async function nextEvent(frames: AsyncGenerator<Buffer>, onPrint: (text: string) => void) {
  for (;;) {
    const { value: frame } = await frames.next();
    if (frame === undefined) {
      // The interpreter exits without an error for lists of more than half a million numbers.
      throw new MediaError(
        "too_large",
        "The interpreter stopped: the last value or the memory of the script is too large.",
      );
    }
    const fields = decode(frame);
    const print = fields.get(EVENT.print)?.[0];
    if (print === undefined) {
      const event = [...fields.keys()].find((key) => key < 20) ?? 0;
      return { event, body: message(fields, event), bytes: frame.length };
    }
    onPrint(text(decode(print as Buffer), 2));
  }
}

async function* framesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let [size, expected] = [0, 4];
  for await (const chunk of stream) {
    pending.push(Buffer.from(chunk));
    size += chunk.length;
    while (size >= expected) {
      const all = Buffer.concat(pending);
      expected = 4 + all.readUInt32LE();
      if (expected > FRAME_BYTES_MAX) throw tooLargeValue();
      if (size >= expected) {
        yield all.subarray(4, expected);
        const remainder = all.subarray(expected);
        [pending, size, expected] = [[remainder], remainder.length, 4];
      } else pending = [all];
    }
  }
}

export function tooLargeValue(): MediaError {
  return new MediaError(
    "too_large",
    `Expected a value of at most ${CAPABILITY_TEXT_BYTES_MAX} bytes as JSON, got more.`,
  );
}

function failed(exception: Fields): MediaError {
  const type = text(exception, 1);
  const detail = text(exception, 2);
  if (type === "TimeoutError" && detail.startsWith("time limit exceeded")) {
    return new MediaError("too_large", "Expected the script to end within params.timeout.");
  }
  if (type === "RuntimeError" && detail === "Max output depth exceeded") {
    return new MediaError("too_large", `Expected a value nested at most ${VALUE_DEPTH_MAX} deep, got more.`);
  }
  const missing = /^The monty syntax parser does not yet support (.*)$/.exec(detail)?.[1];
  const frame = exception.get(3)?.at(-1);
  const line = frame === undefined ? undefined : first(message(decode(frame as Buffer), 2), 1);
  const place = line === undefined ? "" : ` (line ${String(line)})`;
  if (missing !== undefined) {
    return new MediaError("unsupported", `Expected Python without ${missing}, which does not run here${place}.`);
  }
  const said = (detail === "" ? type : `${type}: ${detail}`).slice(0, 300);
  return new MediaError("invalid", `The script failed: ${said}${place}`);
}

/** Converts a JSON value to a Python object in Monty's protocol. */
function objectOf(value: unknown): Message {
  if (value === null || value === undefined) return { 2: {} };
  if (typeof value === "boolean") return { 4: value ? 1n : 0n };
  if (typeof value === "string") return { 8: value };
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) return { 7: { double: value } };
    return { 5: value < 0 ? -2n * BigInt(value) - 1n : 2n * BigInt(value) };
  }
  if (Array.isArray(value)) return { 11: { 1: value.map(objectOf) } };
  return { 14: { 1: Object.entries(value).map(([key, one]) => ({ 1: objectOf(key), 2: objectOf(one) })) } };
}

/** Converts a Python object in Monty's protocol to a JSON value. */
function jsonOf(object: Fields): unknown {
  const [kind = 2, [content] = []] = [...object][0] ?? [];
  const inner = (): Fields => decode(content as Buffer);
  const items = (field: number): unknown[] => (inner().get(field) ?? []).map((one) => jsonOf(decode(one as Buffer)));
  switch (kind) {
    case 1:
    case 2:
    case 3:
      return null;
    case 4:
      return content !== 0n;
    case 5:
      return integer(((content as bigint) >> 1n) ^ -((content as bigint) & 1n));
    case 6: {
      const size = BigInt(`0x0${(first(inner(), 2) as Buffer).toString("hex")}`);
      return integer(first(inner(), 1) === 1n ? -size : size);
    }
    case 7: {
      const double = (content as Buffer).readDoubleLE();
      return Number.isFinite(double) ? double : null;
    }
    case 9:
      return (content as Buffer).toString("base64");
    case 11:
    case 12:
    case 15:
    case 16:
      return items(1);
    case 13:
      return items(3);
    case 14: {
      const pairs = (inner().get(1) ?? []).map((pair) => decode(pair as Buffer));
      return Object.fromEntries(pairs.map((pair) => [keyOf(jsonOf(message(pair, 1))), jsonOf(message(pair, 2))]));
    }
    case 30:
      return text(inner(), 2);
    case 8:
    case 26:
    case 27:
    case 29:
      return (content as Buffer).toString();
    default:
      throw new MediaError("invalid", "Expected the last value to be of types that JSON has. Convert dates and instances of classes to text or dicts."); // prettier-ignore
  }
}

function integer(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
}

function keyOf(key: unknown): string {
  return typeof key === "object" && key !== null ? JSON.stringify(key) : String(key);
}

function message(fields: Fields, field: number): Fields {
  const content = first(fields, field);
  return content instanceof Uint8Array ? decode(content) : new Map();
}

function text(fields: Fields, field: number): string {
  const content = first(fields, field);
  return content instanceof Uint8Array ? content.toString() : "";
}

/** Encodes and decodes the part of protobuf's wire format that Monty's protocol uses. */

/** Fields by number. Strings and bytes are encoded with their length, lists as repeated fields. */
interface Message {
  readonly [field: number]: Content | readonly Message[];
}
type Content = number | bigint | string | { readonly double: number } | Message;

/** Decoded fields by number. Integers are bigints; all other values are bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH = 2;
const FIXED_32 = 5;

function encode(message: Message): Buffer {
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
  for (let remaining = value; ; remaining >>= 7n) {
    if (remaining < 128n) return Buffer.from([...bytes, Number(remaining)]);
    bytes.push(Number(remaining & 127n) | 128);
  }
}

/** Decodes a message. @throws RangeError if the bytes are not a message */
function decode(bytes: Buffer): Fields {
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

/** Returns the first value of a field; undefined if the field is absent. */
function first(fields: Fields, field: number): bigint | Buffer | undefined {
  return fields.get(field)?.[0];
}
