/** Recognizes a media part of a chat call by its URL or by its first bytes. Pure. */

const AUDIO_ADDRESS = /^https?:\/\/[^?#]*\.(?:mp3|wav|ogg|oga|opus|flac|aac|m4a|weba|mp4|mov|webm)(?:[?#]|$)/i;
const AUDIO_DATA = /^data:(?:audio|video)\//i;

/** Returns true for audio, or a video with audio, as far as type or name reveal it. */
export function isAudio({ file_data, file_url }: { file_data?: string; file_url?: string }): boolean {
  return [file_data, file_url].some((it) => it !== undefined && (AUDIO_DATA.test(it) || AUDIO_ADDRESS.test(it)));
}

/** Signatures in Latin-1, and their offsets. The last one is a box of HEIC and AVIF. */
const MARKS: readonly (readonly [mark: string, at: number])[] = [
  ["\u0089PNG", 0],
  ["\u00ff\u00d8\u00ff", 0],
  ["GIF8", 0],
  ["WEBP", 8],
  ["BM", 0],
  ["<svg", 0],
  ["<?xml", 0],
  ["II*\0", 0],
  ["MM\0*", 0],
  ["ftyp", 4],
];
/** Base64 characters of the longest signature and the bytes before it. */
const HEAD_CHARACTERS = 16;
const WITH_BREAKS = 64;

/** Returns true if base64 begins like an image of a format supported by models. */
export function beginsAsImage(base64: string): boolean {
  const text = base64.slice(0, WITH_BREAKS).replaceAll(/\s/g, "").slice(0, HEAD_CHARACTERS);
  const head = Buffer.from(text, "base64").toString("latin1");
  return MARKS.some(([mark, at]) => head.startsWith(mark, at));
}
