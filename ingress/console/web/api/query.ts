/** Loads data for a page: one request at a time, aborted when the page changes, optionally repeated. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiFault, call, type CallOptions, changes } from "./client.ts";
import type { Operations } from "./operations.ts";

export interface Query<Data> {
  /** Last response; undefined before the first one and after the key has changed. */
  readonly data: Data | undefined;
  /** Error of the last request; undefined if it succeeded or is running. */
  readonly fault: ApiFault | undefined;
  readonly isLoading: boolean;
  /** Repeats the request. The previous data stays until the response arrives. */
  readonly reload: () => void;
}

/** Milliseconds; undefined for no repetition. */
type Interval = number | undefined;

export interface Repeat<Data> {
  /**
   * Interval of repetitions while the page is visible, or a function that returns it for the last result. A repeated query also runs after
   * a request of this page that may have changed its data.
   */
  readonly everyMs?: Interval | ((last: Partial<Pick<Query<Data>, "data" | "fault">>) => Interval);
  /** Time after which a request counts as failed, in milliseconds. */
  readonly timeoutMs?: number;
}

interface State<Data> {
  readonly key: string;
  readonly data?: Data;
  readonly fault?: ApiFault;
  readonly isLoading: boolean;
}

/** Default time after which a request counts as failed, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Runs `load` for a key, and again when the key changes.
 * @param key text that identifies the data, such as the path with its query; "" loads nothing
 */
export function useQuery<Data>(
  key: string,
  load: (signal: AbortSignal) => Promise<Data>,
  { everyMs, timeoutMs = TIMEOUT_MS }: Repeat<Data> = {},
): Query<Data> {
  const [state, setState] = useState<State<Data>>({ key, isLoading: key !== "" });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  const isRunning = useRef(false);
  latest.current = load;
  const reload = useCallback(() => setRound((n) => n + 1), []);
  // The state of the previous key must not be shown for the new one.
  const own: State<Data> = state.key === key ? state : { key, isLoading: key !== "" };
  const interval = typeof everyMs === "function" ? everyMs(own) : everyMs;
  useEffect(() => {
    if (key === "") return undefined;
    const controller = new AbortController();
    isRunning.current = true;
    const timer = setTimeout(() => controller.abort("timeout"), timeoutMs);
    setState((before) => (before.key === key ? { ...before, isLoading: true } : { key, isLoading: true }));
    void latest
      .current(controller.signal)
      .then(
        (data) => setState({ key, data, isLoading: false }),
        (error: unknown) => {
          if (controller.signal.aborted && controller.signal.reason !== "timeout") return;
          const fault = error instanceof ApiFault ? error : faultOf(error, controller.signal, timeoutMs);
          setState((before) => ({ ...before, key, fault, isLoading: false }));
        },
      )
      .finally(() => {
        clearTimeout(timer);
        // An aborted request ends after the next one has begun.
        if (controller.signal.reason !== "left") isRunning.current = false;
      });
    return () => {
      clearTimeout(timer);
      controller.abort("left");
    };
  }, [key, round]);
  useEffect(() => {
    if (interval === undefined || key === "") return undefined;
    // A repetition would abort the running request, so that a service slower than the interval would show nothing.
    const timer = setInterval(() => document.visibilityState === "visible" && !isRunning.current && reload(), interval);
    changes.addEventListener("change", reload);
    return () => {
      clearInterval(timer);
      changes.removeEventListener("change", reload);
    };
  }, [key, interval]);
  return { data: own.data, fault: own.fault, isLoading: own.isLoading, reload };
}

/**
 * Loads the response of an operation, and again when its parameters change.
 * @param options null loads nothing
 */
export function useCall<Operation extends keyof Operations>(
  operation: Operation,
  options: Pick<CallOptions<Operation>, "path" | "query"> | null = {},
  repeat?: Repeat<Operations[Operation]["response"]>,
): Query<Operations[Operation]["response"]> {
  const key = options === null ? "" : `${operation} ${JSON.stringify(options)}`;
  return useQuery(key, (signal) => call(operation, { ...options, signal }), repeat);
}

export interface Action<Input> {
  readonly run: (input: Input) => Promise<void>;
  readonly isRunning: boolean;
  readonly fault: ApiFault | undefined;
}

/** Returns an action that runs once at a time and keeps its error for the form. */
export function useAction<Input = void>(act: (input: Input) => Promise<unknown>): Action<Input> {
  const [state, setState] = useState<{ readonly isRunning: boolean; readonly fault?: ApiFault }>({ isRunning: false });
  const run = async (input: Input): Promise<void> => {
    if (state.isRunning) return;
    setState({ isRunning: true });
    try {
      await act(input);
      setState({ isRunning: false });
    } catch (error) {
      setState({ isRunning: false, fault: error instanceof ApiFault ? error : faultOf(error) });
    }
  };
  return { run, isRunning: state.isRunning, fault: state.fault };
}

function faultOf(error: unknown, signal?: AbortSignal, timeoutMs = TIMEOUT_MS): ApiFault {
  if (signal?.aborted === true) {
    return new ApiFault(`There was no response within ${timeoutMs / 1_000} s. Try again.`, { code: "timeout" });
  }
  return new ApiFault(error instanceof Error ? error.message : String(error));
}
