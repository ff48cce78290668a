/**
 * Streaming parser of multipart/form-data (RFC 7578): parts in order, the bytes of each as they arrive, one piece of the body in memory.
 * Everything is bounded; every malformed form throws an ApiError.
 */
import { ApiError } from "#shared/base/errors.ts";

import type { Incoming } from "./incoming.ts";

/** Most parts in a body, and most bytes in the headers of a part. */
export const MULTIPART_PARTS_MAX = 32;
export const MULTIPART_HEADER_BYTES_MAX = 8_192;

/** Most bytes of all fields: a prompt of 32,000 characters has up to 128,000 bytes. */
export const MULTIPART_FIELDS_BYTES_MAX = 163_840;

/** Most bytes of all ignored parts, and of the text before the first or after the last boundary. */
export const MULTIPART_PASSED_BYTES_MAX = 1_048_576;
export const MULTIPART_OUTSIDE_BYTES_MAX = 8_192;

export interface PartHead {
  readonly name: string;
  /** File name as sent, unsafe as part of a path. Undefined for a plain field. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

const CR = 13;
const LF = 10;
const DASH = 45;
const EMPTY = Buffer.alloc(0);
/** Size of the parse buffer in bytes: more than a boundary or the headers of a part. */
const DESK_BYTES = 128 * 1024;

export class MultipartReader {
  private readonly source: Incoming;
  /** CRLF, two dashes and the boundary, which end a part. */
  private readonly delimiter: Buffer;
  /** Parse buffer: pieces of a body are larger, and end anywhere. */
  private readonly desk = Buffer.allocUnsafeSlow(DESK_BYTES);
  /** Bytes in the parse buffer that were not returned yet. Parsing starts with CRLF, as if a line had ended before the body. */
  private waiting: Buffer;
  /** Rest of the current piece, which is not in the parse buffer yet. */
  private piece: Uint8Array = EMPTY;
  private state: "preamble" | "body" | "between" | "end" = "preamble";
  private parts = 0;
  /** Numbers of bytes outside of parts, in ignored parts, and in fields. */
  private skipped = 0;
  private passed = 0;
  private fieldBytes = 0;

  constructor(source: Incoming, boundary: string) {
    this.source = source;
    this.delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
    this.waiting = this.desk.subarray(0, this.desk.write("\r\n"));
  }

  /**
   * Skips the rest of the current part and returns the next one; undefined at the end of the body.
   * @throws ApiError `request_too_large` beyond MULTIPART_PASSED_BYTES_MAX, `invalid_request`
   */
  async nextPart(): Promise<PartHead | undefined> {
    while (this.state === "preamble" || this.state === "body") {
      const isPreamble = this.state === "preamble";
      const piece = await this.nextBytes();
      if (isPreamble) this.skipped += piece?.length ?? 0;
      else this.passed += piece?.length ?? 0;
      if (this.passed > MULTIPART_PASSED_BYTES_MAX) {
        const message = `Expected at most ${MULTIPART_PASSED_BYTES_MAX} bytes in unknown parts of the form.`;
        throw new ApiError("request_too_large", message);
      }
      if (this.skipped > MULTIPART_OUTSIDE_BYTES_MAX) throw malformed("it does not begin with its boundary");
    }
    if (this.state === "end") return undefined;
    await this.need(2);
    if (this.waiting[0] === DASH && this.waiting[1] === DASH) {
      await this.readEpilogue();
      this.state = "end";
      return undefined;
    }
    this.parts += 1;
    if (this.parts > MULTIPART_PARTS_MAX) {
      throw new ApiError("invalid_request", `Expected at most ${MULTIPART_PARTS_MAX} parts in the multipart body.`);
    }
    const head = readHead(await this.headBlock());
    this.state = "body";
    return head;
  }

  /** Returns bytes of the current part, valid until the next call; undefined at its end. @throws ApiError */
  async nextBytes(): Promise<Uint8Array | undefined> {
    if (this.state !== "body" && this.state !== "preamble") return undefined;
    for (;;) {
      const at = this.waiting.indexOf(this.delimiter);
      if (at > 0) return this.take(at);
      if (at === 0) {
        this.waiting = this.waiting.subarray(this.delimiter.length);
        this.state = "between";
        return undefined;
      }
      // The last bytes may be the start of a delimiter.
      const sure = this.waiting.length - this.delimiter.length + 1;
      if (sure > 0) return this.take(sure);
      await this.more();
    }
  }

  /** Reads a whole field. @throws ApiError `request_too_large` beyond MULTIPART_FIELDS_BYTES_MAX in total, `invalid_request` */
  async readField(name: string): Promise<string> {
    const pieces: Uint8Array[] = [];
    for (let piece = await this.nextBytes(); piece !== undefined; piece = await this.nextBytes()) {
      this.fieldBytes += piece.length;
      if (this.fieldBytes > MULTIPART_FIELDS_BYTES_MAX) {
        const message = `Expected form fields of at most ${MULTIPART_FIELDS_BYTES_MAX} bytes in total.`;
        throw new ApiError("request_too_large", message, { param: paramOf(name) });
      }
      // A copy, because the buffer is reused. `Buffer.from` would copy a Buffer byte by byte.
      pieces.push(new Uint8Array(piece));
    }
    return textOf(Buffer.concat(pieces), "a field is not UTF-8", name);
  }

  /** Reads the text after the last boundary, which has no meaning. A body that breaks off here is incomplete, and its client is gone. */
  private async readEpilogue(): Promise<void> {
    let size = this.waiting.length + this.piece.length;
    for (let piece = await this.source.read(); piece !== undefined; piece = await this.source.read()) {
      size += piece.length;
      if (size > MULTIPART_OUTSIDE_BYTES_MAX) throw malformed("it has data after its closing boundary");
    }
  }

  private take(length: number): Buffer {
    const taken = this.waiting.subarray(0, length);
    this.waiting = this.waiting.subarray(length);
    return taken;
  }

  private async more(): Promise<void> {
    if (this.piece.length === 0) {
      const piece = await this.source.read();
      if (piece === undefined) throw malformed("it ended before its closing boundary");
      this.piece = piece;
    }
    const { desk, waiting } = this;
    desk.set(waiting, 0);
    const taken = this.piece.subarray(0, desk.length - waiting.length);
    desk.set(taken, waiting.length);
    this.piece = this.piece.subarray(taken.length);
    this.waiting = desk.subarray(0, waiting.length + taken.length);
  }

  private async need(length: number): Promise<void> {
    while (this.waiting.length < length) await this.more();
  }

  /** Returns the text between a boundary and the empty line after the part's headers. */
  private async headBlock(): Promise<string> {
    // Blanks may follow a boundary on its line.
    for (;;) {
      await this.need(2);
      const [first, second] = this.waiting;
      if (first === CR && second === LF) break;
      if ((first !== 32 && first !== 9) || ++this.skipped > MULTIPART_OUTSIDE_BYTES_MAX) {
        throw malformed("a boundary is not alone on its line");
      }
      this.waiting = this.waiting.subarray(1);
    }
    for (;;) {
      const end = this.waiting.indexOf("\r\n\r\n");
      if (end > MULTIPART_HEADER_BYTES_MAX) throw headerTooLong();
      if (end >= 0) {
        const block = textOf(
          this.waiting.subarray(2, Math.max(2, end)),
          "the headers of a part, its filename among them, are not UTF-8",
        );
        this.waiting = this.waiting.subarray(end + 4);
        return block;
      }
      if (this.waiting.length > MULTIPART_HEADER_BYTES_MAX + 4) throw headerTooLong();
      await this.more();
    }
  }
}

/** Returns the boundary. @throws ApiError `unsupported_media_type`, `invalid_request` when the header has no boundary */
export function boundaryOf(headers: Headers): string {
  const header = headers.get("content-type") ?? "";
  if (!/^multipart\/form-data\s*(;|$)/i.test(header.trim())) {
    throw new ApiError("unsupported_media_type", "Expected a body of media type multipart/form-data.");
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") {
    throw new ApiError(
      "unsupported_media_type",
      "Compressed request bodies are not supported; send the body uncompressed.",
    );
  }
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(header) ?? [];
  const boundary = quoted ?? plain ?? "";
  if (/^[\x20-\x7e]{0,199}[\x21-\x7e]$/.test(boundary)) return boundary;
  throw new ApiError("invalid_request", "Expected the content type to name a boundary of 1 to 200 characters.");
}

function readHead(block: string): PartHead {
  const headers = new Map<string, string>();
  for (const line of block === "" ? [] : block.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) throw malformed("a part has a header line without a name");
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const [type, parameters] = readDisposition(headers.get("content-disposition") ?? "");
  const name = parameters.get("name");
  if (type !== "form-data" || name === undefined) {
    throw malformed("a part lacks the header Content-Disposition: form-data with a name");
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase();
  if (encoding !== undefined && !["7bit", "8bit", "binary"].includes(encoding)) {
    throw malformed("a part has a transfer encoding, which is not supported");
  }
  return {
    name,
    filename: extended(parameters.get("filename*")) ?? parameters.get("filename"),
    contentType: headers.get("content-type"),
  };
}

const PARAMETER = /;\s*([a-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/giy;

function readDisposition(header: string): [type: string, parameters: Map<string, string>] {
  const type = /^[^;\s]*/.exec(header)?.[0] ?? "";
  const parameters = new Map<string, string>();
  const parametersText = header.slice(type.length).trimEnd();
  PARAMETER.lastIndex = 0;
  let end = 0;
  for (let match = PARAMETER.exec(parametersText); match !== null; match = PARAMETER.exec(parametersText)) {
    end = PARAMETER.lastIndex;
    const [, name = "", quoted, plain = ""] = match;
    parameters.set(name.toLowerCase(), quoted === undefined ? plain : unquote(quoted));
  }
  if (parametersText.slice(end).replace(/^[\s;]+/, "") !== "") throw malformed("a Content-Disposition cannot be read");
  return [type.toLowerCase(), parameters];
}

/** Decodes quotes: browsers write `%22`, other clients `\"`. Any other backslash is part of a path. */
function unquote(text: string): string {
  return text
    .replaceAll(/\\(["\\])/g, "$1")
    .replaceAll(/%22/g, '"')
    .replaceAll(/%0D/gi, "\r")
    .replaceAll(/%0A/gi, "\n");
}

/** Decodes RFC 8187 syntax, which forms should not use but some clients do. */
function extended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Keeps a byte-order mark, which is part of the sent text. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes strict UTF-8: a repaired value or file name would differ from the sent one. @throws ApiError */
function textOf(bytes: Uint8Array, fault: string, name?: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed(fault, name);
  }
}

/** @param name name of the invalid part, if known */
function malformed(what: string, name?: string): ApiError {
  const about = name === undefined ? {} : { param: paramOf(name) };
  return new ApiError("invalid_request", `The multipart body cannot be read: ${what}.`, about);
}

/** Returns the name for an error; clients may send names of any length. */
function paramOf(name: string): string {
  return name.slice(0, 100);
}

function headerTooLong(): ApiError {
  return new ApiError("invalid_request", `Expected at most ${MULTIPART_HEADER_BYTES_MAX} bytes of headers in a part.`);
}
