// @ts-check
/**
 * Works around gaps of s3rver, which cannot abort or list multipart uploads and lists objects without order. s3rver also reads every object
 * of a bucket to list it or to check whether it exists.
 */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Request of s3rver's framework (Koa).
 * @typedef {object} Call
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} query
 * @property {number} status
 * @property {string} type
 * @property {unknown} body
 */

/**
 * Returns middleware for three requests that s3rver handles wrongly: it rejects two with 405 and 501, and answers HEAD of a bucket with a
 * list of its objects. The middleware does not check signatures, so it is only for a server on 127.0.0.1.
 * @param {string} directory s3rver's folder of buckets
 * @returns {(call: Call, next: () => Promise<void>) => Promise<void>}
 */
export function gapCalls(directory) {
  return async (call, next) => {
    const [, bucket = "", ...key] = call.path.split("/");
    if (call.method === "HEAD" && bucket !== "" && key.join("") === "") {
      const found = await stat(join(directory, bucket)).catch(() => undefined);
      call.status = found?.isDirectory() === true ? 200 : 404;
      return;
    }
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

/**
 * Returns the XML list of multipart uploads whose keys begin with a prefix.
 * @param {string} uploads @param {string} prefix
 */
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

/**
 * Escapes text for XML.
 * @param {string} text
 */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/**
 * Types of s3rver: a page of a list, the options of a list, and the object store.
 * @typedef {{ objects: unknown[], commonPrefixes: string[], isTruncated: boolean }} Page
 * @typedef {{ prefix?: string, delimiter?: string, startAfter?: string, maxKeys?: number }} Wanted
 * @typedef {object} Store of s3rver
 * @property {(bucket: string) => string} getBucketPath
 * @property {(bucket: string, key: string) => Promise<Record<string, unknown>>} getMetadata
 */

const OBJECT = "._S3rver_object";

/**
 * Returns a function that lists objects in the order of their keys, which pagination requires. It reads only the folders below the prefix,
 * and metadata only for objects on the page.
 * @param {Store} store
 * @param {new (bucket: string, key: string, content: null, metadata: Record<string, unknown>) => unknown} S3Object
 * @returns {(bucket: string, wanted: Wanted) => Promise<Page>}
 */
export function listInOrder(store, S3Object) {
  return async (bucket, { prefix = "", delimiter = "", startAfter = "", maxKeys = Infinity }) => {
    const root = store.getBucketPath(bucket);
    const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    const names = await readdir(join(root, folder), { recursive: true }).catch(() => []);
    const prefixes = new Set();
    const keys = names.flatMap((name) => {
      const key = `${folder}${name.slice(0, -OBJECT.length)}`;
      if (!name.endsWith(OBJECT) || !key.startsWith(prefix) || key <= startAfter) return [];
      const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      if (end === -1) return [key];
      prefixes.add(key.slice(0, end + delimiter.length));
      return [];
    });
    const page = keys.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, maxKeys);
    const objects = await Promise.all(
      page.map(async (key) => {
        // The object may have been deleted since the listing.
        const metadata = await store.getMetadata(bucket, key).catch(() => undefined);
        return metadata === undefined ? [] : [new S3Object(bucket, key, null, metadata)];
      }),
    );
    return {
      objects: objects.flat(),
      commonPrefixes: [...prefixes].toSorted((a, b) => (a < b ? -1 : 1)),
      isTruncated: keys.length > maxKeys,
    };
  };
}
