/** Corrects parts of MP3 files that FFmpeg writes in a form which players misread. */
import { open } from "node:fs/promises";

/** Size of the tag header and of each frame header, in bytes. */
const HEAD_BYTES = 10;

/**
 * Replaces FFmpeg's comment tag by an ID3 2.3 comment frame, which players can read. The new frame is shorter than the old one, so data
 * after the tag does not move.
 */
export async function settleComment(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    await file.read(head, 0, HEAD_BYTES, 0);
    if (head.subarray(0, 4).toString("latin1") !== "ID3\u0003") return;
    const size = head.subarray(6).reduce((all, byte) => all * 128 + byte, 0);
    const frames = Buffer.alloc(size);
    await file.read(frames, 0, size, HEAD_BYTES);
    const settled = Buffer.alloc(size);
    Buffer.concat(framesOf(frames).map(settledFrame)).copy(settled);
    await file.write(settled, 0, size, HEAD_BYTES);
  } finally {
    await file.close();
  }
}

function framesOf(all: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at + HEAD_BYTES <= all.length && all[at] !== 0;) {
    const end = at + HEAD_BYTES + all.readUInt32BE(at + 4);
    frames.push(all.subarray(at, end));
    at = end;
  }
  return frames;
}

/**
 * ID3 text encodings (Latin-1, and UTF-16 with byte order mark): the description that FFmpeg writes, and the empty description that
 * replaces it.
 */
const ENCODINGS = [
  { name: Buffer.from("comment\0", "latin1"), none: Buffer.from([0]) },
  { name: Buffer.from("\ufeffcomment\0", "utf16le"), none: Buffer.from([0xff, 0xfe, 0, 0]) },
] as const;

function settledFrame(frame: Buffer): Buffer {
  const [encoding = 0] = frame.subarray(HEAD_BYTES);
  const { name, none } = ENCODINGS[encoding] ?? {};
  const content = frame.subarray(HEAD_BYTES + 1);
  const isComment =
    frame.subarray(0, 4).toString("latin1") === "TXXX" && name !== undefined && content.indexOf(name) === 0;
  if (!isComment || none === undefined) return frame;
  const body = Buffer.concat([Buffer.from([encoding]), Buffer.from("eng"), none, content.subarray(name.length)]);
  const head = Buffer.from("COMM\0\0\0\0\0\0", "latin1");
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/**
 * Number of bytes in which the Xing or Info frame is searched. This frame follows the tags, and states how many samples players must skip.
 */
const SEARCHED_BYTES = 65_536;
/**
 * Offset from the name `Xing` or `Info` to the 3 bytes of encoder delay and padding, in bytes. It is valid if all fields of the frame are
 * present.
 */
const PADDING_AT = 141;

/** Sets the encoder delay and padding of a copied MP3 to 0. FFmpeg writes a negative delay, which would make players skip 4,096 samples. */
export async function settlePadding(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const head = Buffer.alloc(SEARCHED_BYTES);
    const { bytesRead } = await file.read(head, 0, SEARCHED_BYTES, 0);
    const at = ["Info", "Xing"].map((name) => head.indexOf(name)).find((one) => one >= 0);
    if (at === undefined || at + PADDING_AT + 3 > bytesRead) return;
    await file.write(Buffer.alloc(3), 0, 3, at + PADDING_AT);
  } finally {
    await file.close();
  }
}
