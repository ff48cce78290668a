/** A publisher of batch messages, as somebody outside writes one against NATS: it repeats until it is answered. */
import { connect, headers, type NatsConnection } from "nats";

import type { BatchAnswer } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { batchSubject, type Pool, publisherInbox, type PublisherIdentity } from "#shared/queue/subjects.ts";
import type { Stack } from "#tests/support/stack.ts";

import type { Workspace } from "./bed.ts";
import { eventually } from "./wait.ts";

export interface Publisher {
  readonly connection: NatsConnection;
  /** Everything heard so far, in order. */
  readonly answers: readonly BatchAnswer[];
  /** Sends one message, which the server has taken when this resolves; `headers` go over our own. */
  publish(body: object, options?: PublishOptions): Promise<void>;
  /** Publishes and resolves with the first answer about this key. */
  submit(body: object, options?: PublishOptions & { readonly key?: string }): Promise<BatchAnswer>;
  /** The answer that tells how the job of a key ended. */
  ended(key: string, withinMs?: number): Promise<BatchAnswer>;
  close(): Promise<void>;
}

export interface PublishOptions {
  readonly key?: string;
  /** Other ids to write into the subject. */
  readonly as?: Partial<PublisherIdentity>;
  readonly pool?: string;
  readonly messageId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The key that a publisher acts for, and its workspace. */
type Identity = Pick<Workspace, "id" | "keyId">;

/** Returns the oldest key of a workspace, or of all, as a publisher's identity. */
export async function oldestKey({ query }: Pick<Stack, "query">, workspaceId?: string): Promise<Identity> {
  const [key] = await query<Identity>(
    `select workspace_id as id, id as "keyId" from api_key where $1::uuid is null or workspace_id = $1 order by created_at, id limit 1`,
    [workspaceId ?? null],
  );
  if (!key) throw new Error("expected a workspace with a key");
  return key;
}

/** @param key with which it logs in, where the server asks for one */
export async function openPublisher(url: string, { id, keyId }: Identity, key?: string): Promise<Publisher> {
  const own = { workspaceId: id, keyId };
  const connection = await connect({
    servers: url,
    ...(key === undefined ? {} : { token: key }),
    inboxPrefix: publisherInbox(own),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  });
  const inbox = `${publisherInbox(own)}.${newId()}`;
  const answers: BatchAnswer[] = [];
  connection.subscribe(inbox, { callback: (_error, message) => void answers.push(message.json<BatchAnswer>()) });
  await connection.flush();
  const publish: Publisher["publish"] = async (body, options = {}) => {
    const head = headers();
    head.set("Sluice-Reply", inbox);
    if (options.key !== undefined) head.set("Idempotency-Key", options.key);
    for (const [name, value] of Object.entries(options.headers ?? {})) head.set(name, value);
    const subject = batchSubject((options.pool ?? "chat") as Pool, { ...own, ...options.as });
    if (options.messageId !== undefined) head.set("Nats-Msg-Id", options.messageId);
    connection.publish(subject, JSON.stringify(body), { headers: head });
    await connection.flush();
  };
  return {
    connection,
    answers,
    publish,
    async submit(body, { key = newId(), ...options } = {}) {
      const before = answers.length;
      await publish(body, { ...options, key });
      return eventually(`an answer about ${key}`, () => answers.slice(before).find((answer) => answer.key === key));
    },
    ended: (key, withinMs = 15_000) =>
      eventually(
        `the end of ${key}`,
        () => answers.find((answer) => answer.key === key && !["waiting", "queued", "running"].includes(answer.status)),
        withinMs,
      ),
    close: () => connection.close(),
  };
}
