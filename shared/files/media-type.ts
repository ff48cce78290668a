/**
 * What a file is, by its own beginning, against what its sender says it is. Sources: the formats' own papers. A table of
 * fixed marks rather than a parser: it cannot be led anywhere by what it reads.
 */
import { ApiError } from "#shared/errors.ts";
import { LIMITS } from "#shared/limits.ts";

interface Format {
  /** Of a file that claims nothing more precise. */
  readonly type: string;
  /** Other types whose files begin like this. */
  readonly also?: readonly string[];
  readonly extensions: readonly string[];
  matches(head: Uint8Array): boolean;
}

type Mark = readonly [offset: number, text: string];

/** Marks are Latin-1. */
function marks(...wanted: readonly Mark[]): (head: Uint8Array) => boolean {
  return (head) =>
    wanted.every(([offset, text]) => {
      for (let i = 0; i < text.length; i++) if (head[offset + i] !== text.charCodeAt(i)) return false;
      return true;
    });
}

function either(...tests: readonly ((head: Uint8Array) => boolean)[]): (head: Uint8Array) => boolean {
  return (head) => tests.some((test) => test(head));
}

/** ISO base media: `ftyp` with one of these major brands; none given: any brand. */
function branded(...brands: readonly string[]): (head: Uint8Array) => boolean {
  const isBox = marks([4, "ftyp"]);
  return (head) => isBox(head) && (brands.length === 0 || brands.some((brand) => marks([8, brand])(head)));
}

const OOXML = "application/vnd.openxmlformats-officedocument";

/** The first that matches wins, so narrower ones stand first. */
const FORMATS: readonly Format[] = [
  {
    type: "image/png",
    also: ["image/apng"],
    extensions: ["png", "apng"],
    matches: marks([0, "\u0089PNG\r\n\u001a\n"]),
  },
  { type: "image/jpeg", extensions: ["jpg", "jpeg"], matches: marks([0, "\u00ff\u00d8\u00ff"]) },
  { type: "image/gif", extensions: ["gif"], matches: either(marks([0, "GIF87a"]), marks([0, "GIF89a"])) },
  { type: "image/webp", extensions: ["webp"], matches: marks([0, "RIFF"], [8, "WEBP"]) },
  { type: "image/avif", extensions: ["avif"], matches: branded("avif", "avis") },
  { type: "image/heic", extensions: ["heic", "heif"], matches: branded("heic", "heix", "mif1", "msf1", "hevc") },
  { type: "image/tiff", extensions: ["tif", "tiff"], matches: either(marks([0, "II*\0"]), marks([0, "MM\0*"])) },
  { type: "application/pdf", extensions: ["pdf"], matches: marks([0, "%PDF-"]) },
  { type: "audio/wav", extensions: ["wav"], matches: marks([0, "RIFF"], [8, "WAVE"]) },
  { type: "video/x-msvideo", extensions: ["avi"], matches: marks([0, "RIFF"], [8, "AVI "]) },
  {
    type: "audio/ogg",
    also: ["application/ogg", "video/ogg", "audio/opus"],
    extensions: ["ogg", "oga", "ogv", "opus"],
    matches: marks([0, "OggS"]),
  },
  { type: "audio/flac", extensions: ["flac"], matches: marks([0, "fLaC"]) },
  { type: "audio/aac", extensions: ["aac"], matches: isAdtsFrame },
  { type: "audio/mpeg", extensions: ["mp3", "mpga"], matches: either(marks([0, "ID3"]), isMpegFrame) },
  { type: "audio/mp4", also: ["video/mp4"], extensions: ["m4a"], matches: branded("M4A ", "M4B ") },
  { type: "video/quicktime", also: ["video/mp4"], extensions: ["mov"], matches: branded("qt  ") },
  {
    type: "video/mp4",
    also: ["audio/mp4", "video/x-m4v", "video/quicktime", "video/3gpp"],
    extensions: ["mp4", "m4v", "3gp"],
    matches: branded(),
  },
  {
    type: "video/webm",
    also: ["audio/webm", "video/x-matroska", "audio/x-matroska"],
    extensions: ["webm", "mkv", "mka"],
    matches: marks([0, "\u001aE\u00df\u00a3"]),
  },
  { type: "model/gltf-binary", extensions: ["glb"], matches: marks([0, "glTF"]) },
  {
    type: "application/zip",
    also: [
      "application/epub+zip",
      "application/java-archive",
      "application/vnd.oasis.opendocument.text",
      "application/vnd.oasis.opendocument.spreadsheet",
      "application/vnd.oasis.opendocument.presentation",
      `${OOXML}.wordprocessingml.document`,
      `${OOXML}.spreadsheetml.sheet`,
      `${OOXML}.presentationml.presentation`,
    ],
    extensions: ["zip", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"],
    matches: either(marks([0, "PK\u0003\u0004"]), marks([0, "PK\u0005\u0006"])),
  },
  {
    type: "application/gzip",
    also: ["application/x-gtar"],
    extensions: ["gz", "tgz"],
    matches: marks([0, "\u001f\u008b"]),
  },
  { type: "application/x-7z-compressed", extensions: ["7z"], matches: marks([0, "7z\u00bc\u00af\u0027\u001c"]) },
  {
    type: "application/x-cfb",
    also: ["application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"],
    extensions: ["doc", "xls", "ppt"],
    matches: marks([0, "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1"]),
  },
];

/** Other names that senders have for types. A map: senders may also write `constructor`. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/heif": "image/heic",
    "application/x-pdf": "application/pdf",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "video/avi": "video/x-msvideo",
    "video/msvideo": "video/x-msvideo",
    "audio/x-flac": "audio/flac",
    "audio/x-aac": "audio/aac",
    "audio/aacp": "audio/aac",
    "audio/mp3": "audio/mpeg",
    "audio/mpeg3": "audio/mpeg",
    "audio/mpga": "audio/mpeg",
    "audio/x-mp3": "audio/mpeg",
    "audio/x-mpeg": "audio/mpeg",
    "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4",
    "application/mp4": "video/mp4",
    "video/mkv": "video/x-matroska",
    "application/x-zip-compressed": "application/zip",
    "application/x-gzip": "application/gzip",
    "application/x-tgz": "application/gzip",
    "application/x-ndjson": "application/jsonl",
    "application/x-jsonlines": "application/jsonl",
    "application/x-yaml": "application/yaml",
  }),
);

/** Types of text, by the end of the name. */
const TEXT_EXTENSIONS: Readonly<Record<string, string>> = {
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  htm: "text/html",
  xml: "application/xml",
  json: "application/json",
  jsonl: "application/jsonl",
  ndjson: "application/jsonl",
  yaml: "application/yaml",
  yml: "application/yaml",
  svg: "image/svg+xml",
  srt: "application/x-subrip",
  vtt: "text/vtt",
};

const TEXT_TYPES: ReadonlySet<string> = new Set(Object.values(TEXT_EXTENSIONS));

const UNKNOWN = "application/octet-stream";

/**
 * The media type a file is kept under: what its bytes show, in the words of its claim where both agree.
 *
 * The claim is the content type that was sent, or else what the end of the name says. A claim that we know must fit the
 * bytes. A content type that we do not know claims nothing.
 * @param head the first LIMITS.sniffBytes, or the whole when it is shorter
 * @throws ApiError `unprocessable_input` for a file that is not what it claims
 */
export function settleMediaType(head: Uint8Array, contentType: string | undefined, filename: string): string {
  const claim = claimOf(contentType, filename);
  const shown = FORMATS.find((format) => format.matches(head));
  if (claim === undefined) return shown?.type ?? (isText(head) ? "text/plain" : UNKNOWN);
  if (isTextType(claim)) {
    if (shown === undefined && isText(head)) return claim;
    throw contradiction(claim, shown?.type ?? "other binary data");
  }
  if (shown && (shown.type === claim || shown.also?.includes(claim))) return claim;
  throw contradiction(claim, shown?.type ?? (isText(head) ? "text" : "other data"));
}

function claimOf(contentType: string | undefined, filename: string): string | undefined {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type !== undefined && type !== "" && type !== UNKNOWN && type !== "binary/octet-stream") {
    const name = ALIASES.get(type) ?? type;
    return isKnown(name) ? name : undefined;
  }
  const extension = /\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase() ?? "";
  if (Object.hasOwn(TEXT_EXTENSIONS, extension)) return TEXT_EXTENSIONS[extension];
  const format = FORMATS.find(({ extensions }) => extensions.includes(extension));
  return format && (CLAIMS_OF_EXTENSIONS[extension] ?? format.type);
}

/** Names that say more than their format's first type. */
const CLAIMS_OF_EXTENSIONS: Readonly<Record<string, string>> = {
  docx: `${OOXML}.wordprocessingml.document`,
  xlsx: `${OOXML}.spreadsheetml.sheet`,
  pptx: `${OOXML}.presentationml.presentation`,
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation",
  epub: "application/epub+zip",
  doc: "application/msword",
  xls: "application/vnd.ms-excel",
  ppt: "application/vnd.ms-powerpoint",
  mkv: "video/x-matroska",
  opus: "audio/opus",
};

function isKnown(type: string): boolean {
  return isTextType(type) || FORMATS.some((format) => format.type === type || format.also?.includes(type));
}

function isTextType(type: string): boolean {
  return type.startsWith("text/") || TEXT_TYPES.has(type);
}

/** UTF-8 or UTF-16 with its mark, and no NUL; the last character of a part may be cut. */
function isText(head: Uint8Array): boolean {
  if (marks([0, "\u00ff\u00fe"])(head) || marks([0, "\u00fe\u00ff"])(head)) return true;
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: head.length >= LIMITS.sniffBytes });
    return true;
  } catch {
    return false;
  }
}

/** An MP3 without a tag begins with a frame: sync, a version, layer III, a bit rate and a sample rate that exist. */
function isMpegFrame(head: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = head;
  const isSync = first === 0xff && (second & 0xe0) === 0xe0;
  const isLayer3 = (second & 0x18) !== 0x08 && (second & 0x06) === 0x02;
  return isSync && isLayer3 && third >> 4 !== 0 && third >> 4 !== 15 && (third & 0x0c) !== 0x0c;
}

/** AAC in its streaming form: sync, layer 0, a sample rate that exists. */
function isAdtsFrame(head: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = head;
  return first === 0xff && (second & 0xf6) === 0xf0 && ((third >> 2) & 0x0f) < 13;
}

function contradiction(claim: string, shown: string): ApiError {
  return new ApiError("unprocessable_input", `Expected a file of type ${claim}, got ${shown}.`, { param: "file" });
}
