/** Editor of a definition beside its graph. While a person types, the API checks the definition and estimates its price. */
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import { ApiFault, call } from "../../api/client.ts";
import { useQuery } from "../../api/query.ts";
import { Icon } from "../../parts/icon.tsx";
import { FaultCallout } from "../../parts/layers.tsx";
import { Panel } from "../../parts/page.tsx";
import { Amount } from "../../parts/values.tsx";
import { DefinitionEditor, type TextFault } from "./editor.tsx";
import { StepGraph } from "./graph.tsx";
import { lineOf, parseJson, placeOf } from "./places.ts";
import { isObject, stepsOf } from "./steps.ts";

/** Pause in typing after which a definition is checked, in milliseconds. */
const PAUSE_MS = 600;

export interface Check {
  readonly faults: readonly TextFault[];
  /** Parsed definition of the last text that was JSON. */
  readonly definition: unknown;
  /** Reason why the text cannot be saved; undefined if it has passed the check. */
  readonly blocked: string | undefined;
  readonly isChecking: boolean;
  /** Error of the check itself, such as a lost connection. */
  readonly fault: ApiFault | undefined;
  readonly retry: () => void;
  readonly estimate: { readonly estimated_credits: number; readonly max_credits: number } | undefined;
}

type Result = { readonly estimate?: Check["estimate"]; readonly refused?: ApiFault };

/** Checks a text after each pause. The estimate of the API checks the whole definition, is free and holds nothing. */
export function useCheck(text: string): Check {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const parsed = useMemo(() => parseJson(text), [text]);
  const isJson = "value" in parsed && isObject(parsed.value);
  const [definition, setDefinition] = useState<unknown>();
  useEffect(() => {
    if ("value" in parsed) setDefinition(parsed.value);
  }, [parsed]);
  const query = useQuery<Result>(isJson && settled === text ? `check ${text}` : "", (signal) =>
    checkText(text, signal),
  );
  const refused = query.data?.refused;
  const faults = useMemo((): readonly TextFault[] => {
    if ("message" in parsed) return [parsed];
    if (!isJson) return [{ message: "Expected an object with steps.", place: { from: 0, to: text.length } }];
    return refused === undefined ? [] : [{ message: refused.message, place: placeOf(text, refused.param) }];
  }, [parsed, isJson, refused, text]);
  const isChecking = isJson && query.data === undefined && query.fault === undefined;
  const blocked =
    faults.length > 0 ? "Correct the marked fault first." : isChecking ? "The definition is being checked." : undefined;
  return {
    faults,
    definition,
    blocked,
    isChecking,
    fault: query.fault,
    retry: query.reload,
    estimate: query.data?.estimate,
  };
}

async function checkText(text: string, signal: AbortSignal): Promise<Result> {
  const definition = JSON.parse(text) as Record<string, unknown>;
  try {
    return {
      estimate: await call("POST /v1/workflows/estimate", {
        body: { definition, input: sampleOf(definition) },
        signal,
      }),
    };
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.code === "invalid_workflow_definition") return { refused: error };
    // The definition is correct; its estimate needs values of inputs that only a run has.
    if (error.status >= 400 && error.status < 500 && error.status !== 429) return {};
    throw error;
  }
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: "text",
  integer: 1,
  number: 1,
  boolean: true,
  array: [],
  object: {},
};

/** Returns an input that has the declared type for each required input without a default. */
function sampleOf({ inputs }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = isObject(inputs) ? Object.entries(inputs) : [];
  return Object.fromEntries(
    entries.flatMap(([name, one]) =>
      isObject(one) && one["required"] === true && one["default"] === undefined
        ? [[name, SAMPLES[String(one["type"])] ?? null]]
        : [],
    ),
  );
}

export function DefinitionPart({
  text,
  check,
  onInput,
}: {
  readonly text: string;
  readonly check: Check;
  readonly onInput: (text: string) => void;
}): JSX.Element {
  const { faults, definition, isChecking, fault, retry, estimate } = check;
  const steps = useMemo(() => stepsOf(definition), [definition]);
  return (
    <div class="editcols">
      <div class="stack">
        <DefinitionEditor text={text} faults={faults} isReadOnly={false} onInput={onInput} />
        <FaultCallout fault={fault} retry={retry} />
        <div role="status">
          {faults.length > 0 ? (
            <ul class="faults">
              {faults.map(({ message, place }) => (
                <li key={message}>
                  <Icon name="cross" />
                  <span>
                    <b>Line {lineOf(text, place.from)}:</b> {message}
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">
              {isChecking ? (
                "Checking…"
              ) : estimate === undefined ? (
                "No faults."
              ) : (
                <>
                  No faults. Estimate with sample inputs: <Amount credits={estimate.estimated_credits} /> credits, at
                  most <Amount credits={estimate.max_credits} />.
                </>
              )}
            </p>
          )}
        </div>
      </div>
      <Panel title="Graph" note={steps.length === 1 ? "1 step" : `${steps.length} steps`}>
        <div class="pad graph-box" tabIndex={0} role="group" aria-label="Graph">
          {steps.length === 0 ? (
            <p class="soft">The steps of the definition are drawn here.</p>
          ) : (
            <StepGraph steps={steps} />
          )}
        </div>
      </Panel>
    </div>
  );
}
