/** Results do not depend on the time zone of the machine. */
import { expect, test } from "bun:test";
import sharp from "sharp";

import { openChild } from "./in-child.ts";

test("a time without a time zone is the one that is written, whatever the zone of the machine", async () => {
  const picture = sharp({ create: { width: 4, height: 4, channels: 3, background: "red" } });
  const image = await picture
    .withExif({ IFD2: { DateTimeOriginal: "2020:01:02 03:04:05" } })
    .jpeg()
    .toBuffer();
  const child = openChild("sharp", { TZ: "Asia/Tokyo" });
  try {
    const { output } = await child.run("image.metadata", { image });
    expect(output?.["exif"]).toMatchObject({ DateTimeOriginal: "2020-01-02T03:04:05.000Z" });
  } finally {
    await child.close();
  }
});
