/** Pictures of libpng in black and white, encoded by jbig2enc as scanners do: rendered and extracted, they have the pixels that were encoded. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "bun:test";
import sharp from "sharp";

import { debianProgram } from "#tests/support/debian-program.ts";
import type { DebianSource } from "#tests/support/debian-source.ts";
import { pdfOfPages } from "#tests/support/hostile-files/documents.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, testCorpus } from "./corpus.ts";
import { poppler } from "./poppler.ts";

const LIBPNG: DebianSource = { name: "libpng1.6", version: "1.6.48", release: "trixie", folder: "contrib/testpngs" };
const JBIG2ENC = {
  release: "trixie",
  packages: ["jbig2", "libjbig2enc0t64", "libleptonica6", "libc6", "libstdc++6", "libgcc-s1", "libpng16-16t64", "libjpeg62-turbo", "libgif7", "libtiff6", "libwebp7", "libwebpmux3", "libopenjp2-7", "zlib1g", "libzstd1", "liblzma5", "liblerc4", "libjbig0", "libdeflate0", "libsharpyuv0"], // prettier-ignore
  path: "usr/bin/jbig2",
};

/** Ways of encoding: one region, one whose equal lines are skipped, and symbols with their places. */
const MODES = [
  { name: "region", args: [] },
  { name: "lines", args: ["-d"] },
  { name: "symbols", args: ["-s"] },
] as const;

const scratch = mkdtempSync(join(tmpdir(), "sluice-jbig2-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

await testCorpus("scans in JBIG2", LIBPNG, { right: 156, refused: 0, wrong: 0 }, casesIn);

async function* casesIn(folder: string): AsyncIterable<Case> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".png") && !/linear|sRGB|1\.8/.test(name));
  for (const name of names.toSorted()) {
    const picture = await sharp(readFileSync(join(folder, name))).flatten({ background: "white" }).toColourspace("b-w").threshold(128).png().toBuffer(); // prettier-ignore
    const path = join(scratch, "picture.png");
    for (const mode of MODES) {
      writeFileSync(path, picture);
      const document = await encoded(path, picture, mode.args);
      const expected = mode.name === "symbols" ? await pixelsOfPoppler(document) : await greys(picture);
      for (const id of ["document.render_pages", "document.extract_images"]) {
        yield {
          name: `${name} by ${mode.name}, ${id}`,
          isRight: async () => {
            const made = await runCapability(id, { document }, { pack: "files", ...(id === "document.render_pages" ? { dpi: 72 } : { min_width: 1, min_height: 1 }) }); // prettier-ignore
            const own = await greys(made.bytes());
            const differing = own.filter((value, at) => Math.abs(value - (expected[at] ?? -1)) > 1).length;
            if (own.length !== expected.length || differing > 0) throw new Error(`${differing} pixels differ`);
            return true;
          },
        };
      }
    }
  }
}

async function encoded(path: string, picture: Uint8Array, args: readonly string[]): Promise<Buffer> {
  const [program, ...loading] = await debianProgram(JBIG2ENC);
  const base = join(scratch, "symbols");
  const options = { stderr: "ignore", cwd: scratch } as const;
  const { exitCode, stdout } = Bun.spawnSync([program, ...loading, "-p", ...args, "-T", "128", "-G", "-b", base, path], options); // prettier-ignore
  if (exitCode !== 0) throw new Error(`jbig2 ended with ${exitCode}`);
  const hasSymbols = args.length > 0 && args[0] === "-s";
  const data = hasSymbols ? readFileSync(`${base}.0000`) : stdout;
  const { width, height } = await sharp(picture).metadata();
  const stream = (bytes: Buffer, more: string): string =>
    `<< ${more} /Length ${bytes.length} >>\nstream\n${bytes.toString("latin1")}\nendstream`;
  const image = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 1 /ColorSpace /DeviceGray`;
  const shared = hasSymbols ? "/DecodeParms << /JBIG2Globals 6 0 R >>" : "";
  const draw = Buffer.from(`${width} 0 0 ${height} 0 0 cm /I Do`);
  return pdfOfPages(
    "/Kids [3 0 R] /Count 1",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R >>`,
    stream(data, `${image} /Filter /JBIG2Decode ${shared}`),
    stream(draw, ""),
    ...(hasSymbols ? [stream(readFileSync(`${base}.sym`), "")] : []),
  );
}

/** Symbols may stand for similar ones: what the encoder has kept, another decoder shows. */
async function pixelsOfPoppler(document: Uint8Array): Promise<Buffer> {
  const path = join(scratch, "scan.pdf");
  writeFileSync(path, document);
  await poppler("pdfimages", ["-png", path, join(scratch, "image")]);
  return greys(readFileSync(join(scratch, "image-000.png")));
}

async function greys(png: Uint8Array): Promise<Buffer> {
  return sharp(png).flatten({ background: "white" }).toColourspace("b-w").raw().toBuffer();
}
