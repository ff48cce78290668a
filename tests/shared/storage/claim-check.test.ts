import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";

import { newId } from "#shared/base/ids.ts";
import { deleteClaim, listClaims, readClaim, storeClaim } from "#shared/storage/claim-check.ts";
import { ensureBucket, openStorage, type Storage } from "#shared/storage/client.ts";
import { createTestBucket, type TestBucket } from "#tests/support/storage.ts";

let bucket: TestBucket;
let storage: Storage;

function open(name: string): Storage {
  return openStorage({ ...bucket.settings, bucket: name });
}

beforeAll(async () => {
  bucket = await createTestBucket();
  storage = open(bucket.bucket);
}, 60_000);

afterAll(() => storage.close());

async function put(key: string, body: string | Uint8Array): Promise<void> {
  await storage.client.send(new PutObjectCommand({ Bucket: storage.bucket, Key: key, Body: Buffer.from(body) }));
}

describe("a claim check", () => {
  test.each<[string, string]>([
    ["a small text", '{"a":1}'],
    ["no text", ""],
    ["characters of all lengths", "é€🙂\u0000\n".repeat(1_000)],
    ["several megabytes", JSON.stringify({ data: "A".repeat(6 * 1_048_576) })],
  ])("returns %s as it was stored", async (_name, text) => {
    const reference = await storeClaim(storage, newId(), text);
    expect(await readClaim(storage, reference)).toBe(text);
  });

  test("stores only the bytes", async () => {
    const text = "é".repeat(100_000);
    const jobId = newId();
    await storeClaim(storage, jobId, text);
    const answer = await storage.client.send(new GetObjectCommand({ Bucket: storage.bucket, Key: `claims/${jobId}` }));
    expect(answer.ContentLength).toBe(200_000);
    expect(await answer.Body?.transformToString("utf8")).toBe(text);
  });

  test.each<[string, (text: string) => string]>([
    ["one character changed", (text) => text.replace("a", "b")],
    ["cut short", (text) => text.slice(0, -1)],
    ["grown", (text) => `${text} `],
    ["emptied", () => ""],
  ])("is rejected when its object was %s", async (_name, damage) => {
    const jobId = newId();
    const text = '{"a":"what the client sent"}';
    const reference = await storeClaim(storage, jobId, text);
    await put(`claims/${jobId}`, damage(text));
    expect(readClaim(storage, reference)).rejects.toThrow(`claim claims/${jobId} is damaged`);
  });

  test("is rejected when its reference lacks the checksum, or has another's", async () => {
    const reference = await storeClaim(storage, newId(), "mine");
    const other = await storeClaim(storage, newId(), "other");
    const [key = ""] = reference.split("#");
    const [, foreign = ""] = other.split("#");
    for (const bad of [key, `${key}#`, `${key}#${foreign}`]) {
      expect(readClaim(storage, bad)).rejects.toThrow("is damaged");
    }
  });

  test("that does not exist is an error", async () => {
    expect(readClaim(storage, `claims/${newId()}#00`)).rejects.toThrow();
  });

  test("no longer exists after its deletion, and may be deleted twice", async () => {
    const reference = await storeClaim(storage, newId(), "x");
    await deleteClaim(storage, reference);
    await deleteClaim(storage, reference);
    expect(readClaim(storage, reference)).rejects.toThrow();
  });

  test("stored again under the same job replaces the first, whose reference no longer matches", async () => {
    const jobId = newId();
    const first = await storeClaim(storage, jobId, "first");
    const second = await storeClaim(storage, jobId, "second");
    expect(await readClaim(storage, second)).toBe("second");
    expect(readClaim(storage, first)).rejects.toThrow("is damaged");
  });
});

describe("the list of claims", () => {
  test("contains every claim with its job and its time, and no other object", async () => {
    const empty = await createTestBucket();
    const own = open(empty.bucket);
    expect((await Array.fromAsync(listClaims(own))).flat()).toEqual([]);
    const jobs = [newId(), newId(), newId()];
    for (const jobId of jobs) await storeClaim(own, jobId, "x");
    await own.client.send(new PutObjectCommand({ Bucket: own.bucket, Key: "artifacts/x", Body: "x" }));
    const claims = (await Array.fromAsync(listClaims(own))).flat();
    expect(claims.map(({ jobId }) => jobId).toSorted()).toEqual(jobs.toSorted());
    for (const { key, jobId, at } of claims) {
      expect(key).toBe(`claims/${jobId}`);
      expect(Math.abs(Date.now() - at.getTime())).toBeLessThan(3_600_000);
    }
    const pages = await Array.fromAsync(listClaims(own, 2));
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(pages.flat()).toEqual(claims);
    own.close();
  });
});

describe("the bucket", () => {
  test("is created if it does not exist, and otherwise unchanged", async () => {
    const fresh = open(`fresh-${newId()}`);
    await ensureBucket(fresh);
    const reference = await storeClaim(fresh, newId(), "x");
    await ensureBucket(fresh);
    expect(await readClaim(fresh, reference)).toBe("x");
    fresh.close();
  });
});
