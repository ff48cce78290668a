/** Content of the queue and the object store of a stack, as text to search. */
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";

import type { Stack } from "#tests/support/stack.ts";

export interface Kept {
  readonly what: string;
  readonly text: string;
}

/** Subject, headers and body of every message that a stream or a key-value bucket holds. */
export async function queueText({ natsUrl }: Stack): Promise<Kept[]> {
  const connection = await connect({ servers: natsUrl });
  try {
    const manager = await jetstreamManager(connection);
    const kept: Kept[] = [];
    for await (const { config, state } of manager.streams.list()) {
      for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
        const message = await manager.streams.getMessage(config.name, { seq });
        if (message === null) continue;
        const headers = [...message.header].map(([name, values]) => `${name}: ${values.join()}`);
        kept.push({ what: config.name, text: [message.subject, ...headers, message.string()].join("\n") });
      }
    }
    return kept;
  } finally {
    await connection.close();
  }
}

/** Key and bytes of every object of the stack's bucket. */
export async function bucketText({ env }: Stack): Promise<Kept[]> {
  const bucket = `${env["S3_ENDPOINT"]}/${env["SLUICE_S3_BUCKET"]}`;
  const list = await (await fetch(`${bucket}?list-type=2`)).text();
  const keys = [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
  return Promise.all(
    keys.map(async (key) => ({ what: key, text: `${key}\n${await (await fetch(`${bucket}/${key}`)).text()}` })),
  );
}
