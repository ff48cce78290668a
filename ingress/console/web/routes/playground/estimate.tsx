/** Price of a call before it is made. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { call } from "../../api/client.ts";
import { useQuery } from "../../api/query.ts";
import { countText } from "../../parts/format.ts";
import { Amount } from "../../parts/values.tsx";

/** Time without a change after which the price is requested, in milliseconds. */
const PAUSE_MS = 600;

/** Estimate of a model's call or a capability's run. @param body undefined while the form is incomplete */
export function EstimateLine({
  model,
  capability,
  body,
}: {
  readonly model?: string;
  readonly capability?: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}): JSX.Element {
  const settled = useSettled(body === undefined ? "" : JSON.stringify(body));
  const name = model ?? capability ?? "";
  const { data, fault } = useQuery(
    settled === "" || name === "" ? "" : `estimate ${name} ${settled}`,
    async (signal) => {
      const estimated = JSON.parse(settled) as Record<string, unknown>;
      return capability === undefined
        ? call("POST /v1/models/{slug}/estimate", { path: { slug: name }, body: estimated, signal })
        : call("POST /v1/capabilities/{id}/estimate", { path: { id: name }, body: estimated as never, signal });
    },
  );
  if (fault !== undefined) return <span class="muted">{`No estimate: ${fault.message}`}</span>;
  if (data === undefined)
    return <span class="muted">The estimate appears when the required fields are filled in.</span>;
  const { assumed_output_tokens: tokens } = data;
  const isLarger = data.max_credits > data.estimated_credits;
  return (
    <div class="estimate">
      <b>
        <Amount credits={data.estimated_credits} /> credits
      </b>{" "}
      <span class="muted">estimate{isLarger ? <>, holds {<Amount credits={data.max_credits} />}</> : ""}</span>
      {isLarger && typeof tokens === "number" ? (
        <p class="hint">
          No output limit is set: the hold is for {countText(tokens)} output tokens. Set Max completion tokens to hold
          less.
        </p>
      ) : null}
    </div>
  );
}

/** Returns a text after it has not changed for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
