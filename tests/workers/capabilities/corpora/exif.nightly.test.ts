/** Pictures of exiv2: the data of the camera, as ExifTool reads it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { unpackedPackages } from "#tests/support/debian-program.ts";

import { runCapability } from "../in-folder.ts";
import { type Case, testCorpus } from "./corpus.ts";

// Refused: pictures whose pixels are damaged. Wrong: a damaged directory, and one behind the pixels of a TIFF.
await testCorpus(
  "images of exiv2",
  { name: "exiv2", version: "0.27.6", release: "bookworm", folder: "test/data" },
  { right: 75, refused: 4, wrong: 2 },
  casesIn,
);

/** Tags that are compared, as both sides name them. */
const TAGS = ["Make", "Model", "Software", "Artist", "Copyright", "ExposureTime", "FNumber", "ISO", "FocalLength", "LensModel", "GPSLatitude", "GPSLongitude", "DateTimeOriginal"] as const; // prettier-ignore
type Tags = Partial<Readonly<Record<(typeof TAGS)[number], unknown>>>;

async function tagsOf(path: string): Promise<Tags> {
  const wanted = { release: "trixie", packages: ["libimage-exiftool-perl"], path: "usr/share/perl5/Image" };
  const folder = await unpackedPackages(wanted);
  const [library, program] = [join(folder, "usr/share/perl5"), join(folder, "usr/bin/exiftool")];
  const asked = TAGS.map((tag) => (tag.startsWith("GPS") ? `-Composite:${tag}` : `-EXIF:${tag}`));
  const args = ["-j", "-n", ...asked, path];
  const { stdout } = Bun.spawnSync(["perl", "-I", library, program, ...args], { stderr: "ignore" });
  const [tags = {}] = JSON.parse(stdout.toString() || "[]") as readonly Tags[];
  return tags;
}

/** A picture that the image decoder cannot open is left out: its data has no reader. */
async function* casesIn(folder: string): AsyncIterable<Case> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.(jpe?g|png|webp|tiff?)$/i.test(name)); // prettier-ignore
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    const expected = await tagsOf(path);
    if (Object.keys(expected).length <= 1) continue;
    yield {
      name,
      isRight: async () => {
        const { output } = await runCapability("image.metadata", { image: readFileSync(path) });
        const exif = { ...(output?.["exif"] as Readonly<Record<string, unknown>>) };
        const own: Tags = { ...exif, GPSLatitude: exif["latitude"], GPSLongitude: exif["longitude"] };
        const differing = TAGS.filter((tag) => !isSame(own[tag], expected[tag]));
        if (differing.length > 0) {
          throw new Error(differing.map((tag) => `${tag} ${JSON.stringify([own[tag], expected[tag]])}`).join(", "));
        }
        return true;
      },
    };
  }
}

function isSame(own: unknown, expected: unknown): boolean {
  if (typeof own === "number" || typeof expected === "number") {
    return own === undefined ? expected === undefined : Math.abs(Number(own) - Number(expected)) <= 1e-4 * Math.abs(Number(expected)); // prettier-ignore
  }
  // Dates are `2003:12:14 12:01:44` there, and a time of ISO 8601 here.
  const plain = (value: unknown): string => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)).replaceAll("\0", "").replace(/^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d:\d\d:\d\d).*$/, "$1-$2-$3 $4").trim(); // prettier-ignore
  return plain(own) === plain(expected);
}
