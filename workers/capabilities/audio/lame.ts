/** The first frame of an MP3, which tells players how many samples to leave out. */
import { open } from "node:fs/promises";

/** It stands right behind the tags. */
const LOOKED_AT_BYTES = 65_536;
/** From its name to the three bytes that tell the samples before and behind, when it has all fields. */
const PADDING_AT = 141;

/** Clears the padding of a copied MP3: FFmpeg counts the encoder's delay below zero, and players would skip 4,096 samples of sound. */
export async function settlePadding(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const head = Buffer.alloc(LOOKED_AT_BYTES);
    const { bytesRead } = await file.read(head, 0, LOOKED_AT_BYTES, 0);
    const at = ["Info", "Xing"].map((name) => head.indexOf(name)).find((one) => one >= 0);
    if (at === undefined || at + PADDING_AT + 3 > bytesRead) return;
    await file.write(Buffer.alloc(3), 0, 3, at + PADDING_AT);
  } finally {
    await file.close();
  }
}
