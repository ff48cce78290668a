/**
 * The child of capabilities with one capability exchanged: `code.regex` fails in the way that its text names. Everything around
 * it is the real thing.
 */
import { CFunction, dlopen, type Pointer, toArrayBuffer } from "bun:ffi";
import { rmSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

import { encodeFrame } from "#shared/children/frames.ts";
import type { InputFile, RunOutput } from "#workers/capabilities/define.ts";

interface Given {
  readonly folder: string;
  readonly inputs: { readonly text: InputFile };
}
type Fault = (given: Given, canary: string) => Promise<RunOutput> | RunOutput;

const never = (): Promise<never> => new Promise(() => undefined);
const raw = (bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.byteLength;) at += writeSync(1, bytes, at);
};
/** The number of the present job, which its answers bear, as the child read it. */
let job: unknown;
const { parse } = JSON;
JSON.parse = (...args: Parameters<typeof parse>): unknown => {
  const value: unknown = parse(...args);
  const { task, job: number } = (value ?? {}) as { readonly task?: unknown; readonly job?: unknown };
  if (typeof task === "string" && number !== undefined) job = number;
  return value;
};
const answer = (head: object, parts: Uint8Array[] = []): void => {
  for (const bytes of encodeFrame({ head: { job, ...head }, parts })) raw(bytes);
};
const file = (path: string) => ({ files: [{ path, mediaType: "text/plain", name: "made.txt" }] });

/** A file that is well, and not what is told of it. */
function madeAs(folder: string, told: object): ReturnType<typeof file> {
  const path = join(folder, "made.txt");
  writeFileSync(path, "made");
  const [one] = file(path).files;
  return { files: [{ ...one, ...told } as never] };
}

const isArm = process.arch === "arm64";
/** No instruction. */
const UNKNOWN = isArm ? [0, 0, 0, 0] : [0x0f, 0x0b];
/** Reads at address 0. */
const NOWHERE = isArm ? [0, 0, 0x80, 0xd2, 0, 0, 0x40, 0xf9] : [0x31, 0xc0, 0x8b, 0x00];

/** Machine code, so that the fault is the processor's: a signal that a process sends itself does not reach the first of its space. */
function execute(code: readonly number[]): never {
  const { symbols } = dlopen("libc.so.6", {
    mmap: { args: ["ptr", "usize", "i32", "i32", "i32", "i64"], returns: "ptr" },
  });
  // Readable, writable, executable; private, anonymous.
  const page = symbols.mmap(null, 4_096, 7, 0x22, -1, 0) as Pointer;
  new Uint8Array(toArrayBuffer(page, 0, 4_096)).set(code);
  CFunction({ ptr: page, returns: "void" })();
  throw new Error("it went on");
}

const FAULTS: Readonly<Record<string, Fault>> = {
  async throws_late(_given, canary) {
    await Bun.sleep(50);
    throw new Error(`it went wrong at ${canary}`);
  },
  async rejects_unheard() {
    void Promise.reject(new Error("unheard"));
    return never();
  },
  answers_then_rejects() {
    setTimeout(() => void Promise.reject(new Error("unheard")), 20);
    return { output: { fine: true } };
  },
  exits_0: () => process.exit(0),
  exits_1: () => process.exit(1),
  SIGILL: () => execute(UNKNOWN),
  SIGSEGV: () => execute(NOWHERE),
  no_output: never,
  spins() {
    for (;;) Math.sqrt(2);
  },
  endless_bytes() {
    for (const bytes = new Uint8Array(65_536).fill(0x41); ;) raw(bytes);
  },
  async endless_progress() {
    for (let at = 1; ; at++) {
      answer({ kind: "chunk" }, [new Uint8Array(Float64Array.of(at / 1e9).buffer)]);
      // A flood at first.
      if (at > 10_000) await Bun.sleep(5);
    }
  },
  odd_progress() {
    answer({ kind: "chunk" }, [new Uint8Array(1)]);
    return { output: { fine: true } };
  },
  answers_twice() {
    const more = { rssBytes: 1, processorSeconds: 0 };
    answer({ kind: "done", output: { output: { answer: "of another run" }, ms: 1 }, ...more });
    return { output: { answer: "of another run" } };
  },
  half_an_answer() {
    raw(Uint8Array.of(0, 0, 0, 9, 0, 0));
    process.exit(0);
  },
  answers_too_much: () => ({ output: { text: "x".repeat(6_000_000) } }),
  names_what_is_outside: () => file("/etc/passwd"),
  names_a_way_out: ({ folder }) => file(join(folder, "..", "..", "passwd")),
  links_outside({ folder }) {
    symlinkSync("/etc/passwd", join(folder, "link"));
    return file(join(folder, "link"));
  },
  names_nothing: () => ({ files: [{}] as never }),
  names_no_path: () => file("a\u0000b"),
  names_a_number: ({ folder }) => madeAs(folder, { name: 5 }),
  names_no_media_type: ({ folder }) => madeAs(folder, { mediaType: {} }),
  names_what_never_was: ({ folder }) => file(join(folder, "made.txt")),
  takes_it_away({ folder }) {
    writeFileSync(join(folder, "made.txt"), "made".repeat(1_000_000));
    setTimeout(() => rmSync(join(folder, "made.txt"), { force: true }), 1);
    return file(join(folder, "made.txt"));
  },
  makes_an_empty_file({ folder }) {
    writeFileSync(join(folder, "made.txt"), "");
    return file(join(folder, "made.txt"));
  },
  makes_a_file({ folder }) {
    writeFileSync(join(folder, "made.txt"), "made");
    return file(join(folder, "made.txt"));
  },
  /** Works for as long as it is given to live when its worker stops. */
  async takes_a_while({ folder }) {
    await Bun.sleep(2_000);
    writeFileSync(join(folder, "made.txt"), "made");
    return file(join(folder, "made.txt"));
  },
  /** Files deeper than a path may be long, looked at while it works on. */
  async digs_deep({ folder }) {
    const name = "d".repeat(200);
    Bun.spawnSync(["sh", "-c", `for i in $(seq 25); do mkdir ${name}; cd ${name}; echo deep > file-${name}; done`], {
      cwd: folder,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    });
    await Bun.sleep(600);
    return { output: { fine: true } };
  },
};

Bun.plugin({
  name: "a capability that fails as it is told",
  setup(build) {
    build.onLoad({ filter: /capabilities\/code\/regex\.ts$/ }, () => ({
      loader: "object",
      exports: {
        default: {
          id: "code.regex",
          async run(given: Given): Promise<RunOutput> {
            const [name = "", canary = ""] = (await Bun.file(given.inputs.text.path).text()).split(" ");
            const fault = FAULTS[name];
            return fault ? await fault(given, canary) : { output: { fine: true } };
          },
        },
      },
    }));
  },
});

await import("#workers/capabilities/child.ts");
