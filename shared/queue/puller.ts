/**
 * Pulls messages over one subscription that lasts as long as the process. The client library's fetch ends at the first sign of a stopping
 * server and drops messages that the server still delivers. Such a message counts as delivered and its call as lost, although no worker ran
 * it. Protocol: NATS ADR-13 (pull), ADR-15 (acknowledgements).
 */
import { createInbox, type Msg, type NatsConnection, type Subscription } from "nats";

import { commonNow } from "#shared/base/clock.ts";
import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";

import { INBOX_PREFIXES, type NatsRole, onLink } from "./connection.ts";
import { createBufferedPublisher, type BufferedPublisher } from "./buffered-publisher.ts";

type Publisher = Pick<BufferedPublisher, "publish">;

/** A delivered job message. */
export class Delivery {
  readonly stream: string;
  readonly streamSeq: number;
  /** Number of times that the message was delivered; 1 for the first delivery. */
  readonly deliveries: number;
  /** Time at which the server stored the message, by the server's clock, in Unix milliseconds. */
  readonly storedAtMs: number;
  /**
   * Time at which the server stored the message, in nanoseconds, as digits. Together with the sequence, it identifies the message even if
   * the stream is recreated.
   */
  readonly storedAtNanos: string;
  private readonly message: Msg;
  private readonly publisher: Publisher;

  constructor(message: Msg, publisher: Publisher) {
    // $JS.ACK.<domain>.<account>.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<nanos>.<pending>…
    const tokens = (message.reply ?? "").split(".");
    // The short form contains no domain and no account.
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

  /** Returns the value of a header; an empty string if it is absent. */
  header(name: string): string {
    return this.message.headers?.get(name) ?? "";
  }

  /** Extends the ack deadline by another ack_wait. */
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
  /** Requests `count` further messages. */
  ask(count: number): void;
  /** Returns the number of requested messages that have neither arrived nor expired. */
  asked(): number;
  /**
   * Returns true if the server stored the message before the last reconnect. A crashed server may have delivered such a message without
   * counting the delivery, so that the message may be a repeat.
   */
  mayBeRepeat(message: Delivery): boolean;
  /** Returns the time of the last reconnect, as performance.now(); 0 if the connection was never lost. */
  restoredAt(): number;
  /** Stops pulling. Resolves when all messages in transit have been delivered. */
  stop(): Promise<void>;
}

/**
 * Lifetime of a pull request, in milliseconds. While a pull request is open, the server delivers messages even to a paused worker. Pull
 * requests must therefore be short and small.
 */
const EXPIRES_MS = paced(2_000);
const RETRY_MS = 250;
/** Time after which every pull request has expired, in milliseconds. */
const SILENCE_MAX_MS = EXPIRES_MS + paced(15_000);

export function openPuller(options: {
  connection: NatsConnection;
  /** Role of the connection, whose inbox prefix receives the replies. */
  role: NatsRole;
  stream: string;
  durable: string;
  log: Logger;
  onMessage: (message: Delivery) => void;
  /** Called when a pull request has expired without messages. */
  onPullEnded: () => void;
}): Puller {
  const { connection, stream, durable, log, onMessage, onPullEnded } = options;
  const acks = createBufferedPublisher(connection, 0);
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`;
  let inbox = "";
  let subscription: Subscription | undefined;
  let asked = 0;
  let lastReceivedAt = performance.now();
  let isStopping = false;
  let restoredAt = 0;
  let restoredAtMs = 0;

  const lessBy = (count: number): void => {
    asked = Math.max(0, asked - count);
  };

  const onStatus = (message: Msg): void => {
    const code = message.headers?.code ?? 0;
    const description = message.headers?.description ?? "";
    // A server that shuts down announces it and still serves the request until it closes the connection.
    if (code < 400 || description === "Server Shutdown") return;
    const pending = message.headers?.get("Nats-Pending-Messages");
    // Without the number, no message was delivered; the reply subject ends with the requested number.
    lessBy(Number(pending || message.subject.slice(inbox.length + 1)));
    if (code === 408) {
      onPullEnded();
      return;
    }
    log.warn({ code, description }, "a pull request was rejected; it is retried");
    setTimeout(onPullEnded, RETRY_MS * (0.5 + Math.random()));
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
        lastReceivedAt = performance.now();
        if (!message.subject.startsWith(prefix)) {
          if (prefix === inbox) lessBy(1);
          onMessage(new Delivery(message, acks));
        } else if (prefix === inbox && !isStopping) onStatus(message);
      },
    });
  };

  /**
   * Opens a new subscription. Earlier pull requests are no longer counted as open, but messages that still arrive for them are accepted.
   */
  const reopen = (): void => {
    if (isStopping) return;
    const old = subscription;
    listen();
    old?.drain().catch(() => undefined);
    onPullEnded();
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
    if (asked === 0 || performance.now() - lastReceivedAt < SILENCE_MAX_MS) return;
    log.warn({ requested: asked }, "the queue did not answer a pull request in time; sending a new one");
    lastReceivedAt = performance.now();
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
