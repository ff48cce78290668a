import { stat } from "node:fs/promises";
import { join } from "node:path";

import sharp from "sharp";

import { MediaError } from "#shared/children/media-error.ts";
import { copyAudio, type CopyPlan, readPictures, type Picture } from "#workers/children/copy-audio.ts";
import type { Container } from "#workers/children/file-source.ts";

import { defineCapability, input, type InputFile } from "../define.ts";
import { flag, integer, text } from "../params.ts";
import { settleComment } from "./mp3.ts";
import { AUDIO_PRICE, mediaTypeOf, readAudioFacts, TUNE } from "./graph.ts";
import { asMediaError } from "../faults.ts";
import { openImage } from "../image/sharp.ts";

const TEXT = { max: 500 } as const;

/** FFmpeg's tag names, by our names. */
const NAMES = {
  title: "title",
  artist: "artist",
  album: "album",
  year: "date",
  genre: "genre",
  track: "track",
  comment: "comment",
} as const;
type Name = keyof typeof NAMES;

interface Tagged extends Pick<CopyPlan["output"], "muxer" | "options"> {
  /** Storage of pictures in the format: as streams, in a tag, or not supported. */
  readonly pictures: "streams" | "tag" | "none";
}

const TAGGED: Partial<Readonly<Record<Container, Tagged>>> = {
  // All players read version 3.
  mp3: { muxer: "mp3", options: { id3v2_version: "3" }, pictures: "streams" },
  mov: { muxer: "mp4", options: { movflags: "+faststart" }, pictures: "streams" },
  flac: { muxer: "flac", pictures: "streams" },
  ogg: { muxer: "ogg", pictures: "tag" },
  wav: { muxer: "wav", pictures: "none" },
  aiff: { muxer: "aiff", options: { write_id3v2: "1", id3v2_version: "3" }, pictures: "streams" },
};

const PICTURE_TAG = "METADATA_BLOCK_PICTURE";

export default defineCapability({
  id: "audio.tag",
  display_name: "Tag audio",
  description: "Writes tags (title, artist and others) and cover art into an audio file without re-encoding it.",
  output_modality: "audio",
  input: {
    audio: input("audio", "The audio: mp3, m4a, flac, ogg, opus, wav or aiff."),
    artwork: input("image", "Cover art, which replaces existing pictures. Not available for WAV.", {
      optional: true,
    }),
  },
  params: {
    title: text("Title of the recording.", TEXT),
    artist: text("Artist.", TEXT),
    album: text("Album.", TEXT),
    year: integer("Year of release.", { min: 1, max: 9_999 }),
    genre: text("Genre, such as Jazz or Podcast.", TEXT),
    track: text("Track number, optionally with the total: 3 or 3/12.", {
      max: 9,
      pattern: "^[0-9]{1,4}(?:/[0-9]{1,4})?$",
    }),
    comment: text("Comment.", TEXT),
    clear: flag("Remove all existing tags and pictures first. If false, tags that are not given are kept.", false),
  },
  sample_input: TUNE,
  examples: [
    { title: "A title only", params: { title: "Three notes" } },
    {
      title: "All tags, replacing the old ones",
      params: {
        title: "Three notes",
        artist: "Sluice",
        album: "Samples",
        year: 2026,
        genre: "Test",
        track: "1/3",
        comment: "A tune.",
        clear: true,
      },
    },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  async run({ params, inputs, folder, progress }) {
    const { clear } = params;
    const newTags = (Object.keys(NAMES) as Name[]).flatMap((name) => {
      const value = params[name];
      return value === undefined ? [] : [[NAMES[name], plain(String(value))] as const];
    });
    if (newTags.length === 0 && inputs.artwork === undefined && !clear) {
      throw new MediaError("invalid", "Expected a tag in params, input.artwork or params.clear, got none.");
    }
    const { source, format, seconds, tags: old } = await readAudioFacts(inputs.audio);
    const tagged = TAGGED[source.container];
    if (!tagged) {
      throw new MediaError(
        "unsupported",
        `Expected mp3, m4a, flac, ogg, opus, wav or aiff, got ${inputs.audio.mediaType}.`,
      );
    }
    if (source.links) {
      const got = `got an Ogg file of ${source.links.length} chained recordings; audio.convert joins them into one`;
      throw new MediaError("unsupported", `Expected one recording, ${got}.`);
    }
    if (inputs.artwork && tagged.pictures === "none") {
      throw new MediaError("invalid", `Expected no input.artwork for ${format}, which has no place for pictures.`);
    }
    const own = await readPictures(source);
    const pictures = inputs.artwork ? [await artworkOf(inputs.artwork)] : clear ? [] : await keptPictures(own);
    const [cover] = pictures;
    const name = `audio.${format}`;
    const path = join(folder, name);
    const written = {
      ...kept(
        clear ? {} : old,
        newTags.map(([key]) => key),
      ),
      ...Object.fromEntries(newTags),
    };
    await copyAudio({
      source,
      output: { path, muxer: tagged.muxer, ...(tagged.options === undefined ? {} : { options: tagged.options }) },
      tags: tagged.pictures === "tag" && cover ? { ...written, [PICTURE_TAG]: pictureComment(cover) } : written,
      pictures: tagged.pictures === "streams" ? pictures : [],
      onSeconds: (at) => progress(seconds > 0 ? Math.min(0.99, at / seconds) : 0),
    }).catch((error: unknown) => {
      if (!(error instanceof MediaError) || error.fault !== "failed") throw error;
      throw new MediaError("corrupt", "The audio cannot be copied.", { cause: error });
    });
    if (source.container === "mp3") await settleComment(path);
    const { size } = await stat(path);
    return {
      output: { format, bytes: size, tags: written, pictures: tagged.pictures === "none" ? 0 : pictures.length },
      files: [{ path, mediaType: mediaTypeOf(format), name }],
    };
  },
});

/** Removes zero characters from a text, because a zero would end the tag's text. */
function plain(value: string): string {
  return value.replaceAll("\0", "").toWellFormed();
}

/** Returns the existing tags that are not replaced. Tag names are compared case-insensitively. */
function kept(old: Readonly<Record<string, string>>, replaced: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(old).filter(([key]) => !replaced.includes(key.toLowerCase())));
}

/** Maximum side length of cover art, in pixels. Players show no larger images, and some reject them. */
const SIDE_PIXELS_MAX = 1_400;

/** Converts the caller's cover image to a format that players support. @throws MediaError as `openImage` */
async function artworkOf(file: InputFile): Promise<Picture> {
  const { image, format: sourceFormat } = await openImage(file);
  const format = sourceFormat === "png" ? "png" : "jpeg";
  const fitted = image
    .resize({ width: SIDE_PIXELS_MAX, height: SIDE_PIXELS_MAX, fit: "inside", withoutEnlargement: true })
    .toColourspace("srgb");
  const encoded = format === "png" ? fitted.png() : fitted.flatten({ background: "white" }).jpeg({ quality: 90 });
  try {
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    return { format, bytes: data, width: info.width, height: info.height };
  } catch (error) {
    throw asMediaError(error);
  }
}

/** Returns the JPEG and PNG pictures of the file. Pictures in other formats are dropped, because few players show them. */
async function keptPictures(all: readonly Buffer[]): Promise<readonly Picture[]> {
  const pictures = await Promise.all(
    all.map(async (bytes) => {
      // Reads only the header.
      const { format, width, height } = await sharp(bytes, { limitInputPixels: false })
        .metadata()
        .catch(() => NONE);
      return format === "jpeg" || format === "png" ? [{ format, bytes, width, height } as const] : [];
    }),
  );
  return pictures.flat();
}

const NONE = { format: undefined, width: 0, height: 0 } as const;

/** Returns a FLAC picture block in base64, the format of pictures in Ogg comments. */
function pictureComment({ format, bytes, width, height }: Picture): string {
  const number = (value: number): Buffer => {
    const four = Buffer.alloc(4);
    four.writeUInt32BE(value);
    return four;
  };
  const type = Buffer.from(`image/${format}`);
  const bits = format === "png" ? 32 : 24;
  const head = [number(FRONT_COVER), number(type.length), type, number(0), number(width), number(height), number(bits)];
  return Buffer.concat([...head, number(0), number(bytes.length), bytes]).toString("base64");
}

const FRONT_COVER = 3;
