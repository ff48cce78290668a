// @ts-check
/** What s3rver lacks: multipart uploads cannot be dropped or listed, and lists of objects are in no order. */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * @typedef {object} Call a request as s3rver's framework (Koa) hands it on
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} query
 * @property {number} status
 * @property {string} type
 * @property {unknown} body
 */

/**
 * Middleware that answers the two calls before s3rver refuses them with 405 and 501. For a server that listens on
 * 127.0.0.1 only: signatures are not checked.
 * @param {string} directory where s3rver keeps its buckets
 * @returns {(call: Call, next: () => Promise<void>) => Promise<void>}
 */
export function multipartCalls(directory) {
  return async (call, next) => {
    const [, bucket = "", ...key] = call.path.split("/");
    const uploads = join(directory, bucket, "._S3rver_uploads");
    if (call.method === "DELETE" && /^[0-9a-f]{32}$/.test(call.query["uploadId"] ?? "")) {
      await rm(join(uploads, call.query["uploadId"] ?? ""), { recursive: true, force: true });
      call.status = 204;
      return;
    }
    if (call.method === "GET" && "uploads" in call.query && key.join("") === "") {
      call.type = "application/xml";
      call.body = await list(uploads, call.query["prefix"] ?? "");
      return;
    }
    await next();
  };
}

/** @param {string} uploads @param {string} prefix */
async function list(uploads, prefix) {
  const ids = await readdir(uploads).catch(() => []);
  const entries = await Promise.all(
    ids.map(async (id) => {
      const key = await readFile(join(uploads, id, "key"), "utf8").catch(() => undefined);
      if (key === undefined || !key.startsWith(prefix)) return "";
      const { mtime } = await stat(join(uploads, id, "key"));
      return `<Upload><Key>${escape(key)}</Key><UploadId>${id}</UploadId><Initiated>${mtime.toISOString()}</Initiated></Upload>`;
    }),
  );
  return `<?xml version="1.0" encoding="UTF-8"?><ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${entries.join("")}</ListMultipartUploadsResult>`;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/**
 * @typedef {{ key: string }} Listed
 * @typedef {{ objects: Listed[], commonPrefixes: string[], isTruncated: boolean }} Page
 * @typedef {{ startAfter?: string, maxKeys?: number }} Wanted
 * @typedef {(bucket: string, wanted: Wanted) => Promise<Page>} ListObjects
 */

/**
 * The same list in the order of keys, without which no page can follow another. Looks at every object of the bucket each
 * time: a development server has few.
 * @param {ListObjects} listObjects of s3rver's store
 * @returns {ListObjects}
 */
export function inOrder(listObjects) {
  return async (bucket, { startAfter = "", maxKeys = Infinity, ...wanted }) => {
    const { objects, commonPrefixes } = await listObjects(bucket, wanted);
    const behind = objects.filter(({ key }) => key > startAfter).toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return { objects: behind.slice(0, maxKeys), commonPrefixes, isTruncated: behind.length > maxKeys };
  };
}
