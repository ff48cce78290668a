/** Determines the media type of a file from its first bytes, and checks it against the type that the sender claims. */
import { ApiError } from "#shared/base/errors.ts";
import { isLegacyText, isText, sniffMediaType, SNIFF_BYTES } from "#shared/media/sniff.ts";

const OOXML = "application/vnd.openxmlformats-officedocument";
const ODF = "application/vnd.oasis.opendocument";

/** Media types of stored files, in groups of types with the same first bytes. A file of one type may claim any type of the same group. */
const FAMILIES: readonly (readonly string[])[] = [
  ["image/png", "image/apng"],
  ["image/jpeg"],
  ["image/gif"],
  ["image/webp"],
  ["image/avif"],
  ["image/heic"],
  ["image/tiff"],
  ["image/bmp"],
  ["application/pdf"],
  ["audio/wav"],
  ["audio/flac"],
  ["audio/aac"],
  ["audio/aiff"],
  ["audio/mpeg"],
  ["audio/x-caf"],
  ["audio/ac3"],
  ["audio/eac3"],
  ["audio/ogg", "audio/opus", "video/ogg", "application/ogg"],
  ["video/mp4", "audio/mp4", "video/quicktime", "video/x-m4v", "video/3gpp"],
  ["video/webm", "audio/webm", "video/x-matroska", "audio/x-matroska"],
  ["video/x-msvideo"],
  ["video/mp2t"],
  ["video/x-flv"],
  ["model/gltf-binary"],
  [
    "application/zip",
    "application/epub+zip",
    "application/java-archive",
    `${ODF}.text`,
    `${ODF}.spreadsheet`,
    `${ODF}.presentation`,
    `${OOXML}.wordprocessingml.document`,
    `${OOXML}.spreadsheetml.sheet`,
    `${OOXML}.presentationml.presentation`,
  ],
  ["application/gzip", "application/x-gtar"],
  ["application/x-xz"],
  ["application/x-bzip2"],
  ["application/x-7z-compressed"],
  ["application/x-cfb", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"],
];

/** Group of each media type. */
const FAMILY_OF: ReadonlyMap<string, readonly string[]> = new Map(
  FAMILIES.flatMap((family) => family.map((type) => [type, family] as const)),
);

/** Other names that senders use for media types. A map and not an object, because senders may also write `constructor`. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/heif": "image/heic",
    "image/x-bmp": "image/bmp",
    "image/x-ms-bmp": "image/bmp",
    "application/x-pdf": "application/pdf",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "video/avi": "video/x-msvideo",
    "video/msvideo": "video/x-msvideo",
    "video/flv": "video/x-flv",
    "audio/caf": "audio/x-caf",
    "audio/x-flac": "audio/flac",
    "audio/x-aac": "audio/aac",
    "audio/x-aiff": "audio/aiff",
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
    "application/x-bzip": "application/x-bzip2",
    "application/x-tgz": "application/gzip",
    "application/x-ndjson": "application/jsonl",
    "application/x-jsonlines": "application/jsonl",
    "application/x-yaml": "application/yaml",
  }),
);

/** Filename extensions that claim each media type, separated by blanks. `ts` claims no type, because most such files are TypeScript. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png apng",
  "image/jpeg": "jpg jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "avif",
  "image/heic": "heic heif",
  "image/tiff": "tif tiff",
  "image/bmp": "bmp",
  "application/pdf": "pdf",
  "audio/wav": "wav",
  "audio/ogg": "ogg oga ogv",
  "audio/opus": "opus",
  "audio/flac": "flac",
  "audio/aac": "aac",
  "audio/aiff": "aiff aif",
  "audio/mpeg": "mp3 mpga",
  "audio/x-caf": "caf",
  "audio/ac3": "ac3",
  "audio/eac3": "eac3 ec3",
  "audio/mp4": "m4a",
  "video/mp4": "mp4 m4v 3gp",
  "video/quicktime": "mov",
  "video/webm": "webm mka",
  "video/x-matroska": "mkv",
  "video/x-msvideo": "avi",
  "video/x-flv": "flv",
  "model/gltf-binary": "glb",
  "application/zip": "zip",
  "application/epub+zip": "epub",
  [`${ODF}.text`]: "odt",
  [`${ODF}.spreadsheet`]: "ods",
  [`${ODF}.presentation`]: "odp",
  [`${OOXML}.wordprocessingml.document`]: "docx",
  [`${OOXML}.spreadsheetml.sheet`]: "xlsx",
  [`${OOXML}.presentationml.presentation`]: "pptx",
  "application/gzip": "gz tgz",
  "application/x-xz": "xz txz",
  "application/x-bzip2": "bz2 tbz2",
  "application/x-7z-compressed": "7z",
  "application/msword": "doc",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
};

/** Filename extensions of text types. */
const TEXT_ENDINGS: Readonly<Record<string, string>> = {
  "text/plain": "txt",
  "text/markdown": "md",
  "text/csv": "csv",
  "text/html": "html htm",
  "text/vtt": "vtt",
  "application/xml": "xml",
  "application/json": "json",
  "application/jsonl": "jsonl ndjson",
  "application/yaml": "yaml yml",
  "application/x-subrip": "srt",
  "image/svg+xml": "svg",
};

/** Media type of each filename extension. A map and not an object, because a name may also end in `constructor`. */
const TYPE_OF_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...ENDINGS, ...TEXT_ENDINGS }).flatMap(([type, ends]) =>
    ends.split(" ").map((end) => [end, type] as const),
  ),
);

/** Returns the filename extension of a media type, without the dot; undefined for unknown types. */
export function endingOf(mediaType: string): string | undefined {
  return new Map(Object.entries({ ...ENDINGS, ...TEXT_ENDINGS })).get(mediaType)?.split(" ", 1).join("");
}

const UNKNOWN = "application/octet-stream";

/**
 * Returns the media type of a file: the detected type, or the sender's name for it if both agree.
 *
 * The sender claims a type by the Content-Type, or else by the filename extension. A known claimed type must match the bytes. An unknown
 * Content-Type claims no type.
 * @param bytes at least the first SNIFF_BYTES, or all bytes of a shorter file
 * @throws ApiError `unprocessable_input` for a file that does not match its claimed type
 */
export async function settleMediaType(
  bytes: Uint8Array,
  contentType: string | undefined,
  filename: string,
): Promise<string> {
  const claim = claimOf(contentType, filename);
  const sniffed = (await sniffMediaType(bytes)) ?? "";
  const family = FAMILY_OF.get(sniffed);
  if (family) {
    if (claim === undefined) return sniffed;
    if (family.includes(claim)) return claim;
    throw contradiction(claim, sniffed);
  }
  const head = bytes.subarray(0, SNIFF_BYTES);
  const isTextContent = isText(head, head.length >= SNIFF_BYTES) || isLegacyText(head);
  if (claim === undefined) return isTextContent ? "text/plain" : UNKNOWN;
  if (isTextContent && isTextType(claim)) return claim;
  throw contradiction(claim, isTextContent ? "text" : "other binary data");
}

function claimOf(contentType: string | undefined, filename: string): string | undefined {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== UNKNOWN && type !== "binary/octet-stream") {
    const name = ALIASES.get(type) ?? type;
    return isTextType(name) || FAMILY_OF.has(name) ? name : undefined;
  }
  return TYPE_OF_ENDING.get(/\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase() ?? "");
}

function isTextType(type: string): boolean {
  return type.startsWith("text/") || Object.hasOwn(TEXT_ENDINGS, type);
}

function contradiction(claim: string, detected: string): ApiError {
  return new ApiError("unprocessable_input", `Expected a file of type ${claim}, got ${detected}.`, { param: "file" });
}
