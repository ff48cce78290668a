/**
 * Links to files that work without a key for about an hour. The token in a link is signed with the installation's secret. If an input
 * contains such a link, the file is read directly from the object store. No request is sent, so that the guard for outbound URLs is not
 * needed.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

import { commonNow } from "#shared/base/clock.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";

import { isFileId } from "./id.ts";

/** Time for which a link is valid, in seconds. */
const LINK_LIFE_S = 3_600;

const PATH = "/v1/media/content/";
const OWN_PATH = /^(.*)\/v1\/(?:media\/content\/([\w.-]+)|files\/([\w-]+)\/content)$/;

/** File to which a link of this installation refers, and whether the link is still valid. */
export interface LinkedFile {
  readonly fileId: string;
  /** True if the link has expired. */
  readonly isExpired: boolean;
}

export interface FileLinks {
  /** Returns a link. @param base address of the service for the client that receives the link, without a trailing slash */
  url(base: string, workspaceId: string, fileId: string): string;
  /** Decodes the token that is the last segment of a link's path. Returns undefined for forged and for expired tokens. */
  read(token: string): { readonly workspaceId: string; readonly fileId: string } | undefined;
  /**
   * Returns the file of a link that this installation created; host and port must match too. Returns undefined for every other address,
   * including the same token at another host.
   */
  find(address: string): LinkedFile | undefined;
}

interface Options {
  /** Configured public address of the service. Links to file contents below this address are recognized too. */
  readonly publicUrl?: string | undefined;
  /** Returns the current time, in Unix milliseconds. */
  readonly now?: () => number;
}

export function createFileLinks(secret: Uint8Array, { publicUrl, now = commonNow }: Options = {}): FileLinks {
  const sign = (text: string): string => createHmac("sha256", secret).update(text).digest("base64url");
  // A token includes the address for which it was created: Host headers and look-alike hosts prove nothing.
  const signPlace = (text: string, place: string): string => sign(`${text} at ${place}`);
  const open = (token: string) => {
    const [until = "", workspaceId = "", fileId = "", signature = "", place = "", ...others] = token.split(".");
    if (others.length > 0 || !/^\d{1,12}$/.test(until) || !isUuid(workspaceId) || !isFileId(fileId)) return undefined;
    const text = `${until}.${workspaceId}.${fileId}`;
    if (!isSame(signature, sign(text))) return undefined;
    return { text, place, workspaceId, fileId, isExpired: Number(until) * 1_000 <= now() };
  };
  const ownPlace = publicUrl === undefined ? undefined : placeOf(new URL(publicUrl));
  return {
    url(base, workspaceId, fileId) {
      const untilS = Math.floor(now() / 1_000) + LINK_LIFE_S;
      const text = `${untilS}.${workspaceId}.${fileId}`;
      return `${base}${PATH}${text}.${sign(text)}.${signPlace(text, placeOf(new URL(base)))}`;
    },
    read(token) {
      const link = open(token);
      return link === undefined || link.isExpired ? undefined : { workspaceId: link.workspaceId, fileId: link.fileId };
    },
    find(address) {
      if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
      const url = new URL(address);
      if (url.username !== "" || url.password !== "" || url.search !== "") return undefined;
      const [, path = "", token, fileId] = OWN_PATH.exec(url.pathname) ?? [];
      const place = url.origin + path;
      if (fileId !== undefined) return place === ownPlace ? { fileId, isExpired: false } : undefined;
      const link = token === undefined ? undefined : open(token);
      if (!link || !isSame(link.place, signPlace(link.text, place))) return undefined;
      return { fileId: link.fileId, isExpired: link.isExpired };
    },
  };
}

/**
 * Compares two texts in constant time. Compares the texts and not the decoded bytes, because different texts can decode to the same bytes.
 */
function isSame(text: string, expected: string): boolean {
  const [one, other] = [Buffer.from(text), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/+$/, "");
}

// Recognition of links in inputs, for the whole process: the ingress that admits a call and the worker that reads it must agree.

let own: Pick<FileLinks, "find"> | undefined;

/** Sets the links that this process recognizes in inputs. Each role calls this when it starts, with the same secret. */
export function recognizeLinks(links: Pick<FileLinks, "find">): void {
  own = links;
}

/**
 * Returns the file of a link of this installation; undefined for every other address. Permissions are checked later, when the file is
 * queried.
 */
export function linkedFile(address: string): LinkedFile | undefined {
  return own?.find(address);
}

/**
 * Returns the file id of a link of this installation; undefined for every other address.
 * @param param request member that contains the link
 * @throws ApiError `file_not_found` for an expired link, like an HTTP request to the link
 */
export function linkedFileId(address: string, param: string): string | undefined {
  const link = linkedFile(address);
  if (link?.isExpired) throw expiredLink(param);
  return link?.fileId;
}

/**
 * Returns the error for an expired link.
 * @param param name of the member that contains the link
 */
export function expiredLink(param: string): ApiError {
  return new ApiError("file_not_found", "There is no such file, or its link has expired; ask for a new link.", {
    param,
  });
}
