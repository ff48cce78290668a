/** A mail server on this machine. */
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface Letter {
  readonly from: string;
  readonly to: readonly string[];
  /** The letter as it came over the wire. */
  readonly source: string;
  /** True if it came over TLS. */
  readonly secure: boolean;
}

export interface Postbox {
  readonly port: number;
  readonly letters: readonly Letter[];
  url(credentials?: string): string;
  close(): Promise<void>;
}

/** A refusal as a server words it, such as `550 5.1.1 no such user`. */
export function refusal(reply: string): Error {
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) });
}

/** Without STARTTLS and without asking for a password, unless the options say so. */
export async function postbox(options: SMTPServerOptions = {}): Promise<Postbox> {
  const letters: Letter[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        letters.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
          secure: session.secure,
        });
        callback(null);
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.server.address() as { port: number };
  return {
    port,
    letters,
    url: (credentials = "") => `smtp://${credentials}127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };
}
