/** Uploads files to the workspace and reports their progress, which fetch cannot report. */
import type { StoredFile } from "../../../../schemas/generated/types.ts";
import { ApiFault, faultIn } from "./client.ts";

export interface UploadOptions {
  /** Purpose of the file. Default of the API: `user_data`. */
  readonly purpose?: string;
  /** Receives the sent share, from 0 to 1. */
  readonly onProgress: (share: number) => void;
  readonly signal?: AbortSignal;
}

/** Stores a file. @throws ApiFault for a refused upload, and a DOMException when the signal aborts */
export function uploadFile(file: File, { purpose, onProgress, signal }: UploadOptions): Promise<StoredFile> {
  const form = new FormData();
  if (purpose !== undefined) form.set("purpose", purpose);
  form.set("file", file, file.name);
  const request = new XMLHttpRequest();
  const { promise, resolve, reject } = Promise.withResolvers<StoredFile>();
  request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total));
  request.addEventListener("load", () => {
    const { status, responseText } = request;
    if (status >= 200 && status < 300) resolve(JSON.parse(responseText) as StoredFile);
    else reject(faultIn(status, responseText, request.getResponseHeader("x-request-id")));
  });
  request.addEventListener("error", () =>
    reject(new ApiFault("The upload was interrupted. Try again.", { code: "unreachable" })),
  );
  request.addEventListener("abort", () => reject(new DOMException("The upload was cancelled.", "AbortError")));
  signal?.addEventListener("abort", () => request.abort());
  request.open("POST", "/v1/files");
  request.setRequestHeader("x-sluice-console", "1");
  request.send(form);
  return promise;
}
