/** PNGs of libpng's own tests: converted, they have the pixels that libpng reads before and after. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import type { DebianSource } from "#tests/support/debian-source.ts";
import { debianProgram } from "#tests/support/debian-program.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, isRefused, testCorpus } from "./corpus.ts";

const LIBPNG: DebianSource = { name: "libpng1.6", version: "1.6.48", release: "trixie", folder: "contrib/pngsuite" };

await testCorpus("PngSuite", LIBPNG, { right: 60, refused: 0, wrong: 0 }, cases);
await testCorpus("test images of libpng", { ...LIBPNG, folder: "contrib/testpngs" }, { right: 137, refused: 0, wrong: 0 }, cases); // prettier-ignore

const NETPBM = {
  release: "trixie",
  packages: ["netpbm", "libnetpbm11t64", "libpng16-16t64", "zlib1g", "libc6", "libx11-6", "libxcb1", "libxau6", "libxdmcp6"], // prettier-ignore
  path: "usr/bin/pngtopam",
};

function* cases(folder: string): Iterable<Case> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".png"));
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    yield {
      name,
      isRight: async () => {
        const before = await pixelsOf(path);
        const work = runCapability("image.convert", { image: readFileSync(path) }, { format: "png" });
        if (before === undefined) return isRefused(work);
        const made = join(tmpdir(), `sluice-png-${process.pid}-${basename(name)}`);
        writeFileSync(made, (await work).bytes());
        const after = await pixelsOf(made);
        return after !== undefined && isSame(before, after);
      },
    };
  }
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha of each pixel, 0 to 1. */
  readonly values: Float64Array;
}

/** @returns undefined for a file that libpng refuses */
async function pixelsOf(path: string): Promise<Pixels | undefined> {
  const command = await debianProgram(NETPBM);
  const { exitCode, stdout } = Bun.spawnSync([...command, "-alphapam", path], { stderr: "ignore" });
  if (exitCode !== 0) return undefined;
  const end = stdout.indexOf("ENDHDR\n") + 7;
  const head = stdout.subarray(0, end).toString("latin1");
  const fact = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(head)?.[1]);
  const [width, height, depth, max] = [fact("WIDTH"), fact("HEIGHT"), fact("DEPTH"), fact("MAXVAL")];
  const size = max > 255 ? 2 : 1;
  const hidden = hiddenColour(readFileSync(path));
  const values = new Float64Array(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    const sample = (channel: number): number => stdout.readUIntBE(end + (at * depth + channel) * size, size) / max;
    const isGrey = depth <= 2;
    const alpha = depth % 2 === 0 ? sample(depth - 1) : 1;
    const isHidden = hidden !== undefined && hidden.every((one, channel) => one === Math.round(sample(channel) * max));
    values.set([sample(0), sample(isGrey ? 0 : 1), sample(isGrey ? 0 : 2), isHidden ? 0 : alpha], at * 4);
  }
  return { width, height, values };
}

/** Colour that counts as transparent in a PNG of red, green and blue; netpbm ignores it there. */
function hiddenColour(png: Buffer): readonly number[] | undefined {
  const at = png.indexOf("tRNS");
  return png[25] === 2 && at > 0 && at < png.indexOf("IDAT")
    ? [4, 6, 8].map((place) => png.readUInt16BE(at + place))
    : undefined;
}

/** True when no value differs by more than a step of 8 bits, where the pixel is seen. */
function isSame(one: Pixels, other: Pixels): boolean {
  if (one.width !== other.width || one.height !== other.height) return false;
  return one.values.every((value, at) => {
    const alpha = one.values[at | 3] ?? 1;
    return (alpha === 0 && (at & 3) !== 3) || Math.abs(value - (other.values[at] ?? -1)) <= 1 / 255;
  });
}
