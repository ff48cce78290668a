/** What bytes are, by their own beginning: a server's word for it decides nothing but the kind of text. */

type Signature = readonly [type: string, ...marks: readonly (readonly [offset: number, text: string])[]];

/** Marks are Latin-1. Sources: the formats' own papers. */
const SIGNATURES: readonly Signature[] = [
  ["image/png", [0, "\u0089PNG\r\n\u001a\n"]],
  ["image/jpeg", [0, "\u00ff\u00d8\u00ff"]],
  ["image/gif", [0, "GIF87a"]],
  ["image/gif", [0, "GIF89a"]],
  ["image/webp", [0, "RIFF"], [8, "WEBP"]],
  ["application/pdf", [0, "%PDF-"]],
  ["audio/wav", [0, "RIFF"], [8, "WAVE"]],
  ["audio/ogg", [0, "OggS"]],
  ["audio/flac", [0, "fLaC"]],
  ["audio/mpeg", [0, "ID3"]],
];

/**
 * The media type, or undefined when the bytes are none that we pass on.
 * @param declared the server's content type without parameters: believed of valid UTF-8 that it calls text
 */
export function mediaTypeOf(bytes: Uint8Array, declared: string): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
  for (const [type, ...marks] of SIGNATURES) {
    if (marks.every(([offset, text]) => head.startsWith(text, offset))) return type;
  }
  if (isMpegFrame(bytes)) return "audio/mpeg";
  return bytes.length > 0 && /^text\/[a-z0-9.+-]+$/.test(declared) && isText(bytes) ? declared : undefined;
}

/** An MP3 without a tag begins with a frame: sync, a version, layer III, a bit rate and a sample rate that exist. */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [first = 0, second = 0, third = 0] = bytes;
  const isSync = first === 0xff && (second & 0xe0) === 0xe0;
  const isLayer3 = (second & 0x18) !== 0x08 && (second & 0x06) === 0x02;
  return isSync && isLayer3 && third >> 4 !== 0 && third >> 4 !== 15 && (third & 0x0c) !== 0x0c;
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
