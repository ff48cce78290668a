/** A child for the tests of the pool, with tasks that misbehave. */
import { setTimeout as delay } from "node:timers/promises";

import { serveTasks } from "#shared/children/serve-tasks.ts";
import { MediaError } from "#shared/children/media-error.ts";

if (import.meta.main) {
  let jobs = 0;
  await serveTasks({
    echo: async (input, parts) => {
      jobs += 1;
      return { output: { input, jobs, pid: process.pid }, parts };
    },
    chunks: async (_input, _parts, emit) => {
      emit(Uint8Array.of(1));
      emit(Uint8Array.of(2, 3));
      return {};
    },
    /** Says something more once it has answered. */
    late: async (_input, _parts, emit) => {
      setTimeout(() => emit(Uint8Array.of(9)), 20);
      return {};
    },
    /** Until the late one has spoken. */
    wait: async (_input, _parts, emit) => {
      await delay(100);
      emit(Uint8Array.of(1));
      return {};
    },
    tell: async (input) => ({ output: "x".repeat(Number(input)) }),
    unheard: async () => {
      void Promise.reject(new Error("unheard"));
      await delay(60_000);
      return {};
    },
    refuse: async () => {
      throw new MediaError("corrupt", "The picture is damaged.");
    },
    break: async () => {
      throw new TypeError("inner detail");
    },
    crash: async () => {
      process.kill(process.pid, "SIGSEGV");
      await delay(60_000);
      return {};
    },
    spin: async () => {
      for (;;) jobs += 1;
    },
    /** Uses so many seconds of processor time. */
    work: async (input) => {
      jobs += 1;
      const until = process.cpuUsage().user + 1e6 * Number(input);
      // Asking costs time too, but not the user's.
      while (process.cpuUsage().user < until) for (let turn = 0; turn < 1e7; turn += 1) Math.sqrt(turn);
      return { output: { input, jobs, pid: process.pid } };
    },
    grow: async () => {
      const kept: Uint8Array[] = [];
      for (;;) {
        kept.push(new Uint8Array(16 * 1_048_576).fill(1));
        await delay(1);
      }
    },
  });
}
