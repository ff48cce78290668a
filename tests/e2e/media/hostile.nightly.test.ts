/**
 * Input that was made to do harm, against every media route of the running service: each call is told what is wrong in the
 * envelope, pays nothing and holds nothing; no process ends or grows with it; and the next call is served. Addresses stand
 * in hostile-addresses.nightly.test.ts, forms of the file store in tests/e2e/stock-clients/files.ts.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";

import sharp from "sharp";

import type { MediaResults } from "#schemas/generated/types.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { hostileFiles, type HostileName, PAGE, playlistsOf } from "#tests/support/hostile-files/corpus.ts";
import { animatedGif, pngOfPixels, svgOf } from "#tests/support/hostile-files/pictures.ts";
import { flacOfHours, flacOfSilence, mp3OfHours, oggOfHours, wav } from "#tests/support/hostile-files/sounds.ts";
import { pngOf } from "#tests/support/png.ts";
import { beginUpload, BOUNDARY, END, part } from "#tests/support/raw-form.ts";

import {
  base64,
  EDITS,
  expectBounded,
  expectQuiet,
  expectRefusal,
  expectUnpaid,
  type HostileBench,
  invalid,
  MB,
  MESHES,
  missingFile,
  PICTURE,
  type Refusal,
  startHostileBench,
  TRANSCRIPTIONS,
  unprocessable,
  unsupported,
  VIDEOS,
} from "./hostile-bench.ts";

let bench: HostileBench;
let jpeg: Buffer;

beforeAll(async () => {
  jpeg = await sharp(PICTURE).jpeg().toBuffer();
  bench = await startHostileBench(() => ({}));
}, 90_000);

afterEach(() => bench.expectAlive());

afterAll(() => bench?.close());

const edit = (more: object): Promise<Response> =>
  bench.call(EDITS, { model: "sandbox-image", prompt: "a sun", image_base64: base64(PICTURE), ...more });

describe("an image to edit", () => {
  const ANSWERS: Readonly<Record<HostileName<"picture">, RegExp | "taken">> = {
    "a PNG of 900 million pixels": /has 900000000 pixels/,
    "a PNG without its 49 million pixels": /has 49000000 pixels/,
    "a WebP of 270 million pixels, animated": /has 268402689 pixels/,
    "a WebP larger than its own canvas": /damaged or cut off/,
    "a JPEG of twenty thousand scans": /damaged or cut off/,
    "a PNG of no pixels": /neither/,
    "a PNG cut off": /cut off/,
    "a JPEG cut off": /cut off/,
    "a JPEG of a head only": /neither PNG nor JPEG nor WebP/,
    "a WebP cut off": /cut off/,
    "a PNG whose data go on for gigabytes": "taken",
    "a PNG whose colours are told in a gigabyte": "taken",
    "a PNG with a comment of a gigabyte": "taken",
    "a PNG with a text of a gigabyte": "taken",
    "a WebP of five thousand frames": "taken",
    "a JPEG with a page as its comment": "taken",
    "a JPEG that is a ZIP as well": "taken",
    "a PNG that is a page as well": "taken",
    "a WebP that is a ZIP as well": "taken",
    "a GIF of five thousand pixels, one a frame": /image.gif/,
    "a BMP of 900 million pixels": /image.bmp/,
    "a BMP without its 49 million pixels": /image.bmp/,
    "a BMP of no pixels": /image.bmp/,
    "a GIF of twenty gigapixels": /image.gif/,
  };

  test.each(hostileFiles("picture"))("that is %s is rejected as image and as mask, or decoded", async (name, make) => {
    const says = ANSWERS[name];
    const type = `image/${(name.split(" ")[1] ?? "").toLowerCase()}`;
    const image_base64 = base64(await make());
    const asPicture = await edit({ image_base64, image_mime_type: type, response_format: "b64_json" });
    if (says === "taken") return expectPlainPicture(asPicture);
    const refusalOf = (member: string): Refusal =>
      type === "image/gif" || type === "image/bmp"
        ? unsupported(`${member}_mime_type`)
        : unprocessable(`${member}_base64`);
    expect(await expectRefusal(bench, asPicture, refusalOf("image"))).toMatch(says);
    const asMask = await edit({ mask_base64: image_base64, mask_mime_type: type });
    expect(await expectRefusal(bench, asMask, refusalOf("mask"))).toMatch(says);
  });

  /** It was decoded as far as it is a picture, and nothing of the rest is handed on. */
  async function expectPlainPicture(response: Response): Promise<void> {
    const { data } = (await response.json()) as MediaResults;
    const made = Buffer.from(data[0]?.b64_json ?? "", "base64");
    expect([response.status, (await sharp(made).metadata()).format]).toEqual([200, "png"]);
    expect(made.length).toBeLessThan(MB);
    for (const foreign of ["<script", "PK\u0003\u0004"]) expect(made.includes(foreign)).toBe(false);
  }

  test.each(hostileFiles("disguise"))(
    "that is %s is rejected by the ingress, regardless of its name",
    async (name, make) => {
      const bytes = base64(await make());
      for (const type of ["image/png", "image/jpeg", "image/webp", "image/svg+xml"]) {
        for (const member of ["image", "mask"]) {
          const answer = await edit({ [`${member}_base64`]: bytes, [`${member}_mime_type`]: type });
          const param = `${member}_base64`;
          const isNothing = name === "nothing";
          const expected = type.endsWith("xml") ? unsupported(`${member}_mime_type`) : unprocessable(param);
          await expectRefusal(bench, answer, isNothing ? invalid(param) : expected);
        }
      }
    },
  );

  test.each<[string, () => Uint8Array, string, Refusal]>([
    ["a GIF called a PNG", () => animatedGif(5_000), "image/png", unprocessable("image_base64")],
    ["a JPEG called a PNG", () => jpeg, "image/png", unprocessable("image_base64")],
    ["of a type that objects inherit", () => PICTURE, "__proto__", unsupported("image_mime_type")],
    ["of a type with a header behind it", () => PICTURE, "image/png\r\nx-a: b", unsupported("image_mime_type")],
  ])("that is %s is rejected by the ingress", async (_what, make, image_mime_type, expected) => {
    await expectRefusal(bench, await edit({ image_base64: base64(make()), image_mime_type }), expected);
  });

  test("in anything but base64 is rejected; data URLs, blanks and missing padding are accepted", async () => {
    const text = base64(pngOf(61, 63, [251, 255, 191]));
    expect([text.endsWith("="), /[+/]/.test(text)]).toEqual([true, true]);
    for (const image_base64 of [
      text.replaceAll("+", "-").replaceAll("/", "_"),
      `${text}====`,
      `AA==${text}`,
      `${text}\0`,
      `${text}é`,
      `data:image/png;base64,${text}\0`,
      "    ",
      "%%%%",
    ]) {
      await expectRefusal(bench, await edit({ image_base64 }), unprocessable("image_base64"));
    }
    for (const image_base64 of ["", 5, [text], { text }, true]) {
      await expectRefusal(bench, await edit({ image_base64 }), invalid("image_base64"));
    }
    const dataUrl = `data:image/png;base64,${text}`;
    for (const image_base64 of [text.replace(/=+$/, ""), text.replaceAll(/(.{20})/g, "$1\r\n\t"), dataUrl]) {
      expect((await edit({ image_base64 })).status).toBe(200);
    }
  });

  test.each<[string, () => object, Refusal]>([
    ["of another size", () => ({ mask_base64: base64(pngOf(32, 64)) }), unsupported("mask_base64")],
    [
      "of a type without transparency",
      () => ({ mask_base64: base64(jpeg), mask_mime_type: "image/jpeg" }),
      unsupported("mask_base64"),
    ],
    [
      "of another type than it says",
      () => ({ mask_base64: base64(jpeg), mask_mime_type: "image/png" }),
      unprocessable("mask_base64"),
    ],
    [
      "by two ways",
      () => ({ mask_base64: base64(PICTURE), mask_file_id: "file-0123456789abcdef0123456789abcdef" }),
      invalid("mask_file_id"),
    ],
    ["of no file", () => ({ mask_file_id: "../../etc/passwd" }), missingFile("mask_file_id")],
  ])("with a mask %s reports the mask", async (_what, body, expected) => {
    await expectRefusal(bench, await edit(body()), expected);
  });

  const stored = (image_file_id: string): Promise<Response> => edit({ image_base64: undefined, image_file_id });

  test("from the file store that is not an image, or only starts like one, is rejected", async () => {
    const text = await bench.store(Buffer.from("hello"), "a.txt");
    await expectRefusal(bench, await stored(text), unprocessable("image_file_id"));
    const bomb = await bench.store(pngOfPixels(), "a.png");
    await expectRefusal(bench, await stored(bomb), unprocessable("image_file_id"));
  });

  test("of another workspace is answered like an unknown one", async () => {
    const other = await createWorkspace(bench.stack, { creditsNano: 0n });
    const foreign = await bench.store(PICTURE, "a.png", other.key);
    const nobodys = "file-0123456789abcdef0123456789abcdef";
    const told = await Promise.all(
      [foreign, nobodys].map(async (id) => expectRefusal(bench, await stored(id), missingFile("image_file_id"))),
    );
    expect(told[0]).toBe(told[1] ?? "");
    for (const id of ["../../etc/passwd", "__proto__", "file-\0", `${foreign}/content`, foreign.toUpperCase()]) {
      await expectRefusal(bench, await stored(id), missingFile("image_file_id"));
    }
  });

  test("that is deleted between the call and its job is missing, and costs nothing", async () => {
    const id = await bench.store(PICTURE, "a.png");
    const [worker] = bench.stack.workers;
    const jobs = async (): Promise<number> => (await bench.stack.query("select 1 from job")).length;
    const before = await jobs();
    worker?.kill("SIGSTOP");
    try {
      const answer = stored(id);
      await eventually("the job is admitted", async () => (await jobs()) > before);
      await bench.client.files.delete(id);
      worker?.kill("SIGCONT");
      await expectRefusal(bench, await answer, missingFile("image_file_id"));
    } finally {
      worker?.kill("SIGCONT");
    }
  });
});

describe("a recording", () => {
  const form = (bytes: Uint8Array, name: string, type: string): Promise<Response> => {
    const body = new FormData();
    body.append("model", "sandbox-stt");
    body.append("file", new File([new Uint8Array(bytes)], name, { type }));
    const headers = { authorization: `Bearer ${bench.stack.key}` };
    return fetch(bench.base + TRANSCRIPTIONS, { method: "POST", headers, body });
  };
  const json = (more: object): Promise<Response> =>
    bench.call(TRANSCRIPTIONS, { model: "sandbox-stt", audio_base64: base64(wav()), ...more });
  const heard = async (response: Response): Promise<{ text: string; seconds: number; settled: bigint }> => {
    const { text = "", usage } = (await response.json()) as { text?: string; usage?: { seconds: number } };
    const [row] = await bench.usageOf(response);
    return { text, seconds: usage?.seconds ?? Number.NaN, settled: row?.settled ?? 0n };
  };

  const SOUNDS: Readonly<Record<HostileName<"sound">, RegExp>> = {
    "a WAV of no samples a second": /an invalid sample rate/,
    "a WAV of a billion samples a second": /an invalid sample rate/,
    "a WAV of 65535 channels": /an invalid number of channels/,
    "a WAV of no channel": /an invalid number of channels/,
    "a WAV of samples of no bits": /contains no audio/,
    "a WAV of samples of 8 KB": /codec|samples/,
    "a WAV of an unknown codec": /codec/,
    "a WAV of a codec that names its own rate": /codec/,
    "a WAV of ADPCM without blocks": /contains no audio/,
    "a WAV whose format goes on for 4 GB": /no data chunk/,
    "a WAV without data": /no data chunk/,
    "a FLAC that ends at once": /./,
    "a CAF that ends at once": /got another format/,
    "a CAF of no samples a second": /got another format/,
    "an AC-3 of a head only": /got another format/,
    "an Ogg of nothing known": /./,
  };

  async function expectRefusedSound(bytes: Uint8Array, says: RegExp): Promise<void> {
    const refusalOf = bytes.length > 0 ? unprocessable : invalid;
    for (const type of ["audio/mpeg", "audio/wav", "application/vnd.apple.mpegurl"]) {
      expect(await expectRefusal(bench, await form(bytes, "a", type), refusalOf("file"))).toMatch(says);
    }
    await expectRefusal(bench, await json({ audio_base64: base64(bytes) }), refusalOf("audio_base64"));
  }

  test.each(hostileFiles("sound"))("that is %s is rejected, as a form and in base64", async (name, make) => {
    await expectRefusedSound(await make(), SOUNDS[name]);
  });

  test.each(hostileFiles("disguise"))("that is %s is rejected, regardless of its name", async (name, make) => {
    await expectRefusedSound(await make(), name === "nothing" ? /file/ : /got another format/);
  });

  test.each(hostileFiles("film"))("that is %s is rejected for missing audio", async (_name, make) => {
    await expectRefusedSound(
      await make(),
      /no audio track|got another format|container is damaged|smaller than its header/,
    );
  });

  test("that is an image named as WAV is rejected", () => expectRefusedSound(PICTURE, /got another format/));

  test.each<[string, Parameters<typeof wav>[0]]>([
    ["4 GB of sound", { dataBytes: 0xffff_fff0 }],
    ["2 GB of sound", { dataBytes: 0x7fff_ffff }],
    ["no sound", { dataBytes: 0 }],
    ["a file of 4 GB", { riffBytes: 0xffff_ffff }],
    ["blocks of nothing", { blockBytes: 0 }],
    ["blocks of 60 KB", { blockBytes: 60_000 }],
  ])("that is a WAV and declares %s is charged for its actual second", async (_what, head) => {
    const { seconds, settled } = await heard(await form(wav(head), "a.wav", "audio/wav"));
    expect([seconds, settled]).toEqual([1, 8_333_334n]);
  });

  test("that declares hours is charged for its actual length; one that lasts hours is rejected by the model", async () => {
    const spoken = async (response_format: "mp3" | "flac" | "opus"): Promise<Buffer> => {
      const wish = { model: "sandbox-tts", input: "Hello there.", voice: "alloy", response_format } as const;
      return Buffer.from(await (await bench.client.audio.speech.create(wish)).arrayBuffer());
    };
    const [mp3, flac, opus] = await Promise.all([spoken("mp3"), spoken("flac"), spoken("opus")]);
    const frames = mp3.subarray(mp3.indexOf(Buffer.of(0xff, 0xf3)));
    for (const [bytes, type] of [
      [mp3OfHours(frames), "audio/mpeg"],
      [flacOfHours(flac), "audio/flac"],
      [oggOfHours(opus), "audio/ogg"],
    ] as const) {
      const { text, seconds } = await heard(await form(bytes, "a", type));
      expect(text).toBe("Hello there.");
      expect(seconds).toBeLessThan(2);
    }
    // Slow enough, any samples are hours.
    await expectRefusal(bench, await form(wav({ rate: 1 }), "a.wav", "audio/wav"), unsupported("file"));
    await expectRefusal(bench, await json({ audio_base64: base64(wav({ rate: 1 })) }), unsupported("audio_base64"));
    const file_id = await bench.store(wav({ rate: 1 }), "a.wav");
    await expectRefusal(bench, await json({ audio_base64: undefined, file_id }), unsupported("file_id"));
  });

  test("of gigabytes of samples in 100 KB is decoded up to the limit", async () => {
    const { text, seconds } = await heard(await form(flacOfSilence(3_000, 655_350), "a.flac", "audio/flac"));
    expect([text, Math.round(seconds)]).toEqual(["[300 seconds of silence]", 300]);
  });

  test("of invalid numbers is silence", async () => {
    const sound = Buffer.alloc(16_000, 0xff);
    const response = await form(wav({ code: 3, bits: 32 }, sound), "a.wav", "audio/wav");
    expect(await heard(response)).toMatchObject({ text: "[0.5 seconds of silence]" });
  });

  test("that is a list of further files is rejected; none of the listed files is opened", async () => {
    const lists = Object.values(playlistsOf(`${bench.innerUrl}/list`)).map((list) => Buffer.from(list));
    const frames = await (
      await bench.client.audio.speech.create({ model: "sandbox-tts", input: "Hi.", voice: "alloy" })
    ).arrayBuffer();
    for (const list of lists) {
      const tagged = Buffer.concat([Buffer.from("ID3\u0003\0\0\0\0\0\0", "latin1"), list]);
      for (const bytes of [list, tagged]) {
        await expectRefusal(bench, await form(bytes, "a.mp3", "audio/mpeg"), unprocessable("file"));
      }
    }
    // Sound with lists behind it is sound.
    const both = Buffer.concat([Buffer.from(frames), ...lists]);
    expect((await form(both, "a.mp3", "audio/mpeg")).status).toBe(200);
    expect(bench.askedInside).toEqual([]);
  });

  test.each(["../../../../etc/passwd.wav", "C:\\windows\\..\\x.wav", "/dev/zero", "a\0b\r\nx-a: b\u202e.wav", "."])(
    "named %j is a recording like any other",
    async (name) => {
      expect(await heard(await form(wav(), name, "audio/wav"))).toMatchObject({ seconds: 1, settled: 8_333_334n });
    },
  );

  test("in invalid JSON, or named like inherited members, is rejected or judged by its bytes", async () => {
    for (const audio_base64 of ["-_-_", "%%%%", `data:audio/wav;base64,${base64(wav())}!`, "aGVsbG8gd29ybGQ="]) {
      await expectRefusal(bench, await json({ audio_base64 }), unprocessable("audio_base64"));
    }
    await expectRefusal(bench, await json({ response_format: "__proto__" }), unsupported("response_format"));
    const file_id = "../../etc/passwd";
    await expectRefusal(bench, await json({ audio_base64: undefined, file_id }), missingFile("file_id"));
    for (const mime_type of ["__proto__", "constructor", "a\0b", "image/svg+xml"]) {
      expect((await json({ mime_type, language: "../\0", prompt: "\ud800" })).status).toBe(200);
    }
  });

  describe("in a form", () => {
    const MODEL = part('name="model"', "sandbox-stt");
    const FILE = part('name="file"; filename="a.wav"', wav(), "content-type: audio/wav\r\n");

    async function answerTo(pieces: readonly Uint8Array[], headers: Record<string, string> = {}): Promise<string> {
      const upload = beginUpload(bench.base, bench.stack.key, headers, TRANSCRIPTIONS);
      for (const piece of pieces) await upload.send(piece);
      upload.end();
      const text = await upload.answered;
      upload.socket.destroy();
      return text;
    }

    async function expectRefused(text: string, { status, code, param }: Refusal): Promise<void> {
      const { error } = JSON.parse(/\{.*\}/.exec(text)?.[0] ?? "{}") as { error?: object };
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(error).toMatchObject({ code, param });
      await expectUnpaid(bench, /x-request-id: (\S+)/i.exec(text)?.[1] ?? "");
    }

    test.each<[string, readonly Uint8Array[], Refusal]>([
      ["that ends before its last boundary", [MODEL, FILE], invalid(null)],
      ["that ends within the file", [MODEL, FILE.subarray(0, 300)], invalid(null)],
      ["of nothing", [], invalid(null)],
      [
        "of hundreds of parts",
        [...Array.from({ length: 300 }, (_, at) => part(`name="x${at}"`, "1")), MODEL, FILE, END],
        invalid(null),
      ],
      ["of two files", [MODEL, FILE, FILE, END], invalid("file")],
      ["whose file is a field", [MODEL, part('name="file"', "/etc/passwd"), END], invalid("file")],
      ["whose model is a list", [MODEL, FILE, part('name="model[]"', "sandbox-stt"), END], invalid("model")],
      [
        "with a field of two megabytes",
        [MODEL, FILE, part('name="prompt"', "x".repeat(2 * MB)), END],
        { status: 413, code: "request_too_large", param: "prompt" },
      ],
      [
        "whose file is in base64",
        [MODEL, part('name="file"; filename="a"', base64(wav()), "content-transfer-encoding: base64\r\n"), END],
        invalid(null),
      ],
    ])("%s is refused", async (_what, pieces, expected) => {
      await expectRefused(await answerTo(pieces), expected);
    });

    test("that is compressed is rejected unread", async () => {
      const bomb = gzipSync(Buffer.alloc(MB));
      const text = await answerTo([bomb], { "content-encoding": "gzip" });
      await expectRefused(text, { status: 415, code: "unsupported_media_type", param: null });
    });

    test("with parts named like inherited members, or unnamed, is accepted", async () => {
      const names = ["__proto__", "constructor", "__proto__[]", "constructor[]", "toString[]", "[]", ""];
      const parts = names.map((name) => part(`name="${name}"`, "x"));
      expect(await answerTo([MODEL, FILE, ...parts, END])).toStartWith("HTTP/1.1 200 ");
    });

    test("without end is cut off at the limit", async () => {
      const upload = beginUpload(bench.base, bench.stack.key, {}, TRANSCRIPTIONS);
      for (const piece of [MODEL, FILE.subarray(0, -2)]) await upload.send(piece);
      let sent = 0;
      for (const piece = Buffer.alloc(MB); sent < 400 * MB; sent += piece.length) {
        if (typeof (await Promise.race([upload.answered, upload.send(piece)])) === "string") break;
        // The answer comes in by a turn of its own.
        await new Promise(setImmediate);
      }
      await expectRefused(await upload.answered, { status: 413, code: "request_too_large", param: "file" });
      upload.socket.destroy();
      expect(sent).toBeLessThan(200 * MB);
    });

    const whole = Buffer.concat([MODEL, FILE, END]);
    test.each<[string, string, Uint8Array]>([
      ["too large", `content-length: ${whole.length + 1_000}`, whole],
      ["of a terabyte", "content-length: 999999999999", whole.subarray(0, 500)],
      ["too small", "content-length: 200", whole],
      ["below nothing", "content-length: -5", whole],
      ["of 26 digits", "content-length: 99999999999999999999999999", whole],
      ["in another notation", "content-length: 1e3", whole],
      ["beside chunks", "content-length: 5\r\ntransfer-encoding: chunked", Buffer.from("5\r\nhello\r\n0\r\n\r\n")],
    ])("with a length that is %s is rejected", async (_what, header, body) => {
      const jobs = async (): Promise<unknown[]> => bench.stack.query("select job_id from usage_record");
      const before = (await jobs()).length;
      const { hostname, port, host } = new URL(bench.base);
      const socket = connect(Number(port), hostname);
      let text = "";
      socket.on("data", (bytes) => {
        text += bytes.toString("latin1");
      });
      socket.on("error", () => undefined);
      socket.write(
        `POST ${TRANSCRIPTIONS} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${bench.stack.key}\r\n` +
          `content-type: multipart/form-data; boundary=${BOUNDARY}\r\n${header}\r\n\r\n`,
      );
      socket.end(body);
      if (!socket.closed) await once(socket, "close");
      // Nobody is left to hear of a body that never came whole.
      expect(text).toMatch(/^(?:HTTP\/1\.1 400 |$)/);
      // The books are as they were, also after a later job of this pool had time to run.
      const later = await bench.call("/v1/audio/speech", { model: "sandbox-tts", input: "Hi." });
      expect([later.status, (await later.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
      expect((await jobs()).length).toBe(before + 1);
    });
  });
});

describe("text", () => {
  const ROUTES: Readonly<Record<string, object>> = {
    "/v1/images/generations": { model: "sandbox-image", size: "256x256" },
    [EDITS]: { model: "sandbox-image", image_base64: base64(pngOf(8, 8)) },
    "/v1/audio/speech": { model: "sandbox-tts" },
    [TRANSCRIPTIONS]: { model: "sandbox-stt", audio_base64: base64(wav()) },
    "/v1/music/generations": { model: "sandbox-music", duration: 3 },
    [VIDEOS]: { model: "sandbox-video", duration: 1, resolution: "240p" },
    [MESHES]: { model: "sandbox-3d" },
  };
  const paths = Object.keys(ROUTES);
  const call = (path: string, more: object): Promise<Response> =>
    bench.call(path, { ...ROUTES[path], prompt: "a ball", input: "hello", ...more });

  test.each(paths)(
    "with NULs, controls and half surrogates works for %s",
    async (path) => {
      const words = "a red\0 ball \u0007\u001b[31mred\u202e \ud800 red \udfff ball";
      const response = await call(path, { prompt: words, input: words, negative_prompt: words });
      expect(response.status).toBe(200);
      if (path !== VIDEOS) await response.arrayBuffer();
      else
        expect(await bench.endOf(((await response.json()) as { id: string }).id)).toMatchObject({
          status: "completed",
        });
    },
    30_000,
  );

  test("of a song with NULs and half surrogates works", async () => {
    expect((await call("/v1/music/generations", { lyrics: "la \0 la \ud800 la" })).status).toBe(200);
  });

  test.each(paths)("of five megabytes is rejected by %s", async (path) => {
    const param = path === "/v1/audio/speech" ? "input" : "prompt";
    await expectRefusal(bench, await call(path, { [param]: "x".repeat(5_000_000) }), invalid(param));
  });

  test.each(paths)("as JSON that is too deep, too large, or invalid is rejected by %s", async (path) => {
    const model = JSON.stringify(ROUTES[path]).slice(0, -1);
    for (const body of [
      `${model},"x":${"[".repeat(1e5)}${"]".repeat(1e5)}}`,
      `${'{"a":'.repeat(1e5)}1${"}".repeat(1e5)}`,
      "[".repeat(1e6),
      `${model},"prompt":"x","seed":1e999}`,
      `${model},"prompt":NaN}`,
      `${model},"prompt":"x`,
      "",
    ]) {
      await expectRefusal(bench, await bench.raw(path, body), { status: 400, code: "invalid_json", param: null });
    }
    const broken = Buffer.from(`${model},"prompt":"\u00ff"}`, "latin1");
    await expectRefusal(bench, await bench.raw(path, broken), { status: 400, code: "invalid_json", param: null });
    const large = await bench.raw(path, Buffer.alloc(33 * MB, "x"));
    await expectRefusal(bench, large, { status: 413, code: "request_too_large", param: null });
  });

  test.each(paths)("with inherited names is neither a model nor a member for %s", async (path) => {
    const unknown: Refusal = { status: 400, code: "model_not_found", param: "model" };
    for (const model of ["__proto__", "constructor", "toString", "../../etc/passwd", "\0", "\ud800"]) {
      await expectRefusal(bench, await call(path, { model }), unknown);
    }
    const own = JSON.stringify({ ...ROUTES[path], prompt: "x", input: "x" });
    const absent: Refusal = { status: 400, code: "missing_required_parameter", param: "model" };
    await expectRefusal(
      bench,
      await bench.raw(path, `{"__proto__":${own},"constructor":{"prototype":${own}}}`),
      absent,
    );
    expect(Reflect.get({}, "model")).toBeUndefined();
  });

  test("with a duplicate member counts its second value, for result and price", async () => {
    const path = "/v1/images/generations";
    const twice = await bench.raw(
      path,
      `{"model":"nobody","n":4,"prompt":"x","size":"256x256","model":"sandbox-image","n":1}`,
    );
    const { data, credits_used } = (await twice.json()) as MediaResults;
    expect([twice.status, data.length, credits_used]).toEqual([200, 1, 2]);
    const refused = await bench.raw(path, `{"model":"sandbox-image","prompt":"x","model":"nobody"}`);
    await expectRefusal(bench, refused, { status: 400, code: "model_not_found", param: "model" });
  });

  test.each<[string, object, Refusal]>([
    ["/v1/images/generations", { size: "__proto__" }, unsupported("size")],
    ["/v1/images/generations", { size: "99999x99999" }, unsupported("size")],
    ["/v1/images/generations", { quality: "constructor" }, unsupported("quality")],
    ["/v1/images/generations", { n: -1 }, unsupported("n")],
    ["/v1/images/generations", { n: 1e15 }, unsupported("n")],
    ["/v1/images/generations", { seed: 2 ** 53 }, unsupported("seed")],
    ["/v1/images/generations", { seed: 1.5 }, invalid("seed")],
    ["/v1/images/generations", { steps: 1e9 }, unsupported("steps")],
    ["/v1/audio/speech", { speed: 1e308 }, unsupported("speed")],
    ["/v1/audio/speech", { speed: -1 }, unsupported("speed")],
    ["/v1/audio/speech", { speed: "NaN" }, invalid("speed")],
    ["/v1/audio/speech", { response_format: "__proto__" }, unsupported("response_format")],
    ["/v1/music/generations", { duration: -1 }, unsupported("duration")],
    ["/v1/music/generations", { duration: 1.5 }, invalid("duration")],
    ["/v1/music/generations", { duration: 1e308 }, unsupported("duration")],
    ["/v1/music/generations", { output_format: "__proto__" }, unsupported("output_format")],
    [VIDEOS, { duration: 0 }, unsupported("duration")],
    [VIDEOS, { duration: 1e308 }, unsupported("duration")],
    [VIDEOS, { seed: -(2 ** 53) }, unsupported("seed")],
    [VIDEOS, { resolution: "constructor" }, unsupported("resolution")],
    [VIDEOS, { aspect_ratio: "__proto__" }, unsupported("aspect_ratio")],
    [MESHES, { seed: 1e308 }, unsupported("seed")],
  ])("%s with %j receives the allowed values", async (path, more, expected) => {
    await expectRefusal(bench, await call(path, more), expected);
  });

  test("with an unknown voice uses the model's default voice", async () => {
    const voices = [undefined, "../../etc/passwd", "__proto__", "\0", "x".repeat(200)];
    const sounds = await Promise.all(
      voices.map(async (voice) => (await call("/v1/audio/speech", { voice })).arrayBuffer()),
    );
    const [own] = sounds.map(({ byteLength }) => byteLength);
    expect(own).toBeGreaterThan(0);
    expect(sounds.map(({ byteLength }) => byteLength)).toEqual(voices.map(() => own ?? 0));
  });
});

describe("a delivered file", () => {
  test("is downloaded and never rendered, for a page, an SVG or a generated file", async () => {
    const made = await bench.call("/v1/images/generations", { model: "sandbox-image", prompt: "x", size: "256x256" });
    const { data } = (await made.json()) as MediaResults;
    const paths = [new URL(data[0]?.url ?? "").pathname];
    for (const [bytes, name] of [
      [Buffer.from(PAGE), "a.html"],
      [svgOf(bench.innerUrl), "a.svg"],
      [Buffer.from("<?xml version='1.0'?><?xml-stylesheet href='x'?><x/>"), "a.xml"],
    ] as const) {
      paths.push(`/v1/files/${await bench.store(bytes, name)}/content`);
    }
    for (const path of paths) {
      const headers = { authorization: `Bearer ${bench.stack.key}`, accept: "text/html", range: "bytes=0-9" };
      const answer = await fetch(bench.base + path, { headers });
      await answer.arrayBuffer();
      expect(answer.status).toBe(206);
      expect(answer.headers.get("content-disposition")).toStartWith("attachment;");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
      // Pages elsewhere may show what was made; what was stored they may not.
      const isLink = path.startsWith("/v1/media/");
      if (!isLink) expect(answer.headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("by a link is exactly that file: every change of the link is rejected", async () => {
    const made = await bench.call("/v1/images/generations", { model: "sandbox-image", prompt: "x", size: "256x256" });
    const { data } = (await made.json()) as MediaResults;
    const url = data[0]?.url ?? "";
    const [until = "", workspace = "", file = "", signature = ""] = url.split("/").at(-1)?.split(".") ?? [];
    const secret = await bench.store(Buffer.from("secret"), "secret.txt");
    const other = await createWorkspace(bench.stack, { creditsNano: 0n });
    const foreign = await bench.store(Buffer.from("secret"), "a.txt", other.key);
    const flipped = signature.replace(/^./, (first) => (first === "A" ? "B" : "A"));
    const link = (...parts: readonly string[]): string => `${bench.base}/v1/media/content/${parts.join(".")}`;
    for (const forged of [
      link(String(Number(until) + 1), workspace, file, signature),
      link("999999999999", workspace, file, signature),
      link(until, other.id, file, signature),
      link(until, other.id, foreign, signature),
      link(until, workspace, secret, signature),
      link(until, workspace, file, flipped),
      link(until, workspace, file, signature.slice(0, -1)),
      link(until, workspace, file, ""),
      link(until, workspace, file),
      link(until, workspace, file, signature, signature, signature),
      link(until, workspace, secret, signature, file),
      link(`${until}.${workspace}`, secret, signature),
      link(until, workspace, `${file}%00`, signature),
      link(until, workspace, `..%2f${secret}`, signature),
      link("1", workspace, file, signature),
      link("NaN", workspace, file, signature),
      link("-1", workspace, file, signature),
      link("__proto__"),
      link("x".repeat(6_000)),
    ]) {
      const answer = await fetch(forged);
      await expectRefusal(bench, answer, { status: 404, code: "file_not_found", param: null });
    }
    await expectRefusal(bench, await fetch(link("%ff")), { status: 400, code: "invalid_request", param: null });
    // What stands beside the link changes nothing, and neither does another's key.
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    for (const beside of [`?file=${secret}`, `?token=${until}.${workspace}.${secret}.${signature}`, `#${secret}`]) {
      const answer = await fetch(url + beside, { headers: { authorization: `Bearer ${other.key}` } });
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    }
    // A link is PICTURE for what it names only: no key of the file store.
    const asKey = await fetch(`${bench.base}/v1/files/${secret}/content`, {
      headers: { authorization: `Bearer ${url.split("/").at(-1)}` },
    });
    expect(asKey.status).toBe(401);
  });

  test("is stored under a type that its bytes confirm", async () => {
    for (const type of ["__proto__", "constructor"]) {
      const upload = beginUpload(bench.base, bench.stack.key);
      await upload.send(part('name="purpose"', "user_data"));
      await upload.send(part('name="file"; filename="a.constructor"', PAGE, `content-type: ${type}\r\n`));
      await upload.send(END);
      upload.end();
      expect(await upload.answered).toStartWith("HTTP/1.1 200 ");
      upload.socket.destroy();
    }
  });
});

describe("after all of it", () => {
  test("every route serves, and nothing was lost, fetched or leaked", async () => {
    await bench.expectService();
    expectBounded(bench.memory);
    await expectQuiet(bench);
  }, 60_000);
});
