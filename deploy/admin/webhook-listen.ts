/** `admin webhook listen`: a webhook receiver on this machine that prints deliveries, for developers of receivers. */
import { readJsonBody } from "#ingress/core/body.ts";
import { ApiError, ERROR_CODES } from "#shared/base/errors.ts";

import { type Command, type Arguments, quote, UsageError } from "./command.ts";
import { deliveryJson, deliveryText, readDelivery, type ReceivedDelivery } from "./webhook-delivery.ts";

const HOST = "127.0.0.1";
const PORT = 8090;
const BODY_BYTES_MAX = 256 * 1_024;
/** Number of recent delivery ids that are remembered to recognize repeats. */
const IDS_MAX = 10_000;

export const WEBHOOK_COMMANDS: readonly Command[] = [
  {
    usage: "webhook listen [--port <port>] [--secret <whsec_…>] [--answer <status>]",
    about:
      `Prints the webhook deliveries that reach port ${PORT} of ${HOST}, until Ctrl-C. With the channel's secret it verifies their ` +
      "signatures. Responds with 200, or with the status of --answer.",
    needs: "nothing",
    async run(_context, input, live) {
      const asked = { port: portOf(input), secret: secretOf(input), status: statusOf(input) };
      const ids = new Set<string>();
      const counts = { deliveries: 0, repeats: 0, refused: 0 };
      const server = serve(asked, {
        delivered(delivery) {
          const cameBefore = ids.has(delivery.id);
          remember(ids, delivery.id);
          counts.deliveries += 1;
          counts.repeats += cameBefore ? 1 : 0;
          live.print({ json: deliveryJson(delivery, cameBefore), text: deliveryText(delivery, cameBefore) });
        },
        refused(status, reason) {
          counts.refused += 1;
          live.print({
            json: { refused: status, reason },
            text: `refused a request that is no delivery with ${status}: ${reason}`,
          });
        },
      });
      try {
        // Requested first: a reader of the line below may interrupt at once.
        const interruption = live.interruption();
        const url = `http://${HOST}:${server.port}/`;
        live.print({ json: { url }, text: `Listening on ${url} until Ctrl-C. ${REACHED}` });
        await untilAborted(interruption);
      } finally {
        await server.stop(true);
      }
      const { deliveries, repeats, refused } = counts;
      return { json: counts, text: `deliveries ${deliveries}, repeats ${repeats}, other requests ${refused}` };
    },
  },
];

const REACHED = `Sluice must run with SLUICE_OUTBOUND_ALLOW=${HOST} to send there.`;

interface ListenOptions {
  readonly port: number;
  readonly secret: string | undefined;
  readonly status: number;
}

interface Listener {
  delivered(delivery: ReceivedDelivery): void;
  refused(status: number, reason: string): void;
}

/** Starts the HTTP server of the receiver. @throws the operating system's error when the port is in use */
function serve({ port, secret, status }: ListenOptions, listener: Listener): Bun.Server<undefined> {
  return Bun.serve({
    hostname: HOST,
    port,
    development: false,
    async fetch(request) {
      try {
        if (request.method !== "POST") throw new ApiError("method_not_allowed", "Expected POST.");
        const body = await readJsonBody(request, BODY_BYTES_MAX);
        listener.delivered(readDelivery(request.headers, body, secret));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const refusal = ERROR_CODES[error.code].status;
        listener.refused(refusal, error.message);
        return new Response(`${error.message}\n`, { status: refusal });
      }
      return new Response(WITHOUT_BODY.has(status) ? null : "ok\n", { status });
    },
  });
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > IDS_MAX && oldest !== undefined) ids.delete(oldest);
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function portOf(input: Arguments): number {
  return numberOf(input, "port", { fallback: PORT, min: 0, max: 65_535 });
}

function statusOf(input: Arguments): number {
  return numberOf(input, "answer", { fallback: 200, min: 200, max: 599 });
}

interface Span {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

/** Reads a numeric option within a range. @throws UsageError for other values */
function numberOf(input: Arguments, option: string, { fallback, min, max }: Span): number {
  const value = input.option(option);
  if (value === undefined) return fallback;
  const number = Number(value);
  if (/^\d{1,5}$/.test(value) && number >= min && number <= max) return number;
  throw new UsageError(`expected --${option} as a whole number from ${min} to ${max}, got ${quote(value)}`);
}

/** Reads the option `--secret`. @throws UsageError, which never repeats the value because it may be a secret */
function secretOf(input: Arguments): string | undefined {
  const secret = input.option("secret");
  if (secret === undefined || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return secret;
  throw new UsageError("expected --secret as whsec_ and base64, as the channel shows it");
}
