/** Sends uploads as raw bytes on a socket, so that they can be truncated, endless or malformed. */
import { connect, type Socket } from "node:net";

export const BOUNDARY = "----sluice-test";

/** Returns one part of a multipart form. */
export function part(disposition: string, content: string | Uint8Array, headers = ""): Buffer {
  return Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n`),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
}

export const END = Buffer.from(`--${BOUNDARY}--\r\n`);

export interface RawUpload {
  readonly socket: Socket;
  /** Sends a chunk. Resolves when the socket has accepted the chunk, and data received meanwhile has been processed. */
  send(bytes: Uint8Array): Promise<void>;
  /** Sends the last chunk, which ends the request body. */
  end(): void;
  /** Resolves with all text received after the response's head, or when the connection has closed. */
  readonly answered: Promise<string>;
  readonly closed: Promise<void>;
}

/** Starts a chunked POST request with a form. */
export function beginUpload(
  baseUrl: string,
  key: string,
  headers: Readonly<Record<string, string>> = {},
  path = "/v1/files",
): RawUpload {
  const { hostname, port, host } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const closed = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    if (/\r\n\r\n[^]*\}/.test(text)) answered.resolve(text);
  });
  // A server may reset the connection before the end of the upload.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    answered.resolve(text);
    closed.resolve();
  });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: multipart/form-data; boundary=${BOUNDARY}\r\n${lines.join("")}transfer-encoding: chunked\r\n\r\n`,
  );
  return {
    socket,
    answered: answered.promise,
    closed: closed.promise,
    send: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed) {
          resolve();
          return;
        }
        socket.write(`${bytes.length.toString(16)}\r\n`);
        socket.write(bytes);
        const isTaken = socket.write("\r\n");
        // A fast server accepts every chunk at once; without this turn of the event loop, its response would never be read.
        if (isTaken) setImmediate(resolve);
        else {
          socket.once("drain", resolve);
          void closed.promise.then(resolve);
        }
      }),
    end: () => void socket.write("0\r\n\r\n"),
  };
}
