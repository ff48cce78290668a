/**
 * Changes ID3 tags so that FFmpeg 8.1 can read them. A user-defined text (TXXX) may have several values, separated by NUL. FFmpeg stores
 * the second value under a name in freed memory, and crashes immediately or later. The values are therefore joined in place.
 */

/** Separator between joined values, a semicolon. FFmpeg uses it for the values of other texts too. */
const BETWEEN = 0x3b;
const FILL = 0x20;
const HEAD_BYTES = 10;

/**
 * Joins multiple values of user-defined texts in place. Supports tags before MP3, AAC and FLAC, and in chunks of AIFF and WAV. All other
 * bytes stay unchanged.
 */
export function joinTagTexts(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const form = `${nameAt(bytes, 0)}${nameAt(bytes, 8).slice(0, 3)}`;
  if (form === "FORMAIF" || form === "RIFFWAV") joinInChunks(view, bytes, form === "RIFFWAV");
  else joinInTags(view, bytes, 0, bytes.length);
}

function joinInChunks(view: DataView, bytes: Uint8Array, isLittle: boolean): void {
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, isLittle);
    if (nameAt(bytes, at).toUpperCase() === "ID3 ")
      joinInTags(view, bytes, at + 8, Math.min(at + 8 + size, bytes.length));
    at += 8 + size + (size % 2);
  }
}

/** Joins the texts in consecutive tags. */
function joinInTags(view: DataView, bytes: Uint8Array, from: number, to: number): void {
  for (let at = from; at + HEAD_BYTES <= to && nameAt(bytes, at).startsWith("ID3");) {
    const [version = 0, , flags = 0] = bytes.subarray(at + 3, at + 6);
    const end = at + HEAD_BYTES + shortSize(view.getUint32(at + 6));
    if (version >= 2 && version <= 4) {
      const extended = (flags & 0x40) !== 0 && version > 2 && at + 14 <= to ? shortSize(view.getUint32(at + 10)) : 0;
      const first = at + HEAD_BYTES + (version === 3 && extended > 0 ? extended + 4 : extended);
      joinInFrames(view, bytes, { version, isUnsynced: (flags & 0x80) !== 0, from: first, to: Math.min(end, to) });
    }
    at = end + (version === 4 && (flags & 0x10) !== 0 ? HEAD_BYTES : 0);
  }
}

interface Frames {
  readonly version: number;
  readonly isUnsynced: boolean;
  readonly from: number;
  readonly to: number;
}

function joinInFrames(view: DataView, bytes: Uint8Array, { version, isUnsynced, from, to }: Frames): void {
  const headBytes = version === 2 ? 6 : HEAD_BYTES;
  for (let at = from; at + headBytes <= to && bytes[at] !== 0;) {
    const next = nextFrame(view, bytes, at, version, to);
    const isText = version === 2 ? nameAt(bytes, at).startsWith("TXX") : nameAt(bytes, at) === "TXXX";
    if (isText) joinInFrame(bytes, at, bytes.subarray(at + headBytes, Math.min(next, to)), version, isUnsynced);
    at = next;
  }
}

/**
 * Returns the offset of the next ID3 frame. In version 4, some writers encode sizes as in version 3. The encoding that leads to a valid
 * frame is used.
 */
function nextFrame(view: DataView, bytes: Uint8Array, at: number, version: number, to: number): number {
  if (version === 2) return at + 6 + (view.getUint32(at + 2) & 0xff_ff_ff);
  const encodedSize = view.getUint32(at + 4);
  if (version === 3) return at + HEAD_BYTES + encodedSize;
  const [short, plain] = [at + HEAD_BYTES + shortSize(encodedSize), at + HEAD_BYTES + encodedSize];
  const isFrame = (place: number): boolean => place >= to || bytes[place] === 0 || /^[A-Z0-9]{4}$/.test(nameAt(bytes, place)); // prettier-ignore
  return isFrame(short) || !isFrame(plain) ? short : plain;
}

/** Flags of an ID3 frame, as FFmpeg reads them in both versions that have flags. */
const FLAGS = { hasLength: 0x01, isUnsynced: 0x02, isSqueezed: 0x08 } as const;

function joinInFrame(bytes: Uint8Array, at: number, body: Uint8Array, version: number, isTagUnsynced: boolean): void {
  const flags = version === 2 ? 0 : (bytes[at + 9] ?? 0);
  const text = body.subarray((flags & FLAGS.hasLength) === 0 ? 0 : 4);
  const isUnsynced = isTagUnsynced || (flags & FLAGS.isUnsynced) !== 0;
  const isSqueezed = (flags & FLAGS.isSqueezed) !== 0;
  const plain = isUnsynced ? text.filter((byte, index) => byte !== 0 || text[index - 1] !== 0xff) : text;
  if (!isSqueezed && plain.length === text.length) joinText(text);
  // Values of compressed or unsynchronised texts cannot be joined in place, so the frame is renamed and FFmpeg skips it.
  else if (isSqueezed || joinText(plain)) bytes[at] = 0x58;
}

/** ID3 text encodings with two bytes per character: with a byte order mark before each value, and without one. */
const [MARKED, BIG] = [1, 2];

/** Joins the values of a text in place. @returns true if there were several values */
function joinText(text: Uint8Array): boolean {
  const [encoding] = text;
  const width = encoding === MARKED || encoding === BIG ? 2 : 1;
  const isNul = (at: number): boolean => text[at] === 0 && (width === 1 || text[at + 1] === 0);
  const places = Array.from({ length: Math.floor((text.length - 1) / width) }, (_, index) => 1 + index * width);
  const name = places.findIndex(isNul);
  const value = name < 0 ? [] : places.slice(name + 1);
  const isLittle = encoding === MARKED && text[value[0] ?? 0] === 0xff;
  const put = (at: number, letter: number): void => {
    text[at + (width === 1 || isLittle ? 0 : 1)] = letter;
    if (width === 2) text[at + (isLittle ? 1 : 0)] = 0;
  };
  const isMark = (at: number): boolean => encoding === MARKED && (text[at] ?? 0) + (text[at + 1] ?? 0) === 0xff + 0xfe;
  const last = value.findLastIndex((place) => !isNul(place));
  const inner = value.slice(0, last + 1).filter(isNul);
  // The last value may end with its NUL.
  const spare = value.slice(last + 1, -1);
  for (const place of inner) {
    put(place, BETWEEN);
    if (isMark(place + width)) put(place + width, FILL);
  }
  for (const place of spare) put(place, FILL);
  return inner.length + spare.length > 0;
}

/** Decodes a size that uses only seven bits of each byte. */
function shortSize(encodedSize: number): number {
  return (
    ((encodedSize >>> 24) & 0x7f) * 0x20_00_00 +
    ((encodedSize >>> 16) & 0x7f) * 0x40_00 +
    ((encodedSize >>> 8) & 0x7f) * 0x80 +
    (encodedSize & 0x7f)
  );
}

function nameAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
