/** First run: the call to paste, a button that makes it here, and its charge. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";

import type { ChatCompletion, Credits } from "#schemas/generated/types.ts";
import { call, send } from "../../api/client.ts";
import { useAction } from "../../api/query.ts";
import { session } from "../../api/session.ts";
import { Code } from "../../parts/code.tsx";
import { Button, FaultText } from "../../parts/form.tsx";
import { durationText } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Page } from "../../parts/page.tsx";
import { Amount, Status } from "../../parts/values.tsx";

const MODEL = "sandbox-chat";
const PROMPT = "Say exactly: it works";

interface Result {
  readonly requestId: string;
  readonly text: string;
  readonly ms: number;
  readonly credits: number;
  readonly before: Credits;
  readonly after: Credits;
}

interface Props {
  /** Called when the page begins its call. */
  readonly onCall: () => void;
  /** Called when the person asks for the overview. */
  readonly onEnd: () => void;
}

export function FirstRun({ onCall, onEnd }: Props): JSX.Element {
  const [result, setResult] = useState<Result>();
  const run = useAction(async () => {
    onCall();
    setResult(await makeCall());
  });
  return (
    <Page
      title="Make the first call"
      about="The sandbox models need no provider key. One call shows that routing and billing work."
    >
      <ol class="steps">
        <Step place={1} isDone title={`Key “${session.value?.key.name}” is ready`}>
          <p class="soft">
            You are signed in with it. <Link href="/keys">Create another key</Link>
          </p>
        </Step>
        <Step place={2} isDone={result !== undefined} title="Paste the call, or run it here">
          <Code variants={snippets(location.origin)} />
          <div class="row wrap">
            <Button kind="primary" icon="play" isRunning={run.isRunning} onClick={() => run.run()}>
              {result === undefined ? "Run it" : "Run it again"}
            </Button>
            <span class="hint">Sends this request with your session.</span>
          </div>
          <FaultText fault={run.fault} />
          {run.fault?.requestId == null ? null : (
            <Link href={`/requests/${run.fault.requestId}`}>Show this request</Link>
          )}
        </Step>
        {result === undefined ? null : (
          <>
            <Step place={3} isDone title={`Charged ${result.credits} credits`}>
              <Receipt result={result} />
            </Step>
            <Step place={4} isDone={false} title="Next">
              <div class="nexts">
                <a class="next" href="/docs/get-started/quickstart#call-a-real-model">
                  <b>Add a provider key</b>
                  <span>
                    For the models of OpenAI, set the variable <code>OPENAI_API_KEY</code> and restart Sluice. Each
                    provider has a variable of its own.
                  </span>
                </a>
                <Link class="next" href="/keys">
                  <b>Create a key with a limit</b>
                  <span>A spend limit per day, week or month, for one service or person.</span>
                </Link>
                <Link class="next" href="/playground">
                  <b>Open the playground</b>
                  <span>Images, speech, video, 3D and capabilities, with the cost before and after.</span>
                </Link>
              </div>
              <Button kind="quiet" onClick={onEnd}>
                Show the overview
              </Button>
            </Step>
          </>
        )}
      </ol>
    </Page>
  );
}

function Step({
  place,
  isDone,
  title,
  children,
}: {
  readonly place: number;
  readonly isDone: boolean;
  readonly title: string;
  readonly children: JSX.Element | readonly (JSX.Element | null)[];
}): JSX.Element {
  return (
    <li class={isDone ? "done" : ""}>
      <span class="dot">{isDone ? <Icon name="check" /> : place}</span>
      <div class="section">
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  );
}

function Receipt({
  result: { requestId, text, ms, credits, before, after },
}: {
  readonly result: Result;
}): JSX.Element {
  const parts = [
    ["Balance before", before.credits],
    ["Charged", credits],
    ["Balance now", after.credits],
  ] as const;
  return (
    <div class="panel">
      <header>
        <Status of="succeeded" code={200} />
        <span class="soft">
          {MODEL} in {durationText(ms)}
        </span>
      </header>
      <div class="pad">
        <p class="reply">{text}</p>
        <div class="flowbal">
          {parts.map(([name, amount]) => (
            <div key={name}>
              <span class="muted">{name}</span>
              <b>
                <Amount credits={amount} />
              </b>
            </div>
          ))}
        </div>
        <p class="hint">The credits that the call held, and did not use, were returned when it ended.</p>
      </div>
      <footer>
        <Link href={`/requests/${requestId}`}>Show this request</Link>
        <span class="muted">·</span>
        <Link href="/credits">Ledger</Link>
      </footer>
    </div>
  );
}

async function makeCall(): Promise<Result> {
  const readBalance = () => call("GET /workspaces/{workspaceId}/credits");
  const before = await readBalance();
  const start = performance.now();
  const response = await send("POST /v1/chat/completions", {
    body: { model: MODEL, messages: [{ role: "user", content: PROMPT }] },
  });
  const { choices, usage } = (await response.json()) as ChatCompletion;
  const ms = performance.now() - start;
  const credits = usage?.credits ?? 0;
  return {
    requestId: response.headers.get("x-request-id") ?? "",
    text: choices[0]?.message.content ?? "",
    ms,
    credits,
    before,
    after: await readSettled(readBalance, before.credits - credits),
  };
}

/** Time in which the charge of a call reaches the balance, in milliseconds. */
const SETTLE_MS = 10_000;
const POLL_MS = 200;

/** Reads the balance until the charge is in it: it is at most `expected` credits. The call is settled after its response. */
async function readSettled(read: () => Promise<Credits>, expected: number): Promise<Credits> {
  const end = performance.now() + SETTLE_MS;
  let balance = await read();
  while (balance.credits > expected + SMALLEST / 2 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    balance = await read();
  }
  return balance;
}

/** Smallest amount that is charged, in credits. */
const SMALLEST = 1e-9;

function snippets(origin: string): Readonly<Record<string, string>> {
  const body = `{"model": "${MODEL}", "messages": [{"role": "user", "content": "${PROMPT}"}]}`;
  return {
    curl: `export SLUICE_KEY=your-key
curl -s ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $SLUICE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
    Python: `import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["SLUICE_KEY"])
answer = client.chat.completions.create(
    model="${MODEL}",
    messages=[{"role": "user", "content": "${PROMPT}"}],
)
print(answer.choices[0].message.content, answer.usage.credits)`,
    JavaScript: `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: process.env.SLUICE_KEY });
const answer = await client.chat.completions.create({
  model: "${MODEL}",
  messages: [{ role: "user", content: "${PROMPT}" }],
});
console.log(answer.choices[0].message.content, answer.usage.credits);`,
    "Claude Code": `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN=$SLUICE_KEY
export ANTHROPIC_MODEL=${MODEL} ANTHROPIC_SMALL_FAST_MODEL=${MODEL}
claude -p "${PROMPT}"`,
    Codex: `# ~/.codex/config.toml; then: codex exec "${PROMPT}"
model = "${MODEL}"
model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = "${origin}/v1"
env_key = "SLUICE_KEY"
wire_api = "responses"
supports_websockets = true`,
  };
}
