/** Reads a call's body sent as multipart/form-data. Fields become members of the request, with the types in the request's schema. */
import { ApiError } from "#shared/base/errors.ts";
import { refuseMisspelt } from "#shared/json/misspelt-members.ts";

import { booleanOf } from "../../core/page.ts";

import { type Incoming, openIncoming } from "./incoming.ts";
import { boundaryOf, MultipartReader, type PartHead } from "./multipart.ts";

export interface FormBody {
  /** Properties of the request's schema that a form field may set. Other fields are ignored, unless they are a misspelt `max_credits`. */
  readonly members: Readonly<Record<string, { readonly type: string }>>;
  /** Handlers that receive the bytes of a file field, by the field's name. A client may add `[]` to the name. */
  readonly files: Readonly<Record<string, (head: PartHead, reader: MultipartReader) => Promise<void>>>;
  /** Maximum size of the whole form, in bytes. Absent: the handlers in `files` limit the size of their fields. */
  readonly bytesMax?: number;
}

export function isForm({ headers }: Request): boolean {
  return /^multipart\/form-data\b/i.test(headers.get("content-type") ?? "");
}

/**
 * Reads the form to its end and returns the request members that its fields set.
 * @throws ApiError `unsupported_media_type`, `request_too_large`, `request_timeout`, `invalid_request`
 */
export async function readFormBody(
  request: Request,
  { members, files, bytesMax = Infinity }: FormBody,
): Promise<Readonly<Record<string, unknown>>> {
  const tooLarge = new ApiError("request_too_large", `The request body is larger than ${bytesMax} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge;
  const boundary = boundaryOf(request.headers);
  const incoming = openIncoming(request);
  const reader = new MultipartReader(bounded(incoming, bytesMax, tooLarge), boundary);
  // A map, since a part may be named `constructor[]`.
  const read = new Map<string, unknown>();
  const ignored = new Set<string>();
  try {
    for (let head = await reader.nextPart(); head !== undefined; head = await reader.nextPart()) {
      const isItem = head.name.endsWith("[]");
      const name = isItem ? head.name.slice(0, -2) : head.name;
      const file = Object.hasOwn(files, name) ? files[name] : undefined;
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      if (!file && !member) {
        if (ignored.size < IGNORED_NAMES_MAX) ignored.add(name);
        continue;
      }
      const before = read.get(name);
      const isList = isItem && !file;
      if (before !== undefined && !(isList && Array.isArray(before))) {
        throw new ApiError("invalid_request", `Expected one ${name}, got several.`, { param: name });
      }
      if (file) read.set(name, await file(head, reader).then(() => FILE));
      else {
        const text = await reader.readField(name);
        read.set(name, isList ? [...((before as string[] | undefined) ?? []), text] : typed(text, member?.type));
      }
    }
  } catch (error) {
    incoming.drop();
    throw error;
  }
  if (Object.hasOwn(members, "max_credits") && !read.has("max_credits")) {
    refuseMisspelt<"max_credits">(Object.fromEntries([...ignored].map((name) => [name, true])), ["max_credits"]);
  }
  return Object.fromEntries([...read].filter(([, value]) => value !== FILE));
}

/** Maximum number of names of ignored fields that are compared with `max_credits`. */
const IGNORED_NAMES_MAX = 64;

/** Placeholder value of a file field that has been received. */
const FILE = Symbol("file");

/**
 * Yields the bytes of a file in chunks. Each chunk is valid only until the next one is read.
 * @throws ApiError `tooLarge` beyond `bytesMax`; `invalid_request` for a plain field or an empty file
 */
export async function* filePieces(
  { name, filename }: PartHead,
  reader: MultipartReader,
  bytesMax: number,
  tooLarge: () => ApiError,
): AsyncGenerator<Uint8Array> {
  const param = name.replace(/\[\]$/, "");
  if (filename === undefined) {
    const message = `Expected \`${param}\` to be a file with a filename, got a text field.`;
    throw new ApiError("invalid_request", message, { param });
  }
  let size = 0;
  for (let piece = await reader.nextBytes(); piece !== undefined; piece = await reader.nextBytes()) {
    size += piece.length;
    if (size > bytesMax) throw tooLarge();
    yield piece;
  }
  if (size === 0) throw new ApiError("invalid_request", "Expected a file with content, got an empty one.", { param });
}

function bounded(incoming: Incoming, bytesMax: number, tooLarge: ApiError): Incoming {
  let size = 0;
  return {
    drop: () => incoming.drop(),
    async read() {
      const piece = await incoming.read();
      size += piece?.length ?? 0;
      if (size > bytesMax) throw tooLarge;
      return piece;
    },
  };
}

/** Matches a number in JSON syntax (RFC 8259). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Converts a field's text to the type in the schema. Returns invalid text unchanged, which the schema then refuses. */
function typed(text: string, type: string | undefined): unknown {
  if (type === "boolean") return booleanOf(text) ?? text;
  if (type !== "number" && type !== "integer") return text;
  const number = Number(text);
  return NUMBER.test(text) && Number.isFinite(number) ? number : text;
}
