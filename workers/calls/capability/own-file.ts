/**
 * A file that a run made, held open from the look at it to its last byte: the child that made it may be taken over, and put a link to
 * something of the worker's in its place at any moment.
 */
import { constants, lstatSync, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

export interface OwnFile {
  readonly size: number;
  /** Reads the file from its first byte; may be called more than once. */
  pieces(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const PIECE_BYTES = 1_048_576;

/** Opens a file that a child names, and checks that the child made it: it gets at no other file. @throws MediaError failed */
export async function openOwnFile(path: string, folder: string): Promise<OwnFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(notOwn);
  try {
    const { dev, ino, size, ...facts } = await file.stat();
    const parent = realpathSync(dirname(path));
    const named = lstatSync(join(parent, basename(path)));
    const isInside = `${parent}/`.startsWith(`${realpathSync(folder)}/`);
    // What was opened lies where it may: a link that stood on the way to it is found out by this.
    if (!isInside || !isRegular(facts.mode) || named.dev !== dev || named.ino !== ino) throw notOwn();
    return {
      size,
      async *pieces() {
        for (let at = 0; at < size;) {
          const piece = new Uint8Array(Math.min(PIECE_BYTES, size - at));
          const { bytesRead } = await file.read(piece, 0, piece.length, at);
          if (bytesRead === 0) throw new MediaError("failed", "a run cut its file off while it was kept");
          yield piece.subarray(0, bytesRead);
          at += bytesRead;
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error instanceof MediaError ? error : notOwn(error);
  }
}

const isRegular = (mode: number): boolean => (mode & constants.S_IFMT) === constants.S_IFREG;

function notOwn(cause?: unknown): never {
  throw new MediaError("failed", "a run named a file that is not its own", { cause });
}
