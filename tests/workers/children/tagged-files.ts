/** Audio with ID3 tags of every sort, as taggers write them and as none should: made by chance, the same for the same seed. */

import { be, bytesOf, le } from "#tests/support/file-parts.ts";

export type Random = () => number;

const TEXTS = ["Beth Hart", "Töne ♪", "a", "", "12", "x".repeat(300), "MusicBrainz Artist Id", "__proto__", "line\nline", "=;\\'\u0001\u0002"]; // prettier-ignore
const OTHERS = ["TIT2", "TPE1", "TALB", "TCON", "TIPL", "COMM", "USLT", "POPM", "PRIV", "GEOB", "UFID", "APIC", "CHAP", "WXXX", "TX\u00ff\u00fe", "XXXX"]; // prettier-ignore
const SHORT = { TXXX: "TXX", TIT2: "TT2", TPE1: "TP1", COMM: "COM", APIC: "PIC", GEOB: "GEO", UFID: "UFI" } as const;

const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const many = (random: Random, most: number): number[] => Array.from({ length: Math.floor(random() * (most + 1)) }, (_, at) => at); // prettier-ignore
const short = (size: number): Buffer => Buffer.from([size >> 21, size >> 14, size >> 7, size].map((part) => part & 0x7f)); // prettier-ignore

function encoded(text: string, encoding: number): Buffer {
  if (encoding === 1) return Buffer.from(`\ufeff${text}`, "utf16le");
  if (encoding === 2) return Buffer.from(text, "utf16le").swap16();
  return Buffer.from(text, encoding === 0 ? "latin1" : "utf8");
}

const nul = (encoding: number): Buffer => Buffer.alloc(encoding === 1 || encoding === 2 ? 2 : 1);

/** A text with its name and values, each ended or not; now and then of no letters at all. */
export function userText(encoding: number, name: string, values: readonly string[], ends = 0): Buffer {
  const parts = [name, ...values].flatMap((part, at) => [
    ...(at === 0 ? [] : [nul(encoding)]),
    encoded(part, encoding),
  ]);
  return Buffer.concat([Buffer.from([encoding]), ...parts, ...Array.from({ length: ends }, () => nul(encoding))]);
}

function bodyOf(random: Random, id: string): Buffer {
  const noise = Buffer.from(many(random, 60).map(() => random() * 256));
  const encoding = Math.floor(random() * (random() < 0.05 ? 256 : 4));
  const text = (): string => pick(random, TEXTS);
  if (random() < 0.1) return noise;
  if (id === "TXXX" || id === "WXXX")
    return userText(encoding, text(), many(random, 4).map(text), Math.floor(random() * 4));
  if (id === "POPM") return Buffer.concat([Buffer.from(`${text()}\0`), Buffer.from([176]), noise.subarray(0, 4)]);
  if (id === "PRIV" || id === "UFID") return Buffer.concat([Buffer.from(`${text()}\0`), noise]);
  if (id === "COMM" || id === "USLT") return Buffer.concat([Buffer.from([encoding]), Buffer.from("eng"), userText(encoding, text(), [text()]).subarray(1)]); // prettier-ignore
  if (id === "APIC") return Buffer.concat([Buffer.from([encoding]), Buffer.from("image/png\0\u0003", "latin1"), encoded(text(), encoding), nul(encoding), noise]); // prettier-ignore
  if (id === "GEOB") return Buffer.concat([Buffer.from([encoding]), Buffer.from("a/b\0"), encoded(text(), encoding), nul(encoding), noise]); // prettier-ignore
  return userText(encoding, text(), many(random, 3).map(text), Math.floor(random() * 3));
}

const unsynced = (bytes: Buffer): Buffer => Buffer.from([...bytes].flatMap((byte, at) => (byte === 0xff && ((bytes[at + 1] ?? 0) >= 0xe0 || bytes[at + 1] === 0) ? [byte, 0] : [byte]))); // prettier-ignore

/** One frame, as a version has it. */
export function frameOf(version: number, id: string, body: Buffer, flags = 0): Buffer {
  if (version === 2) return Buffer.concat([Buffer.from((SHORT[id as keyof typeof SHORT] ?? "TXX").slice(0, 3)), Buffer.from(be(body.length, 3)), body]); // prettier-ignore
  const size = version === 4 ? short(body.length) : Buffer.from(be(body.length, 4));
  return Buffer.concat([Buffer.from(id, "latin1"), size, Buffer.from([0, flags]), body]);
}

export function tagOf(version: number, frames: readonly Buffer[], flags = 0): Buffer {
  const all = Buffer.concat(frames);
  return Buffer.concat([Buffer.from(`ID3${String.fromCharCode(version, 0, flags)}`, "latin1"), short(all.length), all]);
}

function randomTag(random: Random): Buffer {
  const version = pick(random, [2, 3, 4, 4, 4]);
  const isUnsynced = random() < 0.1;
  const frames = Array.from({ length: 1 + Math.floor(random() * 12) }, () => {
    const id = random() < 0.6 ? "TXXX" : pick(random, OTHERS);
    const flags = random() < 0.1 ? pick(random, [0x01, 0x02, 0x03, 0x08, 0x20, 0x40, 0x80]) : 0;
    const body = bodyOf(random, id);
    const packed = version === 4 && (flags & 0x01) !== 0 ? Buffer.concat([short(body.length), body]) : body;
    return frameOf(
      version,
      id,
      isUnsynced || (version === 4 && (flags & 0x02) !== 0) ? unsynced(packed) : packed,
      flags,
    );
  });
  const tag = tagOf(version, [...frames, Buffer.alloc(random() < 0.5 ? 0 : 64)], isUnsynced ? 0x80 : 0);
  // Cut, or a byte of it is another.
  if (random() < 0.1) tag[Math.floor(random() * tag.length)] = Math.floor(random() * 256);
  return tag;
}

function chunk(name: string, body: Buffer, isLittle: boolean): Buffer {
  return bytesOf(name, (isLittle ? le : be)(body.length, 4), body, Buffer.alloc(body.length % 2));
}

const SAMPLES = 4_410;

/** A tenth of a second of nothing, with a tag in its chunk. */
export function aiffWith(tag: Buffer): Buffer {
  const about = Buffer.from("00010000113a0010400eac44000000000000", "hex");
  const chunks = [chunk("COMM", about, false), chunk("SSND", Buffer.alloc(8 + 2 * SAMPLES), false), chunk("ID3 ", tag, false)]; // prettier-ignore
  return chunk("FORM", Buffer.concat([Buffer.from("AIFF"), ...chunks]), false);
}

export function wavWith(tag: Buffer): Buffer {
  const about = Buffer.from("0100010044ac000088580100020010 00".replace(" ", ""), "hex");
  const chunks = [chunk("fmt ", about, true), chunk("data", Buffer.alloc(2 * SAMPLES), true), chunk("id3 ", tag, true)];
  return chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks]), true);
}

/** MPEG 1 layer III, 128 kbit/s, 44.1 kHz: frames of nothing behind the tags. */
export function mp3With(tags: Buffer): Buffer {
  const frame = Buffer.concat([Buffer.from("fffb9000", "hex"), Buffer.alloc(413)]);
  return Buffer.concat([tags, ...Array.from({ length: 8 }, () => frame)]);
}

export function randomFile(random: Random): Buffer {
  const tag = Buffer.concat([randomTag(random), ...(random() < 0.2 ? [randomTag(random)] : [])]);
  return pick(random, [mp3With, mp3With, aiffWith, wavWith])(tag);
}
