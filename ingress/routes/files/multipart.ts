/**
 * Streaming parser of multipart/form-data (RFC 7578). It returns the parts in order and their bytes as they arrive, with one chunk of the
 * body in memory. All sizes are limited, and a malformed form causes an ApiError.
 */
import { ApiError } from "#shared/base/errors.ts";

import type { Incoming } from "./incoming.ts";

/** Maximum number of parts in a body, and maximum size of the headers of one part, in bytes. */
export const MULTIPART_PARTS_MAX = 32;
export const MULTIPART_HEADER_BYTES_MAX = 8_192;

/** Maximum total size of all form fields, in bytes. A prompt of 32,000 characters alone has up to 128,000 bytes. */
export const MULTIPART_FIELDS_BYTES_MAX = 163_840;

/** Maximum total size of ignored parts, and of the text before the first and after the last boundary, in bytes. */
export const MULTIPART_PASSED_BYTES_MAX = 1_048_576;
export const MULTIPART_OUTSIDE_BYTES_MAX = 8_192;

export interface PartHead {
  readonly name: string;
  /** File name as sent by the client, which is unsafe to use in a file path. Undefined for a plain field. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

const CR = 13;
const LF = 10;
const DASH = 45;
const EMPTY = Buffer.alloc(0);
/** Size of the parse buffer, in bytes. The buffer must fit a boundary and the headers of one part. */
const DESK_BYTES = 128 * 1024;

export class MultipartReader {
  private readonly source: Incoming;
  /** Byte sequence that ends a part: CRLF, two dashes and the boundary. */
  private readonly delimiter: Buffer;
  /** Parse buffer. Chunks of a body are copied into it bit by bit, because they can be larger than the buffer and can end anywhere. */
  private readonly desk = Buffer.allocUnsafeSlow(DESK_BYTES);
  /**
   * Bytes in the parse buffer that have not been returned yet. The buffer starts with CRLF, so that the first boundary is parsed like all
   * others.
   */
  private waiting: Buffer;
  /** Remainder of the current chunk that has not been copied into the parse buffer yet. */
  private piece: Uint8Array = EMPTY;
  private state: "preamble" | "body" | "between" | "end" = "preamble";
  private parts = 0;
  /** Bytes read so far: outside of parts (`skipped`), in ignored parts (`passed`) and in fields (`fieldBytes`). */
  private skipped = 0;
  private passed = 0;
  private fieldBytes = 0;

  constructor(source: Incoming, boundary: string) {
    this.source = source;
    this.delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
    this.waiting = this.desk.subarray(0, this.desk.write("\r\n"));
  }

  /**
   * Skips the remainder of the current part and returns the head of the next part; undefined at the end of the body.
   * @throws ApiError `request_too_large` if skipped parts exceed MULTIPART_PASSED_BYTES_MAX, `invalid_request` for a malformed body
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

  /** Returns the next bytes of the current part, valid until the next call, or undefined at the end of the part. @throws ApiError */
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

  /**
   * Reads the complete value of a form field. @throws ApiError `request_too_large` if all fields exceed MULTIPART_FIELDS_BYTES_MAX
   * together, `invalid_request`
   */
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

  /**
   * Reads and discards the text after the last boundary. If the body breaks off here, the client has disconnected and the upload is
   * incomplete.
   */
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

  /** Returns the header block of a part: the text between the boundary and the empty line after the headers. */
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

/**
 * Returns the boundary declared in the Content-Type header. @throws ApiError `unsupported_media_type` if the type is not
 * multipart/form-data, `invalid_request` if the boundary is missing
 */
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

/**
 * Decodes quotes in a form's name or file name: browsers write `%22`, other clients `\"`. A backslash before any other character is kept as
 * part of a Windows path.
 */
function unquote(text: string): string {
  return text
    .replaceAll(/\\(["\\])/g, "$1")
    .replaceAll(/%22/g, '"')
    .replaceAll(/%0D/gi, "\r")
    .replaceAll(/%0A/gi, "\n");
}

/**
 * Decodes a parameter in RFC 8187 syntax (`utf-8'…'…`). Forms should not use this syntax, but some clients do. Undefined if the value has
 * another syntax.
 */
function extended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Strict UTF-8 decoder. It keeps a byte-order mark, because the mark is part of the text that the client sent. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes bytes as UTF-8 and rejects invalid bytes, because a repaired value or file name would differ from the sent one. @throws ApiError
 */
function textOf(bytes: Uint8Array, fault: string, name?: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed(fault, name);
  }
}

/** Returns the error for a malformed body. @param name name of the invalid part, if known */
function malformed(what: string, name?: string): ApiError {
  const about = name === undefined ? {} : { param: paramOf(name) };
  return new ApiError("invalid_request", `The multipart body cannot be read: ${what}.`, about);
}

/** Shortens a part's name to 100 characters for an error message, because clients may send names of any length. */
function paramOf(name: string): string {
  return name.slice(0, 100);
}

function headerTooLong(): ApiError {
  return new ApiError("invalid_request", `Expected at most ${MULTIPART_HEADER_BYTES_MAX} bytes of headers in a part.`);
}
