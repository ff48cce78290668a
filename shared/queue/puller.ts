/**
 * Pulls messages over one subscription that lives as long as the runner. The client library's own fetch ends at
 * the first sign of a server that stops, and drops what that server still hands out: such a message counts as delivered
 * and its call as lost, although nobody ran it. Protocol: NATS ADR-13 (pull), ADR-15 (acknowledgements).
 */
import { createInbox, type Msg, type NatsConnection, type Subscription } from "nats";

import { commonNow } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { paced } from "#shared/pace.ts";

import { INBOX_PREFIXES, type NatsRole, onLink } from "./connection.ts";
import { createBufferedPublisher, type BufferedPublisher } from "./buffered-publisher.ts";

type Publisher = Pick<BufferedPublisher, "publish">;

/** A work message as it was handed to us. */
export class Delivery {
  readonly stream: string;
  readonly streamSeq: number;
  /** 1 on the first delivery. */
  readonly deliveries: number;
  /** Unix milliseconds by the server's clock, when it was stored. */
  readonly storedAtMs: number;
  /** The same in nanoseconds, as digits: with the sequence it names this message among those of all stores there were. */
  readonly storedAtNanos: string;
  private readonly message: Msg;
  private readonly publisher: Publisher;

  constructor(message: Msg, publisher: Publisher) {
    // $JS.ACK.<domain>.<account>.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<nanos>.<pending>…
    const tokens = (message.reply ?? "").split(".");
    // The short form has neither domain nor account.
    const at = tokens.length === 9 ? 2 : 4;
    this.stream = tokens[at] ?? "";
    this.deliveries = Number(tokens[at + 2]);
    this.streamSeq = Number(tokens[at + 3]);
    this.storedAtNanos = tokens[at + 5] ?? "";
    this.storedAtMs = Number(this.storedAtNanos) / NANOS_PER_MS;
    this.message = message;
    this.publisher = publisher;
  }

  get subject(): string {
    return this.message.subject;
  }

  get data(): Uint8Array {
    return this.message.data;
  }

  /** Empty when there is no such header. */
  header(name: string): string {
    return this.message.headers?.get(name) ?? "";
  }

  /** Still at it: the server waits another ack_wait. */
  working(): void {
    this.respond(WORKING);
  }

  ack(): void {
    this.respond(ACK);
  }

  nak(delayMs: number): void {
    this.respond(encoder.encode(`-NAK ${JSON.stringify({ delay: delayMs * NANOS_PER_MS })}`));
  }

  term(reason: string): void {
    this.respond(encoder.encode(`+TERM ${reason}`));
  }

  private respond(bytes: Uint8Array): void {
    this.publisher.publish(this.message.reply ?? "", bytes);
  }
}

const NANOS_PER_MS = 1_000_000;
const encoder = new TextEncoder();
const ACK = encoder.encode("+ACK");
const WORKING = encoder.encode("+WPI");

export interface Puller {
  /** Asks for this many messages more. */
  ask(count: number): void;
  /** Asked for, neither come nor expired. */
  asked(): number;
  /** True if a crashed server may have handed it out before, to us or to another, without counting that. */
  mayBeRepeat(message: Delivery): boolean;
  /** performance.now() of the last time the connection was restored; 0 when it was never lost. */
  restoredAt(): number;
  /** Asks for no more; resolves when everything that was already on its way has been handed over. */
  stop(): Promise<void>;
}

/** The server hands messages to a paused worker while its pulls live. So pulls are short and ask for few messages. */
const EXPIRES_MS = paced(2_000);
const RETRY_MS = 250;
/** Every pull has expired by then. */
const SILENCE_MAX_MS = EXPIRES_MS + paced(15_000);

export function openPuller(options: {
  connection: NatsConnection;
  /** Role that the connection is of: answers to pulls come in under its inbox prefix. */
  role: NatsRole;
  stream: string;
  durable: string;
  log: Logger;
  onMessage: (message: Delivery) => void;
  /** Fewer messages are asked for than a moment ago, and none came. */
  onRoom: () => void;
}): Puller {
  const { connection, stream, durable, log, onMessage, onRoom } = options;
  const acks = createBufferedPublisher(connection, 0);
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`;
  let inbox = "";
  let subscription: Subscription | undefined;
  let asked = 0;
  let heardAt = performance.now();
  let isStopping = false;
  let restoredAt = 0;
  let restoredAtMs = 0;

  const lessBy = (count: number): void => {
    asked = Math.max(0, asked - count);
  };

  const onStatus = (message: Msg): void => {
    const code = message.headers?.code ?? 0;
    const description = message.headers?.description ?? "";
    // A server that shuts down says so, and then still serves the request until it closes the connection.
    if (code < 400 || description === "Server Shutdown") return;
    const pending = message.headers?.get("Nats-Pending-Messages");
    // Without the number nothing of the request was served; its reply subject ends with what it asked for.
    lessBy(Number(pending || message.subject.slice(inbox.length + 1)));
    if (code === 408) {
      onRoom();
      return;
    }
    log.warn({ code, description }, "pull refused, is repeated");
    setTimeout(onRoom, RETRY_MS * (0.5 + Math.random()));
  };

  const listen = (): void => {
    const prefix = createInbox(INBOX_PREFIXES[options.role]);
    inbox = prefix;
    asked = 0;
    subscription = connection.subscribe(`${prefix}.*`, {
      callback: (error, message) => {
        if (error) {
          log.error({ err: error }, "pull subscription failed");
          return;
        }
        heardAt = performance.now();
        if (!message.subject.startsWith(prefix)) {
          if (prefix === inbox) lessBy(1);
          onMessage(new Delivery(message, acks));
        } else if (prefix === inbox && !isStopping) onStatus(message);
      },
    });
  };

  /** Requests of before are void; what still comes of them is taken. */
  const reopen = (): void => {
    if (isStopping) return;
    const old = subscription;
    listen();
    old?.drain().catch(() => undefined);
    onRoom();
  };

  listen();
  onLink(connection, {
    restored() {
      restoredAt = performance.now();
      restoredAtMs = commonNow();
      reopen();
    },
  });
  const watchdog = setInterval(() => {
    if (asked === 0 || performance.now() - heardAt < SILENCE_MAX_MS) return;
    log.warn({ asked }, "the queue has not answered for long, asking anew");
    heardAt = performance.now();
    reopen();
  }, SILENCE_MAX_MS / 4);

  return {
    ask(count) {
      if (isStopping || connection.isClosed()) return;
      asked += count;
      const request = JSON.stringify({ batch: count, expires: EXPIRES_MS * NANOS_PER_MS });
      connection.publish(subject, request, { reply: `${inbox}.${count}` });
    },
    asked: () => asked,
    mayBeRepeat: (message) => message.storedAtMs < restoredAtMs,
    restoredAt: () => restoredAt,
    async stop() {
      isStopping = true;
      clearInterval(watchdog);
      if (subscription && !subscription.isClosed()) await subscription.drain().catch(() => undefined);
    },
  };
}
